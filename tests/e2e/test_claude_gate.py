"""The enforce gate as `qd install --enforce` writes it: however it fails, the real Claude Code runs no tool."""

import itertools
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import gate_groups, hook_groups
from quarterdeck.agents.claude.hooks import SUPPORTED
from quarterdeck.daemon.setup.home_files import Home
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected, processes_in
from tests.support.daemon import PATIENCE_SECONDS, until
from tests.support.failpoints import unwritable
from tests.support.impostor_socket import answering_socket

pytestmark = pytest.mark.e2e

WOULD_RUN = ("--allowedTools", "Bash")
ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'

DEFER = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}'


def gate_of(pair: Connected, version: str) -> Json:
    gate: Json = gate_groups(pair.endpoint, version)["PreToolUse"][0]["hooks"][0]
    return gate


_numbers = itertools.count(1)


class Gated:
    """One version whose only hook is the gate; `gate` is its command in the settings."""

    def __init__(self, pair: Connected, version: str) -> None:
        self.pair = pair
        self.socket = pair.claude.path / "gate.sock"
        self.gate = gate_of(pair, version)
        self.groups: list[Json] = []
        self.socket.unlink(missing_ok=True)

    def change(self, old: str, new: str) -> None:
        assert old in self.gate["command"]
        self.gate["command"] = self.gate["command"].replace(old, new)

    def change_socket(self) -> None:
        self.change(str(self.pair.daemon.socket_path), str(self.socket))

    def runs(
        self,
        meanwhile: Callable[["Gated"], None] = lambda gated: None,
        *,
        name: str = "",
        flags: tuple[str, ...] = WOULD_RUN,
    ) -> bool:
        """True if a command runs that Claude Code itself, with these flags, would run without asking."""
        marker = self.pair.path(name or f"marker-{next(_numbers)}")
        self.pair.claude.write_settings({"hooks": {"PreToolUse": self.groups or [{"hooks": [self.gate]}]}})
        prompt = self.pair.script_bash(f"touch {marker.name}")
        with self.pair.claude.start_headless(prompt, *flags) as process:
            try:
                meanwhile(self)
                process.communicate(timeout=PATIENCE_SECONDS)
            finally:
                process.kill()
        assert len(self.pair.model.tool_results(prompt)) == 1
        return marker.exists()

    def forwarder(self) -> int:
        """The process of the forwarder, once it is there."""

        def found() -> list[int]:
            processes = processes_in(self.pair.claude.path.parent)
            return [pid for pid, words in processes.items() if words.startswith(f"{sys.executable} -I -S")]

        return (until(found, every=0.02, what="a forwarder") or [0])[0]


Running = tuple[Connected, str]


@pytest.fixture(scope="module", params=SUPPORTED)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Connected(tmp_path_factory.mktemp("gate"), require(request.param)) as pair:
        yield pair, request.param


@pytest.fixture
def gated(running: Running) -> Gated:
    """A gate whose daemon runs; an arm may end it."""
    pair, version = running
    if not pair.daemon.alive():
        pair.daemon.restart()
    return Gated(pair, version)


@contextmanager
def answering(gated: Gated, answer: bytes | None) -> Iterator[None]:
    """Another server on the socket, which sends this and closes; or with None, sends nothing."""
    gated.change_socket()
    with answering_socket(gated.socket, answer):
        yield


def answered(answer: bytes, gated: Gated) -> bool:
    with answering(gated, answer):
        return gated.runs()


def framed(answer: bytes) -> bytes:
    return b"1 %d\n%s" % (len(answer), answer)


def no_answer_in_time(gated: Gated) -> bool:
    gated.change("--wait 86410", "--wait 1")
    with answering(gated, None):
        return gated.runs()


def daemon_stopped(gated: Gated) -> bool:
    gated.pair.daemon.stop()
    return gated.runs()


def daemon_killed_while_it_waits(gated: Gated) -> bool:
    os.kill(gated.pair.daemon.pid, signal.SIGSTOP)

    def kill(gated: Gated) -> None:
        gated.forwarder()
        gated.pair.daemon.kill9()

    return gated.runs(kill)


def forwarder_killed_while_it_waits(gated: Gated) -> bool:
    with answering(gated, None):
        return gated.runs(lambda gated: os.kill(gated.forwarder(), signal.SIGKILL))


def home_deleted(gated: Gated) -> bool:
    """The home holds the forwarder and the socket: both are gone."""
    home = gated.pair.claude.path / "deleted"
    home.mkdir()
    forwarder = Path(gated.pair.endpoint.hook_file)
    shutil.copy(forwarder, home / "hook.py")
    gated.change(str(forwarder), str(home / "hook.py"))
    gated.change(str(gated.pair.daemon.socket_path), str(home / "hook.sock"))
    shutil.rmtree(home)
    return gated.runs()


def forwarder_that_fails(gated: Gated) -> bool:
    broken = gated.pair.claude.path / "hook.py"
    broken.write_text("raise SystemExit(1)\n")
    gated.change(gated.pair.endpoint.hook_file, str(broken))
    return gated.runs()


def no_interpreter(gated: Gated) -> bool:
    gated.change(sys.executable, "/nowhere/python")
    return gated.runs()


def a_file_in_the_sockets_place(gated: Gated) -> bool:
    gated.change_socket()
    gated.socket.write_bytes(b"0 0\n")
    return gated.runs()


def log_that_cannot_be_written(gated: Gated) -> bool:
    with unwritable(gated.pair.daemon):
        return gated.runs()


ARMS: dict[str, Callable[[Gated], bool]] = {
    "the daemon is stopped": daemon_stopped,
    "the daemon is killed while the gate waits": daemon_killed_while_it_waits,
    "the forwarder is killed while it waits": forwarder_killed_while_it_waits,
    "the home is deleted": home_deleted,
    "the forwarder fails": forwarder_that_fails,
    "no interpreter": no_interpreter,
    "a file in the socket's place": a_file_in_the_sockets_place,
    "a foreign server on the socket": partial(answered, b"HTTP/1.1 200 OK\r\n\r\n{}"),
    "a pass cut short": partial(answered, b"0"),
    "an answer that is not JSON": partial(answered, framed(b"allow")),
    "an answer to another event": partial(answered, framed(ALLOW)),
    "an answer that decides nothing": partial(answered, framed(DEFER)),
    "a decision with more behind it": partial(answered, framed(DEFER.replace(b"defer", b"allow")) + b"0 0\n"),
    "no answer in time": no_answer_in_time,
    "the log cannot be written": log_that_cannot_be_written,
}


@pytest.mark.law("D2")
@pytest.mark.parametrize("arm", ARMS)
def test_a_gate_that_fails_blocks_what_claude_code_itself_would_run(gated: Gated, arm: str) -> None:
    assert not ARMS[arm](gated)


@pytest.mark.law("D2")
def test_without_a_gate_a_daemon_that_hangs_stops_no_agent(gated: Gated, running: Running) -> None:
    gated.groups = hook_groups(gated.pair.endpoint, Transport.HTTP, running[1])["PreToolUse"]
    os.kill(gated.pair.daemon.pid, signal.SIGSTOP)
    try:
        assert gated.runs()
    finally:
        os.kill(gated.pair.daemon.pid, signal.SIGCONT)


@pytest.mark.law("D2")
def test_without_a_gate_a_log_that_cannot_be_written_stops_no_agent(gated: Gated, running: Running) -> None:
    gated.groups = hook_groups(gated.pair.endpoint, Transport.HTTP, running[1])["PreToolUse"]
    assert log_that_cannot_be_written(gated)


def test_a_gate_without_a_rule_changes_nothing(gated: Gated) -> None:
    assert gated.runs()


def rule(pair: Connected, effect: str, pattern: str, *more: str) -> None:
    added = pair.qd("rules", "add", effect, pattern, *more)
    assert added.returncode == 0, added.stderr


@pytest.mark.law("D15")
def test_a_deny_rule_stops_what_claude_code_itself_would_run(gated: Gated) -> None:
    rule(gated.pair, "deny", "Bash(touch denied:*)", "--note", "not here")
    assert not gated.runs(name="denied")
    message = "Denied by the rule Bash(touch denied:*) in Quarterdeck: not here."
    assert gated.pair.model.tool_results("please run touch denied")[0].endswith(message)


@pytest.mark.law("D1")
def test_an_allow_rule_runs_what_claude_code_itself_would_ask_about(gated: Gated) -> None:
    rule(gated.pair, "allow", "Bash(touch allowed)")
    assert gated.runs(name="allowed", flags=())


@pytest.mark.law("D2")
def test_an_ask_rule_waits_at_the_desk_and_a_killed_daemon_blocks(gated: Gated) -> None:
    for name in ("asked-a", "asked-b", "asked-c"):
        rule(gated.pair, "ask", f"Bash(touch {name})")
    assert gated.runs(
        lambda gated: gated.pair.decide(gated.pair.request_to_run("touch asked-a"), "allow"), name="asked-a"
    )
    assert not gated.runs(
        lambda gated: gated.pair.decide(gated.pair.request_to_run("touch asked-b"), "pass"), name="asked-b"
    )

    def kill(gated: Gated) -> None:
        gated.pair.request_to_run("touch asked-c")
        gated.pair.daemon.kill9()

    gated.change("--wait 86410", "--wait 20")  # or it would wait a minute for the next daemon
    assert not gated.runs(kill, name="asked-c")


@pytest.mark.law("D2")
def test_a_gate_whose_daemon_cannot_record_blocks(tmp_path: Path) -> None:
    with Connected(tmp_path, require("2.1.325")) as pair:
        stopped = {"hook_event_name": "Stop", "session_id": "s1", "cwd": "/w"}
        assert pair.daemon.hook(stopped)[0] == 204
        pair.daemon.stop()
        with closing(sqlite3.connect(pair.daemon.home / "events.db")) as db, db:
            db.execute("UPDATE events SET body = replace(body, 's1', 's2')")
        pair.daemon.restart()
        assert not Gated(pair, "2.1.325").runs()


class Installed:
    """A gate as `qd install --enforce` makes it with the plugin, on a Python and a home that can be taken away."""

    def __init__(self, pair: Connected) -> None:
        self.pair = pair
        self.python = pair.claude.path / "python"
        self.home = pair.daemon.home
        self.python.symlink_to(Path(sys.executable).resolve())
        home = Home(self.home)
        home.keep_forwarder()
        endpoint = replace(pair.endpoint, python=str(self.python), hook_file=str(home.hook))
        pair.install(enforce=True, endpoint=endpoint)

    def result_of_a_call(self) -> str:
        """The result of a command that Claude Code itself would run, which must not run."""
        marker = self.pair.path(f"taken-{next(_numbers)}")
        prompt = self.pair.script_bash(f"touch {marker.name}")
        self.pair.claude.run_headless(prompt, *WOULD_RUN)
        assert not marker.exists()
        (result,) = self.pair.model.tool_results(prompt)
        return result


@contextmanager
def away(path: Path) -> Iterator[None]:
    """A file or folder under another name."""
    other = path.with_name(f"{path.name}-away")
    path.rename(other)
    try:
        yield
    finally:
        if path.is_dir():
            shutil.rmtree(path)  # Claude Code makes some folders again
        other.rename(path)


PARTS: dict[str, Callable[[Installed], Path]] = {
    "home": lambda installed: installed.home,
    "plugin folder": lambda installed: installed.home / "claude-plugin",
    "plugin copy": lambda installed: installed.pair.claude.config / "plugins" / "cache" / "quarterdeck",
    "registry of plugins": lambda installed: installed.pair.claude.config / "plugins",
    "hook": lambda installed: installed.home / "hook.py",
    "forwarder": lambda installed: installed.home / "forwarder.py",
    "Python": lambda installed: installed.python,
    "socket": lambda installed: installed.home / "run" / "hook.sock",
}
HARMLESS = {"plugin folder", "plugin copy", "registry of plugins"}
"""Without the plugin nothing is reported, but the gate is asked as ever."""


@pytest.fixture(scope="module")
def installed(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with Connected(tmp_path_factory.mktemp("installed"), require(version), Transport.PLUGIN) as pair:
        rule(pair, "deny", "Bash(touch:*)", "--note", "never")
        yield Installed(pair)


@pytest.fixture(scope="module", params=SUPPORTED)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.law("D19")
@pytest.mark.parametrize("part", PARTS)
def test_the_gate_stays_closed_whatever_is_gone(installed: Installed, part: str) -> None:
    with away(PARTS[part](installed)):
        result = installed.result_of_a_call()
    assert ("never" if part in HARMLESS else "quarterdeck") in result


@pytest.mark.law("D19")
@pytest.mark.law("E15")
def test_the_gate_stays_closed_when_the_daemon_is_gone_or_hangs(installed: Installed) -> None:
    assert "never" in installed.result_of_a_call()
    with installed.pair.daemon.paused():
        assert "quarterdeck daemon" in installed.result_of_a_call()
    installed.pair.daemon.kill9()
    try:
        assert "quarterdeck daemon" in installed.result_of_a_call()
    finally:
        installed.pair.daemon.restart()


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_gate_is_installed_beside_the_observing_hooks_and_removed_again(tmp_path: Path, version: str) -> None:
    with Connected(tmp_path, require(version), Transport.PLUGIN) as pair:
        endpoint = pair.endpoint
        pair.install(enforce=True)
        assert "PreToolUse" in pair.claude.read_settings()["hooks"]
        assert pair.claude.run_headless(pair.script_bash("touch first"), *WOULD_RUN).text == "finished"
        assert pair.path("first").exists()
        assert len(pair.daemon.events("tool.pre")) == 1
        assert len(pair.daemon.events("tool.post")) == 1
        pair.daemon.stop()
        prompt = pair.script_bash("touch blocked")
        pair.claude.run_headless(prompt, *WOULD_RUN)
        assert not pair.path("blocked").exists()
        assert "quarterdeck daemon" in pair.model.tool_results(prompt)[0]
        pair.install(endpoint=endpoint)
        assert "hooks" not in pair.claude.read_settings()
        pair.claude.run_headless(pair.script_bash("touch unharmed"), *WOULD_RUN)
        assert pair.path("unharmed").exists()
