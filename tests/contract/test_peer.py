"""Whose socket is on the other side of a connection, whatever the addresses."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from quarterdeck.system.socket_owner import connection, hides, holds_socket, is_here

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("family", "listens", "connects", "seen"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1", "::ffff:127.0.0.1"),
    ],
)
def test_the_clients_socket_is_found_and_is_gone_when_it_is_closed(
    family: socket.AddressFamily, listens: str, connects: str, seen: str
) -> None:
    with socket.create_server((listens, 0), family=family, dualstack_ipv6=listens == "::") as server:
        calling = socket.socket(socket.AF_INET6 if ":" in connects else socket.AF_INET)
        calling.connect((connects, server.getsockname()[1]))
        taken, address = server.accept()
        with taken:
            here, client = taken.getsockname()[:2], address[:2]
            assert client[0] == seen
            found = connection(client, here)
            assert found is not None
            assert (found.inode, found.uid) == (str(os.fstat(calling.fileno()).st_ino), os.getuid())
            assert holds_socket(os.getpid(), found.inode)
            assert connection((client[0], client[1] ^ 1), here) is None
            calling.close()
            assert connection(client, here) is None


def test_we_hide_nothing_from_ourselves() -> None:
    assert not hides(os.getpid())


def test_who_is_on_this_machine() -> None:
    assert is_here(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert is_here(("192.0.2.1", 1), ("192.0.2.1", 2))
    assert is_here(("::ffff:127.0.0.1", 1), ("::ffff:192.0.2.1", 2))
    assert not is_here(("fe80::1%eth0", 1), ("fe80::2", 2))
    assert not is_here(("192.0.2.9", 1), ("192.0.2.1", 2))
