"""Whose socket is on the other side of a connection, whatever the addresses."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from quarterdeck.daemon.peer import connection_inode, holds_socket, is_here

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("family", "listens", "connects", "seen"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1", "::1"),
    ],
)
def test_the_clients_socket_is_found_and_is_gone_when_it_is_closed(
    family: socket.AddressFamily, listens: str, connects: str, seen: str
) -> None:
    with socket.create_server((listens, 0), family=family) as server:
        here = server.getsockname()[:2]
        calling = socket.socket(socket.AF_INET6 if ":" in connects else socket.AF_INET)
        calling.connect((connects, here[1]))
        taken, address = server.accept()
        with taken:
            client = address[:2]
            assert client[0] == seen
            assert connection_inode(client, here) == str(os.fstat(calling.fileno()).st_ino)
            assert holds_socket(os.getpid(), str(os.fstat(calling.fileno()).st_ino))
            assert connection_inode((client[0], client[1] ^ 1), here) is None
            calling.close()
            assert connection_inode(client, here) is None


def test_who_is_on_this_machine() -> None:
    assert is_here(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert is_here(("192.0.2.1", 1), ("192.0.2.1", 2))
    assert not is_here(("192.0.2.9", 1), ("192.0.2.1", 2))
