"""The owner of the other end of a local TCP connection: its socket, and the process that has it open."""

from __future__ import annotations

import os
import socket
import sys

from msgspec import Struct

from quarterdeck.system.inet_diag import find_socket
from quarterdeck.system.process_table import PROC, read_small

Address = tuple[str, int]

V4 = "0100007F:0000"
MAPPED = "0000000000000000FFFF0000"
"""The start of an IPv4 address of an IPv6 socket in the kernel's table."""


class SocketOwner(Struct, frozen=True):
    """The client's end of a connection: its socket, and the user it belongs to."""

    inode: str
    uid: int


def find_owner(client: Address, server: Address) -> SocketOwner | None:
    """The client's end of a connection; None if it is closed, or not on this machine."""
    known = find_socket((_host(client), client[1]), (_host(server), server[1]))
    if known is not None:
        return SocketOwner(str(known[0]), known[1])
    return _listed_owner(client, server)


def _listed_owner(client: Address, server: Address) -> SocketOwner | None:
    """The client's end by the list of all connections, which takes milliseconds to read: for a kernel that does not
    look it up."""
    ends = [_kernel_form(client), _kernel_form(server)]
    mapped = [end if len(end) > len(V4) else MAPPED + end for end in ends]
    for table, (local, remote) in (("tcp", ends), ("tcp6", mapped)):
        found = read_small(f"{PROC}/net/{table}").partition(f" {local} {remote} ".encode())[2]
        fields = found.split(maxsplit=7)
        if len(fields) == 8 and fields[6] != b"0":
            return SocketOwner(fields[6].decode(), int(fields[4]))
    return None


def _host(address: Address) -> str:
    """The host without its zone; an IPv4 address in its usual form, even if an IPv6 socket accepted it."""
    return address[0].partition("%")[0].removeprefix("::ffff:")


def _kernel_form(address: Address) -> str:
    """An address as the kernel prints it: words of four bytes in the machine's byte order."""
    host, port = _host(address), address[1]
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    words = (packed[at : at + 4][:: 1 if sys.byteorder == "big" else -1] for at in range(0, len(packed), 4))
    return f"{b''.join(words).hex().upper()}:{port:04X}"


def is_local(client: Address, server: Address) -> bool:
    """True if the client's address is on this machine."""
    host = _host(client)
    return host in (_host(server), "::1") or host.startswith("127.")


def holds_socket(pid: int, inode: str) -> bool | None:
    """True if a process has this socket open; None if its descriptors cannot be read."""
    target = f"socket:[{inode}]"
    try:
        with os.scandir(f"{PROC}/{pid}/fd") as entries:
            return any(_target(entry.path) == target for entry in entries)
    except PermissionError:
        return None
    except OSError:
        return False


def _target(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 a path object costs more than the call
    except OSError:
        return ""


def hides_descriptors(pid: int) -> bool:
    """True if a process of this user does not let its descriptors be read."""
    if holds_socket(pid, "") is not None:
        return False
    found = read_small(f"{PROC}/{pid}/status").partition(b"\nUid:")[2].split(maxsplit=1)
    return bool(found) and int(found[0]) == os.getuid()
