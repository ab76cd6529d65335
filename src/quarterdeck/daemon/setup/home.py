"""The home of one daemon: its lock, its secrets, its port, and the note of where it can be reached."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from quarterdeck.errors import AlreadyRunning, HomeError, QuarterdeckError


class Home:
    """The files of CONTRACT under one folder."""

    def __init__(self, path: Path, started: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self._started = started
        self.socket = path / "run" / "hook.sock"
        self.note = path / "run" / "daemon.json"
        self.port_file = path / "run" / "port"
        self.database = path / "events.db"
        self.log = path / "log" / "daemon.log"
        self.unclean = path / "run" / "unclean"
        self.forwarder = path / "hook.py"
        self.worktrees = path.with_name(f"{path.name}-worktrees")
        self._lock: IO[str] | None = None

    def lock(self) -> None:
        """Own this home, or say who does."""
        try:
            file = (self.path / "run" / "lock").open("a")
        except OSError as error:
            raise HomeError(f"{self.path / 'run'}: cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            running = self.read_note()
            who = f"pid {running['pid']} at {running['url']}" if running else "another process"
            raise AlreadyRunning(f"Quarterdeck already runs in {self.path}: {who}; stop it with: qd stop") from None
        self._lock = file

    def is_owned(self) -> bool:
        """Whether a daemon owns this home, ready or not."""
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
        """A secret that is made once and that only we can read."""
        path = self.path / name
        if path.is_symlink() or (path.exists() and path.stat().st_size > 0):
            return self._existing_token(path)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise HomeError(f"{path}: cannot be written ({error.strerror}); free some space or mend its mode") from None
        return self._existing_token(path)

    def _existing_token(self, path: Path) -> str:
        if path.is_symlink() or path.stat().st_uid != os.getuid():
            raise HomeError(f"{path}: must be a file of yours; remove it and start again")
        if path.stat().st_mode & 0o777 != 0o600:
            path.chmod(0o600)
        token = path.read_text(encoding="utf-8").strip()
        if len(token) < 32:
            raise HomeError(f"{path}: is empty or too short; remove it and start again")
        return token

    def keep_forwarder(self, source: Path) -> None:
        """A copy of the forwarder beside our data: Python ends with 2 when a script is missing, which Claude Code takes
        for a refusal, so the hook must not depend on where Quarterdeck is installed."""
        content = source.read_bytes()
        if self.forwarder.is_file() and self.forwarder.read_bytes() == content:
            return
        temporary = self.forwarder.with_suffix(".new")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_bytes(content)
            temporary.replace(self.forwarder)
        except OSError as error:
            raise HomeError(f"{self.forwarder}: cannot be written ({error.strerror}); free some space") from None

    def write_note(self, **fields: Any) -> None:
        """Say where the daemon is and how it was started, whole or not at all."""
        _write_json(self.note, {**fields, **({"started": self._started} if self._started else {})})

    def read_note(self) -> dict[str, Any] | None:
        """Where the daemon says it is; None when there is no note."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return note if isinstance(note, dict) and {"pid", "url"} <= note.keys() else None

    def read_token_use(self) -> dict[str, float]:
        """When each token was last used, as far as it was written down."""
        try:
            found = json.loads((self.path / "run" / "token-use.json").read_text(encoding="utf-8"))
            return {str(k): float(v) for k, v in found.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def write_token_use(self, used: dict[str, float]) -> None:
        _write_json(self.path / "run" / "token-use.json", used)

    def remove_note(self) -> None:
        """One that cannot be removed names a process that is gone, and nobody is misled for long."""
        with suppress(OSError):
            self.note.unlink(missing_ok=True)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    temporary = path.with_suffix(".new")
    try:
        temporary.write_text(json.dumps(value), encoding="utf-8")
        temporary.chmod(0o600)
        temporary.replace(path)
    except OSError as error:
        raise HomeError(f"{path}: cannot be written ({error.strerror}); free some space") from None


def listen_on(host: str, port: int) -> socket.socket:
    """A listening address, or what keeps us from it."""
    server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
    except OSError as error:
        server.close()
        raise QuarterdeckError(
            f"{host}:{port} cannot be used ({error.strerror}); stop what listens there, or choose another port with "
            "QUARTERDECK_PORT and run: quarterdeck install"
        ) from None
    return server


def bind_port(home: Home, host: str, port: int) -> socket.socket:
    """Listen where we are expected: a chosen port is kept, because installed hooks name it."""
    kept = kept_port(home) if port == 0 else port
    server = listen_on(host, kept)
    if port == 0 and not kept:
        try:
            home.port_file.write_text(str(server.getsockname()[1]), encoding="utf-8")
        except OSError as error:
            raise HomeError(f"{home.port_file}: cannot be written ({error.strerror}); free some space") from None
    return server


def kept_port(home: Home) -> int:
    """The port that was chosen once; 0 when none was."""
    try:
        kept = int(home.port_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
    return kept if 0 < kept < 65536 else 0
