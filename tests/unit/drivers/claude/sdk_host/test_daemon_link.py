"""The daemon's connection to an agent's host."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from quarterdeck.drivers.claude.sdk_host.daemon_link import DaemonLink
from quarterdeck.drivers.claude.sdk_host.sdk_frames import ATTACH, WRITE
from quarterdeck.sessions.host.frames import frame
from quarterdeck.sessions.host.peer import PeerGone

MEGABYTES = b"x" * 3_000_000


@pytest.fixture
def ends() -> Iterator[tuple[DaemonLink, socket.socket]]:
    host, daemon = socket.socketpair()
    with host, daemon:
        yield DaemonLink(host), daemon


def test_what_a_full_socket_does_not_take_is_sent_later(ends: tuple[DaemonLink, socket.socket]) -> None:
    link, daemon = ends
    link.unsent += MEGABYTES
    link.push()
    assert 0 < len(link.unsent) < len(MEGABYTES)
    received = b""
    while len(received) < len(MEGABYTES):
        received += daemon.recv(1_000_000)
        link.push()
    assert (received, len(link.unsent)) == (MEGABYTES, 0)


def test_frames_come_whole_however_they_are_cut(ends: tuple[DaemonLink, socket.socket]) -> None:
    link, daemon = ends
    daemon.sendall((frame(ATTACH) + frame(WRITE, b"{}"))[:-1])
    assert list(link.read()) == [(ATTACH, b"")]
    assert list(link.read()) == []
    daemon.sendall(b"}")
    assert list(link.read()) == [(WRITE, b"{}")]


@pytest.mark.parametrize("sent", [b"", b"?nonsense"])
def test_an_end_or_nonsense_ends_the_connection(ends: tuple[DaemonLink, socket.socket], sent: bytes) -> None:
    link, daemon = ends
    daemon.sendall(sent)
    daemon.close()
    with pytest.raises(PeerGone):
        list(link.read())
