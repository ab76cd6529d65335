"""A person answers at the terminal first, or clears the session there: Quarterdeck follows."""

import time

import pytest

from tests.support.connected import Connected
from tests.support.daemon import until

pytestmark = [pytest.mark.e2e, pytest.mark.alone, pytest.mark.usefixtures("tmux")]


def test_yes_closes_the_card_within_a_second_though_the_tool_still_runs(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("touch begun && sleep 2 && touch done"))
        request = either.asked("touch begun && sleep 2 && touch done")
        terminal.choose("Yes")
        pressed = time.time()
        closed = either.closed(request)
        assert closed["decision"]["source"] == "elsewhere"
        assert not either.path("done").exists()
        assert closed["decision"]["at"] - pressed < 1.0
        session_id = request["session_id"]
        assert either.session(session_id, "running")["pending"] == 0
        terminal.wait_for("finished")
        either.session(session_id, "settled")
    assert either.path("done").exists()
    assert either.request(request)["decision"]["source"] == "elsewhere"


@pytest.mark.law("D8")
@pytest.mark.parametrize("way", ["No", "Escape"])
def test_no_and_escape_withdraw_the_card_within_a_second(either: Connected, way: str) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash(f"touch refused-{way}"))
        request = either.asked(f"touch refused-{way}")
        {"No": lambda: terminal.choose("No"), "Escape": terminal.escape}[way]()
        pressed = time.time()
        closed = either.closed(request)
        assert closed["decision"]["at"] - pressed < 1.0
        assert (closed["status"], closed["decision"]["source"]) == ("withdrawn", "elsewhere")
    assert not either.path(f"refused-{way}").exists()


def test_after_escape_the_session_is_idle(newest: Connected) -> None:
    with newest.terminal() as terminal:
        terminal.type_prompt(newest.script_bash("touch given-up"))
        request = newest.asked("touch given-up")
        terminal.escape()
        terminal.wait_status("idle")
        newest.session(request["session_id"], "idle", seconds=2)


def test_clear_closes_the_session_and_the_new_one_is_idle(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("echo before the clear"))
        terminal.wait_for("finished")
        old = terminal.session()["sessionId"]
        either.session(old, "settled")
        terminal.type_prompt("/clear")
        either.recorded("session.start", lambda data: data["source"] == "clear")

        def fresh() -> str | None:
            found: str = terminal.session()["sessionId"]
            return found if found != old else None

        new = until(fresh) or ""
        assert either.session(new, "idle")["ended_at"] is None
        assert either.sessions()[old]["ended_at"] is not None
        assert "session.end" in either.kinds(old)
    assert either.session(new, "ended")["ended_at"] is not None
