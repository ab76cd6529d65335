"""What a hook answers, or how it fails, against what the real Claude Code does: only an explicit allow runs a tool."""

import itertools
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import hook_groups
from quarterdeck.agents.claude.hooks import SUPPORTED
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected, processes_in
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.impostor_socket import answering_socket

pytestmark = pytest.mark.e2e

ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    with Connected(tmp_path_factory.mktemp("matrix"), require("2.1.325")) as pair:
        yield pair


@pytest.fixture
def pair(running: Connected) -> Connected:
    """A pair whose daemon runs; an arm may kill it."""
    if not running.daemon.alive():
        running.daemon.restart()
    return running


Hook = Callable[[Connected], AbstractContextManager[Json]]
"""The hook in the settings for the event, and the server that answers it."""

Action = Callable[[Connected, str], None]
"""What happens while the command waits."""


@contextmanager
def http(pair: Connected, **changed: Any) -> Iterator[Json]:
    yield {**_installed(pair), **changed}


@contextmanager
def http_with_wrong_token(pair: Connected) -> Iterator[Json]:
    hook = _installed(pair)
    yield {**hook, "headers": {**hook["headers"], "Authorization": "Bearer " + "0" * 43}}


@contextmanager
def http_refused(pair: Connected) -> Iterator[Json]:
    hook = _installed(pair)
    pair.daemon.kill9()
    yield hook


@contextmanager
def http_answering(pair: Connected, status: int, body: bytes, missing: int = 0) -> Iterator[Json]:
    """Another server in the daemon's place; its answer may be cut off."""

    class StandIn(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body) + missing))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield {**_installed(pair), "url": f"http://127.0.0.1:{server.server_port}/hook"}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def forwarder(pair: Connected, *flags: str) -> Iterator[Json]:
    hook = hook_groups(pair.endpoint, Transport.COMMAND, SUPPORTED[-1])["PermissionRequest"][0]["hooks"][0]
    command, _, otherwise = hook["command"].partition(" || ")
    yield {**hook, "command": " ".join([command, *flags, "||", otherwise])}


def impatient_forwarder(pair: Connected) -> AbstractContextManager[Json]:
    """One that does not wait a minute for the next daemon."""
    return forwarder(pair, "--wait", "10")


@contextmanager
def forwarder_without_daemon(pair: Connected, *flags: str) -> Iterator[Json]:
    with forwarder(pair, *flags) as hook:
        pair.daemon.stop()
        yield hook


@contextmanager
def forwarder_to_a_plain_file(pair: Connected, *flags: str) -> Iterator[Json]:
    file = pair.path("plain")
    file.write_bytes(b"1 %d\n%s" % (len(ALLOW), ALLOW))
    with forwarder(pair, "--socket", str(file), *flags) as hook:
        yield hook


@contextmanager
def forwarder_answered(pair: Connected, answer: bytes | None, *flags: str) -> Iterator[Json]:
    """Another server on the socket, which sends this and closes; or with None, sends nothing."""
    path = pair.claude.path / "stand-in.sock"
    with answering_socket(path, answer), forwarder(pair, "--socket", str(path), *flags) as hook:
        yield hook


def _installed(pair: Connected) -> Json:
    """The hook as an older `qd install` wrote it; today HTTP hooks only observe."""
    hook: Json = hook_groups(pair.endpoint, Transport.HTTP, SUPPORTED[-1])["PostToolUse"][0]["hooks"][0]
    return {**hook, "timeout": 86420}


def nothing(pair: Connected, command: str) -> None:
    """The hook is left to itself."""


def decide(decision: str, **more: Any) -> Action:
    def act(pair: Connected, command: str) -> None:
        pair.decide(pair.request_to_run(command), decision, **more)

    return act


def decide_what_was_not_shown(pair: Connected, command: str) -> None:
    """A decision about another digest is refused; the hook's time-out ends the wait."""
    request = pair.request_to_run(command)
    status, _ = pair.daemon.decide({**request, "digest": "0" * 64}, "allow")
    assert status == 409


def kill_the_daemon(pair: Connected, command: str) -> None:
    pair.request_to_run(command)
    pair.daemon.kill9()


def hang_and_kill_the_daemon(pair: Connected, command: str) -> None:
    pair.request_to_run(command)
    os.kill(pair.daemon.pid, signal.SIGSTOP)
    pair.daemon.kill9()


def stop_the_daemon(pair: Connected, command: str) -> None:
    pair.request_to_run(command)
    assert pair.daemon.stop() == 0


def kill_the_forwarder(pair: Connected, command: str) -> None:
    request = pair.request_to_run(command)
    began = f"{sys.executable} -I -S"
    (pid,) = [pid for pid, words in processes_in(pair.claude.path.parent).items() if words.startswith(began)]
    os.kill(pid, signal.SIGKILL)
    assert pair.closed(request)["status"] == "withdrawn"


ARMS: dict[str, tuple[Hook, Action]] = {
    "http: denied": (http, decide("deny", message="no")),
    "http: denied with an interrupt": (http, decide("deny", message="no", interrupt=True)),
    "http: passed": (http, decide("pass")),
    "http: allowed for another digest": (partial(http, timeout=5), decide_what_was_not_shown),
    "http: nobody answers until the hook's time-out": (partial(http, timeout=1), nothing),
    "http: the daemon is killed while it holds": (http, kill_the_daemon),
    "http: the daemon hangs and is killed": (http, hang_and_kill_the_daemon),
    "http: the daemon is stopped while it holds": (http, stop_the_daemon),
    "http: wrong token": (http_with_wrong_token, nothing),
    "http: refused": (http_refused, nothing),
    "http: 500 with an allow": (partial(http_answering, status=500, body=ALLOW), nothing),
    "http: an allow cut short": (partial(http_answering, status=200, body=ALLOW[:-3], missing=3), nothing),
    "http: an allow of another event": (
        partial(http_answering, status=200, body=ALLOW.replace(b"PermissionRequest", b"PreToolUse")),
        nothing,
    ),
    "http: almost an allow": (
        partial(http_answering, status=200, body=ALLOW.replace(b'"allow"', b'"allowed"')),
        nothing,
    ),
    "forwarder: denied": (forwarder, decide("deny", message="no")),
    "forwarder: passed": (forwarder, decide("pass")),
    "forwarder: the daemon is killed while it holds": (impatient_forwarder, kill_the_daemon),
    "forwarder: the daemon is stopped while it holds": (impatient_forwarder, stop_the_daemon),
    "forwarder: it is killed itself": (forwarder, kill_the_forwarder),
    "forwarder: no socket": (forwarder_without_daemon, nothing),
    "forwarder: a file in the socket's place": (forwarder_to_a_plain_file, nothing),
    "forwarder: garbage": (lambda pair: forwarder_answered(pair, b"HTTP/1.1 200 OK\r\n\r\n" + ALLOW), nothing),
    "forwarder: an allow cut short": (
        lambda pair: forwarder_answered(pair, b"1 %d\n%s" % (len(ALLOW), ALLOW[:-3])),
        nothing,
    ),
    "forwarder: an allow and more": (
        lambda pair: forwarder_answered(pair, b"1 %d\n%s\n" % (len(ALLOW), ALLOW)),
        nothing,
    ),
    "forwarder: no answer in time": (lambda pair: forwarder_answered(pair, None, "--wait", "1"), nothing),
}


_numbers = itertools.count(1)


def ran(pair: Connected, hook: Hook, action: Action) -> bool:
    """True if the command ran in a headless session with this one hook."""
    marker = pair.path(f"marker-{next(_numbers)}")
    command = f"touch {marker.name}"
    with hook(pair) as written:
        pair.claude.write_settings({"hooks": {"PermissionRequest": [{"hooks": [written]}]}})
        with pair.claude.start_headless(pair.script_bash(command)) as process:
            try:
                action(pair, command)
                process.communicate(timeout=PATIENCE_SECONDS)
            finally:
                process.kill()
    return marker.exists()


ALLOWS: dict[str, tuple[Hook, Action]] = {
    "http": (http, decide("allow")),
    "forwarder": (forwarder, decide("allow")),
    "http: the stand-in": (partial(http_answering, status=200, body=ALLOW), nothing),
    "forwarder: the stand-in": (lambda pair: forwarder_answered(pair, b"1 %d\n%s" % (len(ALLOW), ALLOW)), nothing),
}


@pytest.mark.law("D1")
@pytest.mark.parametrize("arm", ALLOWS)
def test_an_explicit_allow_runs_the_tool(pair: Connected, arm: str) -> None:
    pair.daemon.pending()
    assert ran(pair, *ALLOWS[arm])


@pytest.mark.law("D1")
@pytest.mark.law("D2")
@pytest.mark.parametrize("arm", ARMS)
def test_nothing_else_runs_the_tool(pair: Connected, arm: str) -> None:
    pair.daemon.pending()
    assert not ran(pair, *ARMS[arm])


@pytest.mark.law("D2")
def test_with_nobody_in_attendance_a_request_passes_at_once(tmp_path: Path) -> None:
    with Connected(tmp_path, require("2.1.325")) as pair:
        assert not ran(pair, http, nothing)
        (decision,) = [event["data"] for event in pair.daemon.events("permission.decision")]
    assert (decision["decision_type"], decision["by"]) == ("no_opinion", "decide.hold")


@pytest.mark.law("D2")
@pytest.mark.parametrize("hook", [http, forwarder])
def test_a_request_that_expires_runs_nothing(tmp_path: Path, hook: Hook) -> None:
    with Connected(tmp_path, require("2.1.325"), env={"QUARTERDECK_DECIDE_WAIT_SECONDS": "1"}) as pair:
        pair.daemon.pending()
        assert not ran(pair, hook, nothing)
        (decision,) = [event["data"] for event in pair.daemon.events("permission.decision")]
    assert (decision["decision_type"], decision["status"]) == ("no_opinion", "expired")


@pytest.mark.law("D8")
@pytest.mark.parametrize("hook", [http, forwarder])
def test_a_killed_agent_withdraws_its_request_at_once(pair: Connected, hook: Hook) -> None:
    pair.daemon.pending()
    command = f"touch marker-{next(_numbers)}"
    with hook(pair) as written:
        pair.claude.write_settings({"hooks": {"PermissionRequest": [{"hooks": [written]}]}})
        with pair.claude.start_headless(pair.script_bash(command)) as process:
            request = pair.request_to_run(command)
            process.kill()
        try:
            closed = pair.closed_soon(request)
        finally:
            pair.daemon.decide(request, "pass")
    assert (closed["status"], closed["decision"]["source"]) == ("withdrawn", "elsewhere")


@pytest.mark.law("D2")
@pytest.mark.parametrize("hook", [http, forwarder])
def test_a_daemon_that_cannot_record_runs_nothing(damaged: Connected, hook: Hook) -> None:
    damaged.daemon.pending()
    assert not ran(damaged, hook, nothing)


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Connected]:
    """A daemon whose log is damaged, and which therefore records nothing."""
    with Connected(tmp_path, require("2.1.325")) as pair:
        stopped = {"hook_event_name": "Stop", "session_id": "s1", "cwd": "/w"}
        assert pair.daemon.hook(stopped)[0] == 204
        pair.daemon.stop()
        with closing(sqlite3.connect(pair.daemon.home / "events.db")) as db, db:
            db.execute("UPDATE events SET body = replace(body, 's1', 's2')")
        pair.daemon.restart()
        assert pair.daemon.hook(stopped)[0] == 503
        yield pair
