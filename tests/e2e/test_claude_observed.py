"""Sessions that a person started in a tmux of their own: interrupted by one Escape, prompted, and ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quarterdeck.sessions.tmux.user_panes import default_socket
from quarterdeck.system.process_table import alive
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected
from tests.support.daemon import until
from tests.support.model_server import Turn, text
from tests.support.tmux import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


class Observed:
    """A terminal of Claude Code, in a tmux that the daemon takes for the person's own."""

    def __init__(self, pair: Connected, terminal: Terminal) -> None:
        self.pair, self.terminal = pair, terminal
        self.session_id = str(terminal.session()["sessionId"])

    def command(self, route: str, **body: object) -> tuple[int, Json]:
        return self.pair.daemon.api("POST", f"/sessions/{self.session_id}/{route}", body)

    def works(self, state: str = "running") -> None:
        self.pair.session(self.session_id, state)
        until(self._is_in_pane, every=0.1, what="its pane")

    def _is_in_pane(self) -> bool:
        return bool(self.pair.daemon.api("GET", f"/sessions/{self.session_id}")[1]["where"])


@pytest.fixture(params=["2.1.325", "2.1.197"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    folder = tmp_path_factory.mktemp("o")
    with Connected(folder, require(request.param), env={"TMUX_TMPDIR": str(folder)}) as pair:
        yield pair


@contextmanager
def observed(pair: Connected) -> Iterator[Observed]:
    with pair.terminal() as terminal:
        socket = default_socket({"TMUX_TMPDIR": str(pair.claude.path.parent)})
        socket.parent.mkdir(mode=0o700, exist_ok=True)
        socket.unlink(missing_ok=True)
        socket.hardlink_to(terminal.socket)
        yield Observed(pair, terminal)


def test_one_escape_stops_a_turn_and_a_tool_and_a_prompt_is_sent_whole(pair: Connected) -> None:
    with observed(pair) as agent:
        agent.terminal.type_prompt(pair.script("think for long", Turn(text("thought"), before=60.0)))
        agent.works()
        status, answer = agent.command("interrupt")
        assert status == 202, answer
        assert agent.terminal.session()["status"] == "idle"
        pair.session(agent.session_id, "idle")
        prompt = pair.script("say: a (b) 'c'\n- d", Turn(text("said it")))

        def sent() -> bool:
            """Sent, once the interrupted prompt that 2.1.325 puts back into its composer is cleared."""
            agent.terminal.keys("C-u")
            return agent.command("messages", prompt=prompt)[0] == 202

        until(sent, every=0.2, what="the prompt sent")
        agent.terminal.wait_for("said it")
        pair.session(agent.session_id, "settled")


def test_a_dialog_is_never_answered_by_an_interrupt_or_a_prompt(pair: Connected) -> None:
    with observed(pair) as agent:
        agent.terminal.type_prompt(pair.script_bash("touch never"))
        request = pair.request_to_run("touch never")
        agent.terminal.wait_dialog()
        agent.works("waiting_permission")
        for route, body in (("interrupt", {}), ("messages", {"prompt": "1"})):
            status, answer = agent.command(route, **body)
            assert (status, answer["error"]["kind"]) == (409, "dialog_open"), answer
        agent.terminal.wait_dialog()
        assert not pair.path("never").exists()
        pair.decide(request, "deny")


@pytest.mark.law("S3")
def test_end_ends_the_agent_and_the_tool_that_it_runs(pair: Connected, tmp_path: Path) -> None:
    command = f"touch begun && tail -f {tmp_path / 'x'} {__file__}"
    with observed(pair) as agent:
        agent.terminal.type_prompt(pair.script_bash(command))
        pair.decide(pair.request_to_run(command), "allow")
        until(pair.path("begun").exists, every=0.02, what="the tool to begin")
        agent.works()
        until(lambda: tools(tmp_path), every=0.05, what="the tool's process")
        until(lambda: agent.command("end")[0] == 202, every=0.2, what="its process known")
        assert (alive(agent.terminal.pid), tools(tmp_path)) == (False, [])
        pair.session(agent.session_id, "ended")


def tools(folder: Path) -> list[int]:
    """The processes with this folder on their command line."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if str(folder) in command_line(pid) and alive(pid)]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("is_busy", [False, True])
def test_any_signal_ends_an_agent_so_none_is_an_interrupt(
    pair: Connected, number: signal.Signals, is_busy: bool
) -> None:
    with pair.terminal() as terminal:
        prompts = [pair.script("think on", Turn(text("thought"), before=60.0))] * is_busy
        for prompt in prompts:
            terminal.type_prompt(prompt)
        status = "busy" if is_busy else "idle"
        until(lambda: terminal.session().get("status") == status, every=0.05, what=status)
        os.kill(terminal.pid, number)
        terminal.wait_for_end()
