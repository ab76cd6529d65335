"""The notes that terminals' hosts leave in our folder: which still run, and how one speaks to them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.host import supervisor as keeper

MAX_NOTE = 64 * 1024
LONGEST_SOCKET = 103
CREDENTIALS = struct.Struct("3i")
PARTS = (".json", ".s")


class Note(Struct, frozen=True, kw_only=True):
    """What a host says of itself: whose session it is, which process it is and which one it keeps."""

    name: str
    session_id: str
    host: ProcessId
    child: ProcessId
    ended: dict[str, Any] | None = None
    cols: int = 0
    rows: int = 0


def name_of(session_id: str) -> str:
    """The short name of a session's files: a socket's path may not be long."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:12]


def read_state(name: str, said: object) -> Note | None:
    """What a host says, if it is all there and has the right form."""
    match said:
        case {
            "session_id": str(session_id),
            "host": [int(host), str(host_start)],
            "child": [int(child), str(child_start)],
            "size": [int(cols), int(rows)],
            "ended": None | {"reason": str()} as ended,
        } if host > 1 and child > 1 and name_of(session_id) == name:
            ours = ProcessId(host, host_start)
            theirs = ProcessId(child, child_start)
            return Note(name=name, session_id=session_id, host=ours, child=theirs, ended=ended, cols=cols, rows=rows)
    return None


def read_notes(folder: Path) -> Iterator[Note]:
    """All notes that are ours and can be read. What is no plain file of our own is none."""
    for path in sorted(folder.glob("*.json")):
        note = read_note(folder, path.stem)
        if note is not None:
            yield note


def read_note(folder: Path, name: str) -> Note | None:
    try:
        file = os.open(folder / f"{name}.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > MAX_NOTE:
            return None
        return read_state(name, json.loads(os.read(file, MAX_NOTE)))
    except (ValueError, RecursionError, OSError):
        return None
    finally:
        os.close(file)


def runs(process: ProcessId) -> bool:
    """Whether this very process runs; where the system does not tell, whether any does under its number."""
    if keeper.HAS_PROC:
        found = keeper.look(process.pid)
        return found is not None and found.start == process.start and found.state not in "ZXx"
    try:
        os.kill(process.pid, 0)
    except OSError:
        return False
    return True


def sweep(folder: Path, name: str) -> None:
    """Remove the files of a host that is dead."""
    for part in PARTS:
        (folder / f"{name}{part}").unlink(missing_ok=True)


async def connect(folder: Path, note: Note) -> socket.socket:
    """A connection to this very host; Refused when it is another process that listens there, or none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        with _reachable(folder, f"{note.name}.s") as path:
            await asyncio.get_running_loop().sock_connect(connection, path)
        if not _is_listener(connection, note.host.pid):
            raise OSError("another process listens there")
    except OSError as error:
        connection.close()
        raise Refused(f"the terminal of {note.session_id} does not answer: {error.strerror or error}") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _is_listener(connection: socket.socket, pid: int) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    found, uid, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))
    return bool(found == pid and uid == os.geteuid())


@contextlib.contextmanager
def _reachable(folder: Path, name: str) -> Iterator[str]:
    """A path that is short enough for a socket."""
    path = str(folder / name)
    if len(os.fsencode(path)) <= LONGEST_SOCKET or sys.platform != "linux":
        yield path
        return
    held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{held}/{name}"
    finally:
        os.close(held)
