"""The other ways to connect: the plugin, and command hooks only, where everything goes through forwarder and socket."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.base import Transport
from tests.support.claude import require
from tests.support.connected_claude import Connected

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

NOT_SO = "Nein, „so“ nicht\n– zweite Zeile"


@pytest.fixture(scope="module", params=["2.1.325", "2.1.197"])
def cli(request: pytest.FixtureRequest) -> Path:
    return require(request.param)


@pytest.fixture(scope="module")
def forwarded(cli: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    with Connected(tmp_path_factory.mktemp("forwarded"), cli, Transport.COMMAND) as pair:
        yield pair


@pytest.fixture
def plugged(cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connected]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # where the installer finds what the CLI knows of itself
    with Connected(tmp_path, cli, Transport.PLUGIN) as pair:
        yield pair


@pytest.fixture(params=["plugged", "forwarded"])
def pair(request: pytest.FixtureRequest, cli: Path) -> Connected:
    pair: Connected = request.getfixturevalue(request.param)
    return pair


@pytest.mark.law("D15")
def test_a_session_shows_before_its_first_prompt_and_is_decided(pair: Connected) -> None:
    with pair.terminal() as terminal:
        session_id = terminal.session()["sessionId"]
        assert pair.session(session_id, "idle")["cwd"] == str(pair.claude.project)
        terminal.type_prompt(pair.script_bash("touch allowed"))
        request = pair.request_to_run("touch allowed")
        pair.decide(request, "allow")
        pair.confirmed(request)
        pair.session(session_id, "settled")
        prompt = pair.script_bash("touch denied")
        terminal.type_prompt(prompt)
        request = pair.request_to_run("touch denied")
        pair.decide(request, "deny", message=NOT_SO)
        pair.confirmed(request)
        assert pair.session(session_id, "settled")["entrypoint"] == "cli"
    assert pair.path("allowed").exists()
    assert not pair.path("denied").exists()
    assert pair.model.tool_results(prompt) == [NOT_SO]
    assert pair.session(session_id, "ended")


@pytest.mark.law("D8")
def test_an_answer_at_the_terminal_closes_the_card_though_the_tool_still_runs(forwarded: Connected) -> None:
    command = "touch begun && until [ -e go-on ]; do sleep 0.02; done"
    with forwarded.terminal() as terminal:
        terminal.type_prompt(forwarded.script_bash(command))
        request = forwarded.request_to_run(command)
        terminal.choose("Yes")
        assert forwarded.closed(request)["decision"]["source"] == "elsewhere"
        forwarded.path("go-on").touch()
        terminal.wait_for("finished")
        terminal.wait_status("idle")
        terminal.type_prompt(forwarded.script_bash("touch never"))
        request = forwarded.request_to_run("touch never")
        terminal.choose("No")
        closed = forwarded.closed_soon(request)
        assert (closed["status"], closed["decision"]["source"]) == ("withdrawn", "elsewhere")
    assert not forwarded.path("never").exists()


@pytest.mark.law("D8")
def test_a_killed_agent_withdraws_its_request_at_once(forwarded: Connected) -> None:
    with forwarded.terminal() as terminal:
        terminal.type_prompt(forwarded.script_bash("touch killed"))
        request = forwarded.request_to_run("touch killed")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.wait_for_end()
        try:
            closed = forwarded.closed_soon(request)
        finally:
            forwarded.daemon.decide(request, "pass")
    assert (closed["status"], closed["decision"]["source"]) == ("withdrawn", "elsewhere")
