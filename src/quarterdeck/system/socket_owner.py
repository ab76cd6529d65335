"""Who is on the other side of a TCP connection of this machine: its socket, and which process holds that."""

from __future__ import annotations

import os
import socket
import sys

from msgspec import Struct

from quarterdeck.system.process_table import PROC, read_small

Address = tuple[str, int]

V4 = "0100007F:0000"
MAPPED = "0000000000000000FFFF0000"
"""How an IPv6 socket that speaks IPv4 begins its address in the kernel's table."""


class Connection(Struct, frozen=True):
    """The client's end of a connection: its socket, and the user it belongs to."""

    inode: str
    uid: int


def connection(client: Address, server: Address) -> Connection | None:
    """The client's end; None when it is closed, or not on this machine."""
    ends = [_written(client), _written(server)]
    mapped = [end if len(end) > len(V4) else MAPPED + end for end in ends]
    for table, (local, remote) in (("tcp", ends), ("tcp6", mapped)):
        found = read_small(f"{PROC}/net/{table}").partition(f" {local} {remote} ".encode())[2]
        fields = found.split(maxsplit=7)
        if len(fields) == 8 and fields[6] != b"0":
            return Connection(fields[6].decode(), int(fields[4]))
    return None


def _host(address: Address) -> str:
    """The address without its zone; one of IPv4 in its own spelling, whatever socket took it."""
    return address[0].partition("%")[0].removeprefix("::ffff:")


def _written(address: Address) -> str:
    """An address as the kernel prints it: words of four bytes in the machine's own order."""
    host, port = _host(address), address[1]
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    words = (packed[at : at + 4][:: 1 if sys.byteorder == "big" else -1] for at in range(0, len(packed), 4))
    return f"{b''.join(words).hex().upper()}:{port:04X}"


def is_here(client: Address, server: Address) -> bool:
    """Whether the client is on this machine by its address."""
    host = _host(client)
    return host in (_host(server), "::1") or host.startswith("127.")


def holds_socket(pid: int, inode: str) -> bool | None:
    """Whether a process holds this socket; None when it does not let us see."""
    wanted = f"socket:[{inode}]"
    try:
        with os.scandir(f"{PROC}/{pid}/fd") as entries:
            return any(_target(entry.path) == wanted for entry in entries)
    except PermissionError:
        return None
    except OSError:
        return False


def _target(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - a path object for each would cost more than the call
    except OSError:
        return ""


def hides(pid: int) -> bool:
    """Whether a process of ours does not let us see what it holds."""
    if holds_socket(pid, "") is not None:
        return False
    found = read_small(f"{PROC}/{pid}/status").partition(b"\nUid:")[2].split(maxsplit=1)
    return bool(found) and int(found[0]) == os.getuid()
