"""One HTTP POST from a thread: verified, within a time limit, and never redirected."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

from quarterdeck.config.addresses import host_of, is_loopback
from quarterdeck.errors import ConfigError

POST_SECONDS = 10.0
RETRY_STATUSES = frozenset({408, 425, 429})
"""Statuses of a server that may accept the call later; so may one that fails (5xx)."""


class NotificationFailed(Exception):
    """A notification was not sent; `again` says whether another try may succeed."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


def check_url(setting: str, url: str) -> None:
    """Refuse a URL that would reveal a secret, or the content, to the network. The error never quotes it."""
    try:
        parts = urlsplit(url)
        has_host = parts.hostname and parts.port != 0
    except ValueError:
        has_host = None
    if (
        not has_host
        or parts.scheme not in ("http", "https")
        or not url.isascii()
        or not url.isprintable()
        or " " in url
    ):
        raise ConfigError(f"{setting} must be a URL like https://example.org/path")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(f"{setting} must not hold a user, a query or a fragment: put secrets into files")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ConfigError(f"{setting} must be https: otherwise the content would cross the network unencrypted")


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float = POST_SECONDS) -> int:
    """The status of a server that accepted the call. Raises NotificationFailed."""
    connection = _connection(url, seconds)
    late = threading.Event()
    timer = threading.Timer(seconds, _cut_off, [connection, late])
    timer.daemon = True
    timer.start()
    try:
        connection.request("POST", urlsplit(url).path or "/", body, dict(headers))
        status = connection.getresponse().status
        if late.is_set():
            raise TimeoutError  # an answer that was cut off reads as one without headers
    except ssl.SSLCertVerificationError as error:
        raise NotificationFailed(f"{host_of(url)}: its certificate is not trusted ({error.verify_message})") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        in_time = not late.is_set() and not isinstance(error, TimeoutError)
        message = _description(error) if in_time else f"no answer within {seconds:g} s"
        raise NotificationFailed(f"{host_of(url)}: {message}", again=True) from None
    finally:
        timer.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise _refused(url, status)
    return status


def _connection(url: str, seconds: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=seconds)
    return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=ssl.create_default_context())


def _cut_off(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    """Close the connection: a server that sends one byte at a time would otherwise keep the thread forever."""
    late.set()
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


def _description(error: Exception) -> str:
    """The error without any text of the server: one that echoes the request would reveal the path, a secret."""
    if isinstance(error, OSError):
        return f"{type(error).__name__}: {error.strerror or 'no answer'}"
    return f"{type(error).__name__}: its answer is not HTTP"


def _refused(url: str, status: int) -> NotificationFailed:
    message = f"{host_of(url)} answered {status}"
    if 300 <= status < 400:
        return NotificationFailed(f"{message}, a redirect, which is not followed: set the final address")
    if status in (401, 403):
        return NotificationFailed(f"{message}: the token or secret is not accepted")
    return NotificationFailed(message, again=status in RETRY_STATUSES or status >= 500)
