"""The log and stderr of a real daemon, whatever it is sent."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import re
import secrets
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.daemon import PATIENCE_SECONDS, PLAIN, Daemon, Launch, Process, launching, permission, prompt, until

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
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(content)
        connection.settimeout(2)
        with contextlib.suppress(OSError):
            connection.recv(1 << 16)


def misbehave(daemon: Daemon) -> None:
    """Send wrong tokens, bad bodies, and hook calls with secrets."""
    for path, token in (("/hook", STOLEN), ("/api/v1/stats", STOLEN), ("/api/v1/stats", daemon.hook_token)):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_SECONDS)
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
    output = written(daemon)
    assert "an envelope was refused" in output
    assert '"event": "stopped"' in output
    for unwanted in (daemon.token, daemon.hook_token, STOLEN, MARK, "\x1b"):
        assert unwanted not in output


@pytest.mark.law("A12")
def test_even_at_debug_no_token_is_logged(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_LOG_LEVEL": "debug"}) as daemon:
        misbehave(daemon)
        assert daemon.stop() == 0
        output = written(daemon)
    for unwanted in (daemon.token, daemon.hook_token, STOLEN):
        assert unwanted not in output


BREAKING = """
import sys
from quarterdeck.cli.main import main
from quarterdeck.daemon.loop import input_batch
from tests.support.failpoints import put

def broken(state, input):
    if "break" in repr(input):
        raise ValueError(repr(input))
    return real(state, input)

real = put(input_batch, "reduce", broken)
sys.argv = ["quarterdeck", "daemon"]
main()
"""


@pytest.mark.law("A12")
@pytest.mark.parametrize(("level", "shown"), [("info", False), ("debug", True)])
def test_an_error_that_quotes_an_agent_is_logged_without_the_quote(tmp_path: Path, level: str, shown: bool) -> None:
    launch = launching([sys.executable, "-c", BREAKING])
    with Daemon(tmp_path / "home", launch=launch, env={"QUARTERDECK_LOG_LEVEL": level}) as daemon:
        assert daemon.hook(prompt(f"break {MARK} {daemon.token}"))[0] == 503
        assert daemon.stop() == 0
        output = written(daemon)
    assert "an input could not be decided" in output
    assert "builtins.ValueError" in output
    assert (MARK in output, daemon.token in output) == (shown, False)


def test_the_log_is_json_lines_that_only_the_owner_can_read(daemon: Daemon) -> None:
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


def test_a_crash_is_logged_with_its_place(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        os.kill(daemon.pid, signal.SIGBUS)
        assert daemon.ended() == -signal.SIGBUS
        assert "Fatal Python error: Bus error" in daemon.stderr()
        assert "daemon/app.py" in daemon.stderr()


def test_a_terminal_shows_readable_text_and_only_what_needs_a_person(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        with Daemon(tmp_path / "home", launch=with_stderr(slave)) as daemon:
            with daemon.ndjson() as client:
                client.send_raw(b'{"request_id":"\\u001b[2J"}\n')
                client.read(5)
            assert daemon.stop() == 0
        output = os.read(master, 65536).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert "warning socket: an envelope was refused  kind=bad_request_id" in output
    assert "\x1b" not in output
    assert "ready" not in output


def test_a_daemon_whose_terminal_closes_stops_in_order(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        assert (daemon.home / "run" / "unclean").exists()
        os.kill(daemon.pid, signal.SIGHUP)
        assert daemon.ended() == 0
        assert not (daemon.home / "run" / "unclean").exists()


def with_stderr(descriptor: int, stdout: int | None = None) -> Launch:
    def launch(env: Mapping[str, str], out: Path, err: Path) -> Process:
        with out.open("ab") as file:
            printed = file if stdout is None else stdout
            return subprocess.Popen(PLAIN, env=dict(env), stdin=subprocess.DEVNULL, stdout=printed, stderr=descriptor)

    return launch


def test_a_terminal_shows_the_address_a_sign_in_link_and_the_next_commands(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        with Daemon(tmp_path / "home", launch=with_stderr(slave, slave)) as daemon:
            screen = ""
            while "Ctrl-C" not in screen:
                screen += os.read(master, 65536).decode()
            address, link, *rest = re.findall(r"http://\S+", screen)
            assert (address, rest) == (f"http://127.0.0.1:{daemon.port}", [])
            assert link.startswith(f"{address}/login?code=")
            assert "within 10 minutes" in screen
            assert re.search(r"qd install .*\r\n.*qd up ", screen)
            assert "{" not in screen
            assert [signs_in(daemon, link), signs_in(daemon, link)] == [True, False]
            assert daemon.stop() == 0
            assert link.partition("=")[2] not in written(daemon)
    finally:
        os.close(master)
        os.close(slave)


def signs_in(daemon: Daemon, link: str) -> bool:
    """True when the link gives a page its cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
    connection.request("GET", link.removeprefix(f"http://127.0.0.1:{daemon.port}"))
    cookie = connection.getresponse().getheader("Set-Cookie")
    connection.close()
    return cookie is not None


def test_a_pipe_gets_no_sign_in_link(daemon: Daemon) -> None:
    url = daemon.url
    assert daemon.stop() == 0
    assert daemon.stdout() == f"Quarterdeck is ready at {url}\n"


@pytest.mark.parametrize(("format", "ready"), [("json", '{"'), ("text", "info daemon: ready  url=http")])
def test_the_format_of_the_log_is_a_setting(tmp_path: Path, format: str, ready: str) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_LOG_FORMAT": format}) as daemon:
        assert daemon.stop() == 0
        [line] = [line for line in daemon.stderr().splitlines() if "ready" in line]
        assert ready in line
        assert (daemon.home / "log" / "daemon.log").read_text().startswith("{")


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
