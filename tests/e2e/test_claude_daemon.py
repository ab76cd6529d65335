"""The daemon dies, stops, is absent or comes late: the session goes on as if it had never been there."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.claude import require
from tests.support.connected import Connected

pytestmark = [pytest.mark.e2e, pytest.mark.alone, pytest.mark.usefixtures("tmux")]

SLOWER_AT_MOST = 0.5


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Connected]:
    """A daemon that the test may kill."""
    with Connected(tmp_path, require("2.1.325")) as pair:
        yield pair


@pytest.fixture(params=["2.1.325", "2.1.197"])
def own_of_each(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connected]:
    with Connected(tmp_path, require(request.param)) as pair:
        yield pair


@pytest.mark.law("D11")
def test_killed_while_a_request_is_held_the_dialog_works_and_the_request_is_withdrawn(own_of_each: Connected) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("touch answered-alone"))
        request = pair.asked("touch answered-alone")
        pair.daemon.kill9()
        terminal.choose("Yes")
        terminal.wait_for("finished")
        assert pair.path("answered-alone").exists()
        pair.daemon.restart()
        shown = pair.request(request)
        assert (shown["status"], shown["decision"]["source"]) == ("withdrawn", "elsewhere")
        assert pair.session(request["session_id"], "idle")["state_source"] == "process"
        terminal.type_prompt(pair.script_bash("echo again"))
        pair.session(request["session_id"], "settled")


@pytest.mark.law("D11")
def test_restarted_while_the_dialog_stands_the_answer_there_is_heard(own: Connected) -> None:
    with own.terminal() as terminal:
        terminal.type_prompt(own.script_bash("touch answered-late"))
        request = own.asked("touch answered-late")
        own.daemon.kill9()
        own.daemon.restart()
        assert own.request(request)["status"] == "withdrawn"
        status, refusal = own.daemon.decide(request, "allow")
        assert (status, refusal["error"]["kind"]) == (409, "withdrawn")
        terminal.wait_dialog()
        assert not own.path("answered-late").exists()
        terminal.choose("Yes")
        terminal.wait_for("finished")
        own.session(request["session_id"], "settled")
    assert own.path("answered-late").exists()


@pytest.mark.law("D2")
def test_stopped_while_a_request_is_held_the_dialog_goes_on(own_of_each: Connected) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("touch after-stop"))
        request = pair.asked("touch after-stop")
        terminal.wait_dialog()
        assert pair.daemon.stop(seconds=4) == 0
        assert not pair.path("after-stop").exists()
        terminal.choose("Yes")
        terminal.wait_for("finished")
    assert pair.path("after-stop").exists()
    (decision,) = [e["data"] for e in pair.daemon.events("permission.decision")]
    assert (decision["request_id"], decision["status"]) == (request["request_id"], "withdrawn")


@pytest.mark.law("E8")
def test_without_a_daemon_a_session_is_as_quick_and_does_the_same(own_of_each: Connected) -> None:
    pair = own_of_each
    pair.daemon.kill9()
    prompt = pair.script_bash("echo one && echo two")
    connected = pair.claude.read_settings()

    def fastest(settings: dict[str, object]) -> float:
        pair.claude.write_settings(settings)
        return min(_seconds(lambda: pair.claude.run_headless(prompt).text) for _ in range(2))

    alone = fastest({})
    assert fastest(connected) - alone < SLOWER_AT_MOST
    assert pair.model.tool_results(prompt) == ["one\ntwo"] * 4


def _seconds(run: Callable[[], str]) -> float:
    began = time.monotonic()
    assert run() == "finished"
    return time.monotonic() - began


def test_started_in_the_middle_of_a_session_it_shows_what_comes_after(own_of_each: Connected) -> None:
    pair = own_of_each
    pair.daemon.stop()
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("echo unheard"))
        terminal.wait_for("finished")
        terminal.wait_status("idle")
        pair.daemon.restart()
        terminal.type_prompt(pair.script_bash("touch heard"))
        request = pair.asked("touch heard")
        assert request["session_id"] == terminal.session()["sessionId"]
        pair.decide(request, "allow")
        pair.confirmed(request)
        shown = pair.session(request["session_id"], "settled")
    assert (shown["cwd"], shown["title"]) == (str(pair.claude.project), "please run touch heard")
    assert pair.path("heard").exists()


def test_with_nobody_at_quarterdeck_a_background_helper_asks_at_the_terminal(own: Connected) -> None:
    with own.terminal() as terminal:
        terminal.type_prompt(own.script_helpers("unattended"))
        terminal.choose("Yes", timeout=5)
        terminal.wait_for("finished")
