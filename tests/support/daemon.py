"""The real daemon as a process of its own in a scratch home, and the plainest clients that can talk to it."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

PATIENCE_SECONDS = 60.0
"""How long a test waits for what must happen: long enough for a busy machine, for no test passes or fails by it."""

READY_SECONDS = STOP_SECONDS = PATIENCE_SECONDS
POLLS, POLL_SECONDS = 50, 0.02
"""`soon` and `until` poll at most this often, with this many seconds in between."""

PLAIN = (sys.executable, "-m", "quarterdeck", "daemon")


def until(check: Callable[[], T], seconds: float = PATIENCE_SECONDS, *, every: float = 0.005, what: str = "") -> T:
    """The first true value of `check`; fails when the deadline passes without one."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what or getattr(check, '__name__', 'the condition')}")
        time.sleep(every)
    return found


def soon(check: Callable[[], T], *, what: str = "") -> T:
    """The first true value of `check`, which asks the daemon, within about a second of its time. Looks are counted and
    not seconds, because a busy machine slows the looks as much as what they look for."""
    for _ in range(POLLS):
        if found := check():
            return found
        time.sleep(POLL_SECONDS)
    raise AssertionError(f"not within {POLLS} polls: {what or getattr(check, '__name__', 'the condition')}")


class Process(Protocol):
    """What is needed of a process; `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None: ...


Launch = Callable[[Mapping[str, str], Path, Path], Process]
"""Starts a daemon with this environment, stdout and stderr into these files."""


def launching(command: Sequence[str | Path]) -> Launch:
    """Start the daemon by this command."""

    def launch(env: Mapping[str, str], out: Path, err: Path) -> Process:
        with out.open("ab") as stdout, err.open("ab") as stderr:
            return subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)

    return launch


class Daemon:
    """A daemon in `home`; with `with` it is ready inside, and it and its clients are gone after. `env` adds to a
    clean environment; what it prints goes into files in `logs`, beside the home unless given."""

    NOTE = "daemon.json"

    def __init__(
        self,
        home: Path,
        *,
        env: Mapping[str, str] | None = None,
        launch: Launch | None = None,
        logs: Path | None = None,
    ) -> None:
        self.home = home
        self.env = dict(env or {})
        self._launch = launch or launching(PLAIN)
        self._process: Process | None = None
        self._open: list[socket.socket] = []
        self._out = (logs or home.parent) / f"{home.name}.out"
        self._err = (logs or home.parent) / f"{home.name}.err"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Whatever happened: no process and no connection is left."""
        self.hang_up()
        if self.alive():
            self.kill9()
        for record in (self.home / "run" / "sessions" / "sdk").glob("*.json"):
            with suppress(ProcessLookupError):
                os.kill(json.loads(record.read_text())["host"][0], signal.SIGKILL)

    def hang_up(self) -> None:
        """Close every connection that was made here."""
        while self._open:
            self._open.pop().close()

    def start(self) -> Self:
        """Start and wait until daemon.json names this process."""
        self.begin()
        until(self._ready, READY_SECONDS, what=f"run/{self.NOTE}")
        return self

    def begin(self) -> None:
        """Start without waiting for it to be ready."""
        env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        env |= {
            "PYTHONPATH": os.pathsep.join(str(Path(__file__).parents[2] / part) for part in ("src", ".")),
            "QUARTERDECK_HOME": str(self.home),
            "QUARTERDECK_PORT": "0",
            "QUARTERDECK_DECIDE_HOLD": "always",
            "CLAUDE_CONFIG_DIR": str(self.home.with_name("claude")),
            **self.env,
        }
        self._process = self._launch(env, self._out, self._err)

    def _ready(self) -> bool:
        if not self.alive():
            raise AssertionError(f"the daemon did not start: {self.stderr()}")
        return self.note().get("pid") == self.pid

    def note(self) -> Json:
        """What run/daemon.json says; empty when there is none."""
        try:
            return dict(json.loads((self.home / "run" / self.NOTE).read_text()))
        except (OSError, ValueError):
            return {}

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ended(self, seconds: float = STOP_SECONDS) -> int:
        """Wait for the end; gives the exit code, negative for a signal."""
        assert self._process is not None
        until(lambda: not self.alive(), seconds, every=0.001, what="the daemon's end")
        return self._process.poll() or 0

    def kill9(self) -> None:
        self._signal(signal.SIGKILL)
        self.ended()

    def _signal(self, number: signal.Signals) -> None:
        """A daemon that has just ended needs no signal."""
        if self.alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def stop(self, seconds: float = STOP_SECONDS) -> int:
        """Stop it for good, as `qd stop` does; gives the exit code."""
        self._signal(signal.SIGINT)
        return self.ended(seconds)

    def terminate(self) -> None:
        """SIGTERM without waiting, as a service manager does that restarts it."""
        self._signal(signal.SIGTERM)

    def restart(self) -> Self:
        """Start again after the end."""
        assert not self.alive()
        return self.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While stopped (SIGSTOP), what is sent piles up and is then found all at once."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            until(lambda: self._proc_state() in "Tt", what="a stopped process")
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _proc_state(self) -> str:
        out = subprocess.run(["ps", "-o", "stat=", "-p", str(self.pid)], capture_output=True, text=True, check=True)
        return out.stdout.strip()[:1]

    def stdout(self) -> str:
        return self._out.read_text(errors="replace") if self._out.exists() else ""

    def stderr(self) -> str:
        return self._err.read_text(errors="replace") if self._err.exists() else ""

    @property
    def url(self) -> str:
        return str(self.note()["url"])

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def socket_path(self) -> Path:
        return self.home / "run" / "hook.sock"

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    @property
    def hook_token(self) -> str:
        return (self.home / "hook-token").read_text().strip()

    def hook(self, payload: object, timeout: float = PATIENCE_SECONDS) -> tuple[int, bytes]:
        """POST /hook; bytes are sent as they are."""
        return self._call("POST", "/hook", payload, self.hook_token, timeout)

    def api(self, method: str, path: str, body: object = None, timeout: float = PATIENCE_SECONDS) -> tuple[int, Any]:
        """Call `/api/v1…` (or `/healthz`) as the owner."""
        where = path if path == "/healthz" else "/api/v1" + path
        status, content = self._call(method, where, body, self.token, timeout)
        return status, json.loads(content) if content else None

    def _call(self, method: str, path: str, body: object, token: str, timeout: float) -> tuple[int, bytes]:
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except ConnectionRefusedError as error:
            error.add_note(f"the daemon said: {self.stderr()[-3000:]}")
            raise
        finally:
            connection.close()

    def hold(self, payload: object) -> "HeldHook":
        """POST /hook on a connection that stays open, and do not wait for the answer."""
        held = HeldHook(self.port, self.hook_token, payload)
        self._open.append(held.socket)
        return held

    def ndjson(self) -> "Ndjson":
        """A client of the Unix socket."""
        client = Ndjson(self.socket_path)
        self._open.append(client.socket)
        return client

    def forwarder(self, payload: object, call_id: str = "c1", gate: str = "assist") -> "Ndjson":
        """A connection of the forwarder, which has sent its call."""
        client = self.ndjson()
        body = json.dumps(payload).encode()
        client.send_raw(b"QDHOOK/2 %d %s cli - - %s\n%s" % (len(body), gate.encode(), call_id.encode(), body))
        return client

    def interrupt(self) -> None:
        """SIGINT, as Ctrl-C and `qd stop` send it, without waiting."""
        self._signal(signal.SIGINT)

    def pending(self) -> list[Json]:
        """Every request that waits."""
        found: list[Json] = []
        after = 0
        while True:
            status, page = self.api("GET", f"/requests?status=pending&limit=1000&after={after}")
            assert status == 200, page
            found += page["requests"]
            if page["next"] is None:
                return found
            after = page["next"]

    def until_pending(self, count: int, seconds: float = PATIENCE_SECONDS) -> list[Json]:
        """Wait until exactly this many requests wait."""
        found: list[Json] = []

        def enough() -> bool:
            found[:] = self.pending()
            return len(found) == count

        until(enough, seconds, every=0.02, what=f"{count} pending requests")
        return found

    def decide(self, request: Json, decision: str, **more: Any) -> tuple[int, Any]:
        """Decide a request as shown."""
        body = {"decision": decision, "digest": request["digest"], **more}
        return self.api("POST", f"/requests/{request['request_id']}/decision", body)

    @contextmanager
    def db(self) -> Iterator[sqlite3.Connection]:
        """events.db, read-only."""
        db = sqlite3.connect(f"{(self.home / 'events.db').as_uri()}?mode=ro", uri=True)
        try:
            yield db
        finally:
            db.close()

    def events(self, kind: str = "%") -> list[Json]:
        """The events of the log, straight from the file."""
        with self.db() as db:
            rows = db.execute("SELECT body FROM events WHERE kind LIKE ? ORDER BY seq_no", (kind,)).fetchall()
        return [json.loads(body) for (body,) in rows]


class HeldHook:
    """One HTTP hook call on a plain socket."""

    def __init__(self, port: int, token: str, payload: object) -> None:
        self._port, self._token = port, token
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self.send(payload)

    def send(self, payload: object, *, path: str = "/hook", token: str = "") -> None:
        """POST on this connection; it may have been used before."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAuthorization: Bearer {token or self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.socket.sendall(head.encode() + body)

    def answer(self, seconds: float = PATIENCE_SECONDS, *, close: bool = True) -> tuple[int, bytes]:
        """Status and body, which is all that came; status 0 when the connection was closed without an answer."""
        self.socket.settimeout(seconds)
        answer = b""
        while (whole := _whole_response(answer)) is None:
            try:
                chunk = self.socket.recv(1 << 16)
            except ConnectionError:
                chunk = b""
            if not chunk:
                assert not answer, f"cut short: {answer!r}"
                return 0, b""
            answer += chunk
        if close:
            self.close()
        return whole

    def close(self) -> None:
        self.socket.close()


def _whole_response(content: bytes) -> tuple[int, bytes] | None:
    """The one response in these bytes; None while it is incomplete."""
    head, blank, body = content.partition(b"\r\n\r\n")
    if not blank:
        return None
    lines = head.lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
    if len(body) < length:
        return None
    assert len(body) == length, f"more than one answer: {content!r}"
    return int(lines[0].split()[1]), body


class Ndjson:
    """One connection to the Unix socket."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_SECONDS)
        self.socket.connect(str(path))
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, request_id: str, payload: object, **more: object) -> None:
        """One envelope."""
        self.send_raw(json.dumps({"request_id": request_id, "ts": time.time(), "payload": payload, **more}) + "\n")

    def send_raw(self, content: str | bytes) -> None:
        self.socket.sendall(content if isinstance(content, bytes) else content.encode())

    def read(self, seconds: float = PATIENCE_SECONDS) -> Json | None:
        """The next reply; None when the daemon closed the connection."""
        self.socket.settimeout(seconds)
        while b"\n" not in self._rest:
            try:
                chunk = self.socket.recv(1 << 16)
            except ConnectionError:
                chunk = b""
            if not chunk:
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def read_all(self, seconds: float = PATIENCE_SECONDS) -> bytes:
        """Everything until the daemon closes the connection."""
        self.socket.settimeout(seconds)
        with suppress(ConnectionError):
            while chunk := self.socket.recv(1 << 16):
                self._rest += chunk
        return self._rest

    def ask(self, request_id: str, payload: object, seconds: float = PATIENCE_SECONDS) -> Json | None:
        """Send one envelope and read one reply."""
        self.send(request_id, payload)
        return self.read(seconds)

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.socket.close()


def decision_in(answer: bytes) -> str:
    """The word an agent reads in the answer to a PermissionRequest; `pass` for silence."""
    return str(json.loads(answer)["hookSpecificOutput"]["decision"]["behavior"]) if answer else "pass"


def permission(command: str, session_id: str = "s1") -> Json:
    """A PermissionRequest payload as Claude Code sends it."""
    return {
        "hook_event_name": "PermissionRequest",
        "session_id": session_id,
        "cwd": "/w",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def prompt(words: str, session_id: str = "s1") -> Json:
    """A UserPromptSubmit payload."""
    return {"hook_event_name": "UserPromptSubmit", "session_id": session_id, "cwd": "/w", "prompt": words}
