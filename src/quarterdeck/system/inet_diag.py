"""One end of a TCP connection, looked up by the kernel instead of in the list of all connections. Linux only."""

from __future__ import annotations

import socket
import struct
import sys

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence number, port."""
QUERY = struct.Struct("=BBBxI2s2s16s16sI8s")
"""inet_diag_req_v2: family, protocol, extensions, states; ports, addresses, interface and cookie of the socket."""
REPLY = struct.Struct("=4x2s2s44x12xII")
"""inet_diag_msg, as far as it is read: ports, user, inode."""
ANY_STATE = 0xFFFFFFFF
ANY_COOKIE = b"\xff" * 8
ANSWER_SECONDS = 1.0


Address = tuple[str, int]


def find_socket(local: Address, remote: Address) -> tuple[int, int] | None:
    """The inode and the user of the socket with these addresses. None if there is none, or if this kernel does not
    tell: the two cannot be told apart."""
    if sys.platform != "linux":
        return None
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(ANSWER_SECONDS)
            kernel.send(write_query(local, remote))
            return read_reply(kernel.recv(4096), local[1], remote[1])
    except OSError:
        return None


def write_query(local: Address, remote: Address) -> bytes:
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    hosts = [socket.inet_pton(family, host) for host, _ in (local, remote)]
    ports = [port.to_bytes(2, "big") for _, port in (local, remote)]
    query = QUERY.pack(family, socket.IPPROTO_TCP, 0, ANY_STATE, *ports, *hosts, 0, ANY_COOKIE)
    return HEADER.pack(HEADER.size + len(query), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0) + query


def read_reply(reply: bytes, local_port: int, remote_port: int) -> tuple[int, int] | None:
    """The inode and the user of a socket with these ports; None for an error and for any other socket. Without such a
    connection the kernel gives the listener at the local address, or one that no process has open any more."""
    if len(reply) < HEADER.size + REPLY.size or HEADER.unpack_from(reply)[1] != SOCK_DIAG_BY_FAMILY:
        return None
    *ports, uid, inode = REPLY.unpack_from(reply, HEADER.size)
    if not inode or [int.from_bytes(port, "big") for port in ports] != [local_port, remote_port]:
        return None
    return inode, uid
