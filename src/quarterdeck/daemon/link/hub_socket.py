"""The WebSocket to a hub: over TLS that is verified, or plain on this machine; and why it could not be opened."""

from __future__ import annotations

import ssl

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quarterdeck import __version__
from quarterdeck.link.codec import MAX_BYTES
from quarterdeck.link.messages import PATH

OPEN_SECONDS = 15.0
CLOSE_SECONDS = 2.0


class HubConnect(connect):
    """A connection that follows no redirect: the token is for the address that a person gave."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Fail with the redirect itself."""
        return exc


def hub_socket(url: str, token: str) -> HubConnect:
    """The connection to open. Batches are compressed, the connection is not: it would keep a window in memory."""
    return HubConnect(
        f"ws{url.removeprefix('http')}{PATH}",
        additional_headers={"Authorization": f"Bearer {token}"},
        user_agent_header=f"quarterdeck/{__version__}",
        compression=None,
        max_size=MAX_BYTES,
        ping_interval=None,
        open_timeout=OPEN_SECONDS,
        close_timeout=CLOSE_SECONDS,
        ssl=ssl.create_default_context() if url.startswith("https") else None,
    )


def connect_trouble(error: BaseException) -> tuple[str, str]:
    """The kind of a failure to connect, and its words."""
    if isinstance(error, InvalidStatus):
        status = error.response.status_code
        if status in (401, 403):
            return "unauthorized", f"the hub refused the token ({status}); get a new one, then: qd hub join"
        return "not_a_hub", f"the address answers {status}: it is no hub, or its address is another one"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "certificate", f"the hub's certificate is not trusted: {getattr(error, 'verify_message', error)}"
    if isinstance(error, TimeoutError):
        return "unreachable", "the hub did not answer in time"
    if isinstance(error, ConnectionClosed):
        return "closed", f"the hub closed the connection ({error})"
    return "unreachable", f"the hub cannot be reached ({error})"
