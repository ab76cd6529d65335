"""The home of one daemon: its lock, its tokens, its port, and the note that says where it listens."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from quarterdeck import hook
from quarterdeck.agents.base import Endpoint
from quarterdeck.errors import AlreadyRunning, HomeError, QuarterdeckError
from quarterdeck.system.private_files import write_private
from quarterdeck.system.process_table import alive

if TYPE_CHECKING:
    from quarterdeck.config.settings import DecideSettings

LOCK_SECONDS = 2.0
"""How long the lock of a daemon that has died may still be held."""
LOCK_RETRY_SECONDS = 0.02

logger = logging.getLogger("home")


class Home:
    """The files in one home folder. `started` holds the config file and the flags of this start."""

    def __init__(self, path: Path, started: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.started = started
        self.socket = path / "run" / "hook.sock"
        self.note = path / "run" / "daemon.json"
        self.port_file = path / "run" / "port"
        self.lock_file = path / "run" / "lock"
        self.database = path / "events.db"
        self.log = path / "log" / "daemon.log"
        self.unclean = path / "run" / "unclean"
        self.hook = path / "hook.py"
        self.forwarder = path / "forwarder.py"
        self.worktrees = path.with_name(f"{path.name}-worktrees")
        self._lock: IO[str] | None = None

    def lock(self) -> None:
        """Take the lock of this home, or raise AlreadyRunning with the process that has it."""
        try:
            file = self.lock_file.open("a")
        except OSError as error:
            raise HomeError(
                f"{self.path / 'run'}: cannot be written ({error.strerror}); fix its mode or owner"
            ) from None
        deadline = time.monotonic() + LOCK_SECONDS
        while not _locked(file):
            running = self.read_note()
            # A killed daemon's lock lives on in a program that it was just starting, until that program is executed.
            if running and not alive(running["pid"]) and time.monotonic() < deadline:
                time.sleep(LOCK_RETRY_SECONDS)
                continue
            file.close()
            who = f"pid {running['pid']} at {running['url']}" if running else "another process"
            raise AlreadyRunning(f"Quarterdeck already runs in {self.path}: {who}; stop it with: qd stop")
        self._lock = file

    def is_owned(self) -> bool:
        """True when a daemon holds this home's lock, even before it is ready."""
        try:
            self.lock()
        except AlreadyRunning:
            return True
        self.unlock()
        return False

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def token(self, name: str) -> str:
        """A secret that is made once and that only this user can read."""
        path = self.path / name
        if path.is_symlink() or path.is_dir() or (path.exists() and path.stat().st_size > 0):
            return self._existing_token(path)
        try:
            write_private(path, secrets.token_urlsafe(32) + "\n", durable=True)
        except OSError as error:
            raise HomeError(f"{path}: cannot be written ({error.strerror}); free some space or fix its mode") from None
        return self._existing_token(path)

    def _existing_token(self, path: Path) -> str:
        if path.is_symlink() or not path.is_file() or path.stat().st_uid != os.getuid():
            raise HomeError(f"{path}: must be your own file; remove it and start again")
        mode = path.stat().st_mode & 0o777
        if mode != 0o600:
            path.chmod(0o600)
        if mode & 0o077:
            logger.warning(f"{path}: had mode {mode:o}, now 600; if others have read it, remove it to get a new one")
        token = path.read_text(encoding="utf-8").strip()
        if len(token) < 32:
            raise HomeError(f"{path}: is empty or too short; remove it and start again")
        return token

    def keep_forwarder(self) -> None:
        """Keep a copy of the forwarder in the home, so that the hook does not depend on where Quarterdeck is installed:
        Python ends with 2 when a script is missing, and Claude Code takes that for a refusal."""
        import py_compile  # only where the forwarder is kept, which most commands never do

        source = Path(hook.__file__)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            _keep_copy(source, self.forwarder)
            _keep_copy(source.with_name("hook_loader.py"), self.hook)  # runs the one before, so it comes second
        except OSError as error:
            raise HomeError(f"{self.forwarder}: cannot be written ({error.strerror}); free some space") from None
        compiled = self.path / "__pycache__" / f"forwarder.{sys.implementation.cache_tag}.pyc"
        with suppress(OSError):  # without it the forwarder only starts slower
            py_compile.compile(str(self.forwarder), str(compiled), doraise=True)

    def endpoint(self, url: str, decide: DecideSettings) -> Endpoint:
        """The endpoint of a daemon at this address, for hooks."""
        return Endpoint(
            url=url,
            hook_token=self.token("hook-token"),
            wait_seconds=decide.wait_seconds,
            socket=str(self.socket),
            python=str(Path(sys.executable).resolve()),
            hook_file=str(self.hook),
            holds_stop=decide.hold_stop,
        )

    def write_note(self, **fields: Any) -> None:
        """Write where the daemon listens and how it was started, atomically."""
        _write_json(self.note, {**fields, **({"started": self.started} if self.started else {})})

    def read_note(self) -> dict[str, Any] | None:
        """Where the daemon says it listens; None when there is no note."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return note if isinstance(note, dict) and {"pid", "url"} <= note.keys() else None

    def read_token_use(self) -> dict[str, float]:
        """When each token was last used, as far as it was saved."""
        try:
            found = json.loads((self.path / "run" / "token-use.json").read_text(encoding="utf-8"))
            return {str(k): float(v) for k, v in found.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def write_token_use(self, used: dict[str, float]) -> None:
        _write_json(self.path / "run" / "token-use.json", used)

    def remove_note(self) -> None:
        """Remove the note. One that stays names a process that has ended, so a client is not misled by it."""
        with suppress(OSError):
            self.note.unlink()

    def remove_socket(self) -> None:
        """Remove the hook socket. One that stays refuses every connection, and the next start replaces it."""
        with suppress(OSError):
            self.socket.unlink()


def _keep_copy(source: Path, kept: Path) -> None:
    content = source.read_bytes()
    if not kept.is_file() or kept.read_bytes() != content:
        write_private(kept, content)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    try:
        write_private(path, json.dumps(value))
    except OSError as error:
        raise HomeError(f"{path}: cannot be written ({error.strerror}); free some space") from None


def listen_on(host: str, port: int) -> socket.socket:
    """Listen on an address, or raise an error that says why not."""
    server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
    except OSError as error:
        server.close()
        raise QuarterdeckError(
            f"{host}:{port} cannot be used ({error.strerror}); stop what listens there, or set another runner.port in "
            "config.yaml; then qd up, qd install"
        ) from None
    return server


def bind_port(home: Home, host: str, port: int) -> socket.socket:
    """Listen on the expected port: a chosen port is kept, because installed hooks name it."""
    with suppress(OSError):
        home.port_file.chmod(0o600)
    kept = kept_port(home) if port == 0 else port
    server = listen_on(host, kept)
    if port == 0 and not kept:
        try:
            home.port_file.write_text(str(server.getsockname()[1]), encoding="utf-8")
        except OSError as error:
            raise HomeError(f"{home.port_file}: cannot be written ({error.strerror}); free some space") from None
    return server


def kept_port(home: Home) -> int:
    """The port that was chosen before; 0 when none was."""
    try:
        kept = int(home.port_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
    return kept if 0 < kept < 65536 else 0


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
