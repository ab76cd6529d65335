"""The daemon dies, stops, is absent or starts late: the session continues as if it had never been there."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.hook import ACK_SECONDS
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected
from tests.support.daemon import until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

TRIES = 5


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
@pytest.mark.law("D8")
def test_killed_while_a_request_is_held_the_dialog_works_and_the_request_is_withdrawn(own_of_each: Connected) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("touch answered-alone"))
        request = pair.request_to_run("touch answered-alone")
        pair.daemon.kill9()
        terminal.choose("Yes")
        terminal.wait_for("finished")
        assert pair.path("answered-alone").exists()
        pair.daemon.restart()
        shown = pair.closed(request)
        assert (shown["status"], shown["decision"]["source"]) == ("withdrawn", "elsewhere")
        assert pair.session(request["session_id"], "idle")["state_source"] == "process"
        terminal.type_prompt(pair.script_bash("echo again"))
        pair.session(request["session_id"], "settled")


@pytest.mark.law("D11")
@pytest.mark.law("D13")
@pytest.mark.parametrize("ends", ["killed", "stopped"])
def test_a_request_survives_a_restart_and_is_decided(own_of_each: Connected, ends: str) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("touch decided-late"))
        request = pair.request_to_run("touch decided-late")
        terminal.wait_dialog()
        _end(pair, ends)
        pair.daemon.restart()
        _wait_until_back(pair, request)
        assert not pair.path("decided-late").exists()
        pair.decide(request, "allow")
        pair.confirmed(request)
        terminal.wait_for("finished")
        prompt = pair.script_bash("touch denied-late")
        terminal.type_prompt(prompt)
        request = pair.request_to_run("touch denied-late")
        _end(pair, ends)
        pair.daemon.restart()
        _wait_until_back(pair, request)
        pair.decide(request, "deny", message="not any more")
        pair.confirmed(request)
        pair.session(request["session_id"], "settled")
    assert pair.path("decided-late").exists()
    assert not pair.path("denied-late").exists()
    assert pair.model.tool_results(prompt) == ["not any more"]


@pytest.mark.law("D8")
@pytest.mark.law("D11")
@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_an_answer_at_the_dialog_after_a_restart_withdraws_the_request(own_of_each: Connected, answer: str) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash(f"touch answered-{answer}"))
        request = pair.request_to_run(f"touch answered-{answer}")
        pair.daemon.kill9()
        pair.daemon.restart()
        _wait_until_back(pair, request)
        terminal.choose(answer)
        assert pair.closed_soon(request)["decision"]["source"] == "elsewhere"
    assert pair.path(f"answered-{answer}").exists() is (answer == "Yes")


def _end(pair: Connected, ends: str) -> None:
    if ends == "killed":
        pair.daemon.kill9()
    else:
        pair.daemon.terminate()
        assert pair.daemon.ended() == 0


def _wait_until_back(pair: Connected, request: Json) -> None:
    """Wait until the agent is back, and check that its request is the same."""

    def shown() -> Json | None:
        found = pair.request(request)
        return found if found["holder"] == "connected" else None

    back = until(shown, every=0.02, what=f"the agent of {request['tool_input']}") or {}
    assert (back["status"], back["digest"]) == ("pending", request["digest"])


@pytest.mark.law("D2")
def test_stopped_while_a_request_is_held_the_dialog_goes_on(own_of_each: Connected) -> None:
    pair = own_of_each
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("touch after-stop"))
        request = pair.request_to_run("touch after-stop")
        terminal.wait_dialog()
        assert pair.qd("stop").returncode == 0
        assert not pair.path("after-stop").exists()
        terminal.choose("Yes")
        terminal.wait_for("finished")
    assert pair.path("after-stop").exists()
    (decision,) = [e["data"] for e in pair.daemon.events("permission.decision")]
    assert (decision["request_id"], decision["status"]) == (request["request_id"], "withdrawn")


@pytest.mark.law("E8")
def test_without_a_daemon_no_hook_waits_and_a_session_does_the_same(own_of_each: Connected) -> None:
    """A hook that waits does so in every run, so comparing one run with one without hooks is enough."""
    pair = own_of_each
    pair.daemon.kill9()
    prompt = pair.script_bash("echo one && echo two")
    connected = pair.claude.read_settings()

    def seconds(settings: dict[str, object]) -> float:
        pair.claude.write_settings(settings)
        began = time.monotonic()
        assert pair.claude.run_headless(prompt).text == "finished"
        return time.monotonic() - began

    assert any(seconds(connected) - seconds({}) < ACK_SECONDS for _ in range(TRIES))
    assert set(pair.model.tool_results(prompt)) == {"one\ntwo"}


def test_a_daemon_started_in_the_middle_of_a_session_shows_the_rest(own_of_each: Connected) -> None:
    pair = own_of_each
    pair.daemon.stop()
    with pair.terminal() as terminal:
        terminal.type_prompt(pair.script_bash("echo unheard"))
        terminal.wait_for("finished")
        terminal.wait_status("idle")
        pair.daemon.restart()
        terminal.type_prompt(pair.script_bash("touch heard"))
        request = pair.request_to_run("touch heard")
        assert request["session_id"] == terminal.session()["sessionId"]
        pair.decide(request, "allow")
        pair.confirmed(request)
        shown = pair.session(request["session_id"], "settled")
    assert (shown["cwd"], shown["title"]) == (str(pair.claude.project), "please run touch heard")
    assert pair.path("heard").exists()


def test_with_nobody_at_quarterdeck_a_background_helper_asks_at_the_terminal(own: Connected) -> None:
    with own.terminal() as terminal:
        terminal.type_prompt(own.script_helpers("unattended"))
        terminal.choose("Yes")
        terminal.wait_for("finished")
