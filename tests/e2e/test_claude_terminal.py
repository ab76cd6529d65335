"""A person answers at the terminal first, or clears the session there: Quarterdeck follows."""

import pytest

from tests.support.connected_claude import Connected
from tests.support.daemon import until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


def test_yes_closes_the_card_though_the_tool_still_runs(either: Connected) -> None:
    command = "until [ -e answered ]; do sleep 0.02; done; touch done"
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash(command))
        request = either.request_to_run(command)
        terminal.choose("Yes")
        assert either.closed(request)["decision"]["source"] == "elsewhere"
        session_id = request["session_id"]
        assert either.session(session_id, "running")["pending"] == 0
        assert not either.path("done").exists()
        either.path("answered").touch()
        terminal.wait_for("finished")
        either.session(session_id, "settled")
    assert either.path("done").exists()
    assert either.request(request)["decision"]["source"] == "elsewhere"


@pytest.mark.law("D8")
@pytest.mark.parametrize("key", ["No", "Escape"])
def test_no_and_escape_withdraw_the_card_at_once(either: Connected, key: str) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash(f"touch refused-{key}"))
        request = either.request_to_run(f"touch refused-{key}")
        {"No": lambda: terminal.choose("No"), "Escape": terminal.escape}[key]()
        closed = either.closed_soon(request)
        assert (closed["status"], closed["decision"]["source"]) == ("withdrawn", "elsewhere")
    assert not either.path(f"refused-{key}").exists()


def test_after_escape_the_session_is_idle(newest: Connected) -> None:
    with newest.terminal() as terminal:
        terminal.type_prompt(newest.script_bash("touch given-up"))
        request = newest.request_to_run("touch given-up")
        terminal.escape()
        terminal.wait_status("idle")
        newest.session(request["session_id"], "idle")


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
