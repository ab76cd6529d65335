"""What a real daemon writes into its log and on stderr, whatever it is sent."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import secrets
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.daemon import PLAIN, Daemon, Launch, Process, launching, permission, prompt, until

MARK = "TOOLINPUTMARK"
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
STOLEN = secrets.token_urlsafe(32)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def written(daemon: Daemon) -> str:
    """Everything that was logged or printed."""
    files = sorted((daemon.home / "log").iterdir())
    return "".join(file.read_text() for file in files) + daemon.stdout() + daemon.stderr()


def raw(daemon: Daemon, content: bytes) -> None:
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=5) as connection:
        connection.sendall(content)
        connection.settimeout(2)
        with contextlib.suppress(OSError):
            connection.recv(1 << 16)


def misbehave(daemon: Daemon) -> None:
    """Wrong tokens, bad bodies, and secrets in what an agent says."""
    for path, token in (("/hook", STOLEN), ("/api/v1/stats", STOLEN), ("/api/v1/stats", daemon.hook_token)):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=5)
        connection.request("POST", f"{path}?token={daemon.token}", b"{}", {"Authorization": f"Bearer {token}"})
        connection.getresponse().read()
        connection.close()
    for body in (b"{" + MARK.encode(), b'{"a":"' + MARK.encode(), b"\xff" + MARK.encode(), b'{"a":1,"a":"%b"}' % b"x"):
        assert daemon.hook(body)[0] == 400
    raw(daemon, f"GET /{MARK} HTTP/9.9\r\nAuthorization: Bearer {daemon.token}\r\n\r\n".encode())
    raw(daemon, f"{MARK}\x1b[2J\r\nAuthorization: {daemon.token}\r\n\r\n".encode())
    where = f"GET /ws?token={daemon.token}&x={STOLEN} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n"
    raw(daemon, f"{where}{UPGRADE}\r\n".encode())
    for line in (f"QDHOOK/1 {MARK} - - - -\n", f"{MARK} {daemon.token}\n", '{"request_id":"../' + MARK + '"}\n'):
        with daemon.ndjson() as client:
            client.send_raw(line)
            client.socket.recv(1 << 16)
    secret = {"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_use_id": "t1"}
    assert daemon.hook({**secret, "tool_input": {"command": f"{MARK} {daemon.token} {STOLEN}"}})[0] == 204
    held = daemon.hold(permission(f"{MARK} {daemon.hook_token}"))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message=f"no {MARK}")[0] == 200
    assert held.answer()[0] == 200
    assert daemon.api("POST", "/requests/none/decision", {"decision": MARK, "digest": daemon.token})[0] == 422


@pytest.mark.law("A12")
def test_no_token_and_no_tool_input_is_logged(daemon: Daemon) -> None:
    misbehave(daemon)
    assert daemon.stop() == 0
    said = written(daemon)
    assert "an envelope was refused" in said
    assert '"event": "stopped"' in said
    for unwanted in (daemon.token, daemon.hook_token, STOLEN, MARK, "\x1b"):
        assert unwanted not in said


@pytest.mark.law("A12")
def test_even_at_debug_no_token_is_logged(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_LOG_LEVEL": "debug"}) as daemon:
        misbehave(daemon)
        assert daemon.stop() == 0
        said = written(daemon)
    for unwanted in (daemon.token, daemon.hook_token, STOLEN):
        assert unwanted not in said


BREAKING = """
import sys
from quarterdeck.cli.main import main
from quarterdeck.daemon import loop
from tests.support.faulty import put

def broken(state, told):
    if "break" in repr(told):
        raise ValueError(repr(told))
    return real(state, told)

real = put(loop, "reduce", broken)
sys.argv = ["quarterdeck", "daemon"]
main()
"""


@pytest.mark.law("A12")
@pytest.mark.parametrize(("level", "shown"), [("info", False), ("debug", True)])
def test_an_error_that_quotes_an_agent_is_logged_without_its_words(tmp_path: Path, level: str, shown: bool) -> None:
    launch = launching([sys.executable, "-c", BREAKING])
    with Daemon(tmp_path / "home", launch=launch, env={"QUARTERDECK_LOG_LEVEL": level}) as daemon:
        assert daemon.hook(prompt(f"break {MARK} {daemon.token}"))[0] == 503
        assert daemon.stop() == 0
        said = written(daemon)
    assert "an input could not be decided" in said
    assert "builtins.ValueError" in said
    assert (MARK in said, daemon.token in said) == (shown, False)


def test_the_log_is_json_lines_that_only_we_can_read(daemon: Daemon) -> None:
    path = daemon.home / "log" / "daemon.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [e["event"] for e in entries if e["logger"] == "daemon"] == ["ready"]
    assert {"timestamp", "level", "logger", "event"} <= entries[0].keys()
    assert any(e["logger"].startswith("uvicorn") for e in entries)


def test_a_higher_level_is_quiet_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_LOG_LEVEL": "error"}) as daemon:
        assert daemon.stop() == 0
        assert daemon.stderr() == ""
    with Daemon(tmp_path / "other", env={"QUARTERDECK_LOG_LEVEL": "error"}) as daemon:
        daemon.kill9()
        daemon.env["QUARTERDECK_LOG_LEVEL"] = "loud"
        daemon.begin()
        assert daemon.ended() == 2
        assert "log.level" in daemon.stderr()


def test_a_daemon_that_crashes_says_where(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        os.kill(daemon.pid, signal.SIGBUS)
        assert daemon.ended() == -signal.SIGBUS
        assert "Fatal Python error: Bus error" in daemon.stderr()
        assert "daemon/main.py" in daemon.stderr()


def test_a_terminal_shows_text_and_only_what_needs_a_person(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        with Daemon(tmp_path / "home", launch=with_stderr(slave)) as daemon:
            with daemon.ndjson() as client:
                client.send_raw(b'{"request_id":"\\u001b[2J"}\n')
                client.read(5)
            assert daemon.stop() == 0
        said = os.read(master, 65536).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert "warning socket: an envelope was refused  kind=bad_request_id" in said
    assert "\x1b" not in said
    assert "ready" not in said


def with_stderr(descriptor: int) -> Launch:
    def launch(env: Mapping[str, str], out: Path, err: Path) -> Process:
        with out.open("ab") as stdout:
            return subprocess.Popen(PLAIN, env=dict(env), stdin=subprocess.DEVNULL, stdout=stdout, stderr=descriptor)

    return launch


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "target"
    (home / "log").mkdir(parents=True)
    (home / "log" / "daemon.log").symlink_to(target)
    with Daemon(home) as daemon:
        assert daemon.hook({"hook_event_name": "Stop", "session_id": "s1"})[0] == 204
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.stderr()
    assert not target.exists()


def test_a_daemon_in_the_background_logs_to_its_file_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "QUARTERDECK_HOME": str(home)}
    environ["QUARTERDECK_PORT"] = "0"
    qd = [sys.executable, "-m", "quarterdeck"]
    subprocess.run([*qd, "up"], env=environ, check=True, capture_output=True, timeout=60)
    subprocess.run([*qd, "stop"], env=environ, check=True, capture_output=True, timeout=60)
    log = home / "log" / "daemon.log"
    until(lambda: '"stopped"' in log.read_text(), what="the last entry")
    assert '"event"' not in (home / "log" / "start.log").read_text()
