"""One HTTP POST from a thread: verified, within its time, and never somewhere else than it was told."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

from quarterdeck.config import host_of, is_loopback
from quarterdeck.errors import ConfigError

POST_SECONDS = 10.0
LATER = frozenset({408, 425, 429})
"""Answers of a server that may take it later; so may one that fails (5xx)."""


class NotSent(Exception):
    """Nobody was told; `again` is whether another try may do better."""

    def __init__(self, says: str, *, again: bool = False) -> None:
        super().__init__(says)
        self.again = again


def check_url(setting: str, url: str) -> None:
    """Refuse an address that would show a secret, or what is sent, to the network. Never quotes it."""
    try:
        where = urlsplit(url)
        named = where.hostname and where.port != 0
    except ValueError:
        named = None
    if not named or where.scheme not in ("http", "https") or not url.isascii() or " " in url:
        raise ConfigError(f"{setting} must be a URL like https://example.org/path")
    if where.username or where.password or where.query or where.fragment:
        raise ConfigError(f"{setting} must not hold a user, a query or a fragment: secrets belong into files")
    if where.scheme == "http" and not is_loopback(where.hostname or ""):
        raise ConfigError(f"{setting} must be https: what is sent would cross the network in the clear")


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float = POST_SECONDS) -> int:
    """The status of a server that took it. Raises NotSent."""
    connection = _connection(url, seconds)
    late = threading.Event()
    ending = threading.Timer(seconds, _cut_off, [connection, late])
    ending.daemon = True
    ending.start()
    try:
        connection.request("POST", urlsplit(url).path or "/", body, dict(headers))
        status = connection.getresponse().status
        if late.is_set():
            raise TimeoutError  # an answer that was cut off reads as one without headers
    except ssl.SSLCertVerificationError as error:
        raise NotSent(f"{host_of(url)}: its certificate is not trusted ({error.verify_message})") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        in_time = not late.is_set() and not isinstance(error, TimeoutError)
        says = _words(error) if in_time else f"no answer within {seconds:g} s"
        raise NotSent(f"{host_of(url)}: {says}", again=True) from None
    finally:
        ending.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise _refused(url, status)
    return status


def _connection(url: str, seconds: float) -> http.client.HTTPConnection:
    where = urlsplit(url)
    host = where.hostname or ""
    if where.scheme == "http":
        return http.client.HTTPConnection(host, where.port, timeout=seconds)
    return http.client.HTTPSConnection(host, where.port, timeout=seconds, context=ssl.create_default_context())


def _cut_off(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    """A server that answers a byte at a time would otherwise keep the thread for ever."""
    late.set()
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


def _words(error: Exception) -> str:
    """What went wrong, without a word of who answered: one that echoes would have us tell the path, a secret."""
    if isinstance(error, OSError):
        return f"{type(error).__name__}: {error.strerror or 'no answer'}"
    return f"{type(error).__name__}: what it answers is not HTTP"


def _refused(url: str, status: int) -> NotSent:
    says = f"{host_of(url)} answered {status}"
    if 300 <= status < 400:
        return NotSent(f"{says}, a redirect, which is not followed: set the final address")
    if status in (401, 403):
        return NotSent(f"{says}: the token or secret is not accepted")
    return NotSent(says, again=status in LATER or status >= 500)
