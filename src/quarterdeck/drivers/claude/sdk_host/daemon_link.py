"""The daemon's connection to an agent's host. Standard library only."""

from __future__ import annotations

import _socket  # `socket` would add a tenth to the host's memory

from quarterdeck.drivers.claude.sdk_host.sdk_frames import MAX_BODY, TO_HOST
from quarterdeck.sessions.host.peer import Connection, PeerGone

CHUNK = 256 * 1024


class DaemonLink(Connection):
    """A connection. `unsent` is what its socket did not take yet."""

    def __init__(self, connection: _socket.socket) -> None:
        super().__init__(connection, TO_HOST, MAX_BODY, CHUNK)
        self.unsent = bytearray()

    def push(self) -> None:
        """Send as much as the socket takes."""
        try:
            while self.unsent:
                del self.unsent[: self._connection.send(memoryview(self.unsent)[:CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            raise PeerGone from None
