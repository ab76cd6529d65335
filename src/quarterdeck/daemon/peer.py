"""Who is on the other side of a TCP connection of this machine: its socket, and which process holds that."""

from __future__ import annotations

import os
import socket
import sys

from quarterdeck.daemon.proc import PROC, read_small

Address = tuple[str, int]

MAPPED = "0000000000000000FFFF0000"
"""How an IPv6 socket that speaks IPv4 begins its address in the kernel's table."""


def connection_inode(client: Address, server: Address) -> str | None:
    """The client's socket; None when it is closed, or not of this machine."""
    ends = [_written(client), _written(server)]
    mapped = [MAPPED + end for end in ends] if ":" not in client[0] else ends
    for table, (local, remote) in (("tcp", ends), ("tcp6", mapped)):
        found = read_small(f"{PROC}/net/{table}").partition(f" {local} {remote} ".encode())[2]
        fields = found.split(maxsplit=7)
        if len(fields) == 8 and fields[6] != b"0":
            return fields[6].decode()
    return None


def _written(address: Address) -> str:
    """An address as the kernel prints it: words of four bytes in the machine's own order."""
    host, port = address
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    words = (packed[at : at + 4][:: 1 if sys.byteorder == "big" else -1] for at in range(0, len(packed), 4))
    return f"{b''.join(words).hex().upper()}:{port:04X}"


def is_here(client: Address, server: Address) -> bool:
    """Whether the client is on this machine by its address."""
    return client[0] == server[0] or client[0] == "::1" or client[0].startswith("127.")


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
