"""The records that terminals' hosts leave in the folder: which hosts still run, and connecting to them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.host import supervisor
from quarterdeck.system import process_table
from quarterdeck.system.safe_open import read_regular

MAX_NOTE = 64 * 1024
# The shortest limit of the supported systems, with its final NUL.
MAX_SOCKET_PATH = 103
CREDENTIALS = struct.Struct("3i")
SUFFIXES = (".json", ".s")


class HostRecord(Struct, frozen=True, kw_only=True):
    """A host as it describes itself: its session, its process and the program's process (`child`)."""

    name: str
    session_id: str
    host: ProcessId
    child: ProcessId
    ended: dict[str, Any] | None = None
    cols: int = 0
    rows: int = 0


def short_name(session_id: str) -> str:
    """The short name of a session's files: a socket's path must not be long."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:12]


def parse_record(name: str, value: object) -> HostRecord | None:
    """A host's record, if it is complete and well-formed."""
    match value:
        case {
            "session_id": str(session_id),
            "host": [int(host), str(host_start)],
            "child": [int(child), str(child_start)],
            "size": [int(cols), int(rows)],
            "ended": None | {"reason": str()} as ended,
        } if host > 1 and child > 1 and short_name(session_id) == name:
            return HostRecord(
                name=name,
                session_id=session_id,
                host=ProcessId(host, host_start),
                child=ProcessId(child, child_start),
                ended=ended,
                cols=cols,
                rows=rows,
            )
    return None


def read_records(folder: Path) -> Iterator[HostRecord]:
    """All readable records. Only this user's regular files count."""
    for path in sorted(folder.glob("*.json")):
        record = read_record(folder, path.stem)
        if record is not None:
            yield record


def read_record(folder: Path, name: str) -> HostRecord | None:
    content = read_regular(folder / f"{name}.json", MAX_NOTE, own=True)
    try:
        return parse_record(name, json.loads(content)) if content else None
    except (ValueError, RecursionError):
        return None


def runs(process: ProcessId) -> bool:
    """True if this very process runs; on systems without /proc, if any process has its pid."""
    return process_table.runs(process) if process_table.HAS_PROC else process_table.alive(process.pid)


def kill_host(record: HostRecord) -> None:
    """Kill the host itself; its supervisor then ends everything below it."""
    if supervisor.HAS_PROC:
        supervisor.send(supervisor.SupervisedProcess(record.host.pid, 0, record.host.start, ""), signal.SIGKILL)


def remove_files(folder: Path, name: str) -> None:
    """Remove the files of a host that has ended."""
    for part in SUFFIXES:
        (folder / f"{name}{part}").unlink(missing_ok=True)


async def connect(folder: Path, record: HostRecord) -> socket.socket:
    """Connect to this very host; Refused if another process listens there, or none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        with _reachable(folder, f"{record.name}.s") as path:
            await asyncio.get_running_loop().sock_connect(connection, path)
        if not _is_listener(connection, record.host.pid):
            raise OSError("another process listens there")
    except OSError as error:
        connection.close()
        raise Refused(f"the terminal of {record.session_id} is not responding: {error.strerror or error}") from None
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
    """A path that is short enough for a socket: a long one is reached through a descriptor of its folder."""
    path = str(folder / name)
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH or sys.platform != "linux":
        yield path
        return
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
