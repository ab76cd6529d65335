"""The owner of the other end of a connection, with any kind of address."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from quarterdeck.system.socket_owner import _listed_owner, find_owner, hides_descriptors, holds_socket, is_local

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
def test_the_clients_socket_is_found_until_it_is_closed(
    family: socket.AddressFamily, listens: str, connects: str, seen: str
) -> None:
    with socket.create_server((listens, 0), family=family, dualstack_ipv6=listens == "::") as server:
        calling = socket.socket(socket.AF_INET6 if ":" in connects else socket.AF_INET)
        calling.connect((connects, server.getsockname()[1]))
        taken, address = server.accept()
        with taken:
            here, client = taken.getsockname()[:2], address[:2]
            assert client[0] == seen
            found = find_owner(client, here)
            assert found is not None
            assert (found.inode, found.uid) == (str(os.fstat(calling.fileno()).st_ino), os.getuid())
            assert _listed_owner(client, here) == found
            assert holds_socket(os.getpid(), found.inode)
            assert find_owner((client[0], client[1] ^ 1), here) is None
            calling.close()
            assert find_owner(client, here) is None


def test_this_process_can_read_its_own_descriptors() -> None:
    assert not hides_descriptors(os.getpid())


def test_a_local_client_is_recognised_by_its_address() -> None:
    assert is_local(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert is_local(("192.0.2.1", 1), ("192.0.2.1", 2))
    assert is_local(("::ffff:127.0.0.1", 1), ("::ffff:192.0.2.1", 2))
    assert not is_local(("fe80::1%eth0", 1), ("fe80::2", 2))
    assert not is_local(("192.0.2.9", 1), ("192.0.2.1", 2))
