"""The kernel's answer about one connection."""

from __future__ import annotations

import struct

import pytest

from quarterdeck.system.inet_diag import HEADER, SOCK_DIAG_BY_FAMILY, read_reply, write_query

NLMSG_ERROR = 2


def reply(*, remote_port: int = 8600, inode: int = 4711, kind: int = SOCK_DIAG_BY_FAMILY) -> bytes:
    """An inet_diag_msg for the socket 127.0.0.1:40000 of user 1000, with its header."""
    address = b"\x7f\0\0\1" + bytes(12)
    message = struct.pack("=4B", 2, 1, 0, 0) + struct.pack(">HH", 40000, remote_port) + address * 2 + bytes(12)
    message += struct.pack("=5I", 0, 0, 0, 1000, inode)
    return HEADER.pack(HEADER.size + len(message), kind, 0, 0, 0) + message


def test_a_connection_has_an_inode_and_a_user() -> None:
    assert read_reply(reply(), 40000, 8600) == (4711, 1000)


@pytest.mark.parametrize(
    "other",
    [
        reply(remote_port=0),
        reply(inode=0),
        reply(kind=NLMSG_ERROR),
        reply()[:60],
        b"",
    ],
    ids=["a listener", "a connection without an owner", "an error", "a part", "nothing"],
)
def test_any_other_reply_names_no_socket(other: bytes) -> None:
    assert read_reply(other, 40000, 8600) is None


@pytest.mark.parametrize(("local", "remote"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1")])
def test_a_query_has_the_length_that_the_kernel_expects(local: str, remote: str) -> None:
    query = write_query((local, 40000), (remote, 8600))
    assert (len(query), HEADER.unpack_from(query)[0]) == (72, 72)
    assert query[HEADER.size + 8 : HEADER.size + 12] == struct.pack(">HH", 40000, 8600)
