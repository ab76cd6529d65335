"""What Claude Code's hooks do not report (an interrupt, a kill, a closed terminal), and what its shell may not do."""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.agents import FakeAgent, allowing
from tests.support.claude import require
from tests.support.connected_claude import Connected
from tests.support.daemon import Json, permission, prompt, until
from tests.support.model_server import Turn, text
from tests.support.tmux import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]

LOOKS = 3


FROM_TRANSCRIPT = {"message.assistant", "message.user", "session.usage"}
"""Events that are read from the transcript and come at their own time."""


def start_long(pair: Connected, terminal: Terminal, name: str) -> str:
    """A tool call that runs as long as its agent, begun; gives the session."""
    command = f"touch {name} && tail --pid={terminal.pid} -f /dev/null"
    terminal.type_prompt(pair.script_bash(command))
    request = pair.request_to_run(command)
    pair.decide(request, "allow")
    until(pair.path(name).exists, every=0.02, what="the tool to begin")
    return str(request["session_id"])


@pytest.mark.law("S11")
def test_escape_while_a_tool_runs_makes_the_session_idle_and_its_run_aborted(either: Connected) -> None:
    with either.terminal() as terminal:
        session_id = start_long(either, terminal, "interrupted")
        assert either.session(session_id, "running")["pid"] in (terminal.pid, None)
        terminal.keys("Escape")
        terminal.wait_status("idle")
        shown = either.session(session_id, "idle")
        assert (shown["state_source"], shown["run_id"], shown["pid"]) == ("process", None, terminal.pid)
        kinds = [kind for kind in either.kinds(session_id) if kind not in FROM_TRANSCRIPT]
        assert kinds[-2:] == ["run.end", "session.state"]
        terminal.keys("C-u")
        terminal.type_prompt(either.script_bash("echo after the interrupt"))
        terminal.wait_for("finished")
        assert either.session(session_id, "settled")["state_source"] == "hooks"


@pytest.mark.law("S11")
def test_escape_while_the_model_thinks_makes_the_session_idle(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script("think for long", Turn(text("thought"), before=30.0)))
        terminal.wait_status("busy")
        session_id = terminal.session()["sessionId"]
        either.session(session_id, "running")
        terminal.keys("Escape")
        terminal.wait_status("idle")
        assert either.session(session_id, "idle")["state_source"] == "process"


def test_a_session_that_works_is_never_called_idle(newest: Connected) -> None:
    """Another session beside it becomes idle a few times, which the daemon must detect by polling."""
    command = "touch at-work && until [ -e looked-often ]; do sleep 0.02; done"
    with newest.terminal() as terminal, FakeAgent(newest.daemon, "beside") as beside:
        terminal.type_prompt(newest.script_bash(command))
        newest.decide(newest.request_to_run(command), "allow")
        for _ in range(LOOKS):
            newest.daemon.hook(prompt("work", "beside"))
            beside.says("idle")
            newest.session("beside", "idle")
        newest.path("looked-often").touch()
        terminal.wait_for("finished")
        session_id = terminal.session()["sessionId"]
        newest.session(session_id, "settled")
        states = [e["data"] for e in newest.daemon.events("session.state") if e["session_id"] == session_id]
        assert "idle" not in [data.get("status") for data in states]
        assert states[0]["pid"] == terminal.pid


def kill_agent(terminal: Terminal) -> None:
    os.kill(terminal.pid, signal.SIGKILL)


def hang_up(terminal: Terminal) -> None:
    os.kill(terminal.pid, signal.SIGHUP)


@pytest.mark.law("S11")
@pytest.mark.parametrize("end", [kill_agent, hang_up])
def test_a_killed_or_hung_up_agents_session_ends(either: Connected, end: Callable[[Terminal], None]) -> None:
    with either.terminal() as terminal:
        session_id = start_long(either, terminal, f"cut-off-by-{end.__name__}")
        until(lambda: either.sessions()[session_id]["pid"] == terminal.pid, every=0.02, what="its pid")
        end(terminal)
        shown = either.session(session_id, "ended")
        assert shown["run_id"] is None
        assert shown["state_source"] == {"kill_agent": "process", "hang_up": "hooks"}[end.__name__]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Connected]:
    """A daemon that the test may kill."""
    with Connected(tmp_path, require("2.1.325")) as pair:
        yield pair


@pytest.mark.law("S11")
def test_an_agent_killed_while_the_daemon_was_away_is_ended_after_its_start(own: Connected) -> None:
    with own.terminal() as terminal:
        session_id = start_long(own, terminal, "lost")
        until(lambda: own.sessions()[session_id]["pid"] == terminal.pid, every=0.02, what="its pid")
        own.daemon.kill9()
        kill_agent(terminal)
        own.daemon.restart()
        assert own.session(session_id, "ended")["state_source"] == "process"


@contextmanager
def victim(pair: Connected) -> Iterator[Json]:
    """A request of another session that waits for a person."""
    pair.daemon.pending()
    held = pair.daemon.hold(permission("rm -rf victim", "victim"))
    yield pair.request_to_run("rm -rf victim")
    held.close()


WAYS = {
    "plain": "{it}",
    "cleared": "env -i {it}",
    "own-session": "setsid -w env -i {it}",
    "typescript": "script -qec {quoted} /dev/null",
    "orphan": "setsid -f {it}",
    "orphan-in-session": "(env -i {it} &)",
    "curl": "curl -s -o /dev/null -w '%{{http_code}} agent_may_not_decide' -X POST -H 'Content-Type: application/json'"
    ' -H "Authorization: Bearer $(cat {token})" -d {body} {url}',
}


ORPHANS_TRIED = "until [ -s tried-orphan ] && [ -s tried-orphan-in-session ]; do sleep 0.02; done"


@pytest.mark.law("D14")
def test_claudes_own_shell_cannot_approve_anything(either: Connected) -> None:
    with victim(either) as request:
        either.path("try.sh").write_text("\n".join([*attempts(either, request), ORPHANS_TRIED]))
        with either.headless(either.script_bash("sh try.sh"), "--allowedTools", "Bash") as running:
            assert running.finish().text == "finished"
        tried = {name: either.path(f"tried-{name}").read_text().strip() for name in WAYS}
        assert tried == dict.fromkeys(WAYS, "403 agent_may_not_decide")
        assert either.path("tried-qd").read_text().endswith("exit 1\n")
        assert "an agent may not decide" in either.path("tried-qd").read_text()
        assert either.request(request)["status"] == "pending"
    refused = [e["data"] for e in either.daemon.events("decision.refused")]
    assert [data["request_id"] for data in refused] == [request["request_id"]] * (len(WAYS) + 1)
    assert {data["agent_session_id"] for data in refused} <= set(either.sessions())


def attempts(pair: Connected, request: Json) -> list[str]:
    """Lines of a shell, each of which tries to approve the request and writes what it got."""
    it = allowing(pair.daemon, request)
    words = {
        "it": it,
        "quoted": shlex.quote(it),
        "token": pair.daemon.home / "token",
        "body": shlex.quote(f'{{"decision":"allow","digest":"{request["digest"]}"}}'),
        "url": f"{pair.daemon.url}/api/v1/requests/{request['request_id']}/decision",
    }
    qd = f"QUARTERDECK_HOME={pair.daemon.home} PYTHONPATH={Path(__file__).parents[2] / 'src'} {sys.executable}"
    return [
        *(f"{command_line.format(**words)} > tried-{name} 2>&1" for name, command_line in WAYS.items()),
        f"{qd} -m quarterdeck allow {request['request_id']} > tried-qd 2>&1; echo exit $? >> tried-qd",
    ]
