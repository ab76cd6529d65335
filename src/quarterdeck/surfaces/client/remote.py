"""The daemon of another machine: its address, and the file with the token for it."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from quarterdeck.errors import Misused

HINT = "; it runs on another machine: check the address, and whether it is running there"


class RemoteDaemon(Struct, frozen=True):
    """A daemon that was named by its address. The token file is read at each connection, as it may be replaced."""

    url: str
    token_file: Path

    def endpoint(self) -> tuple[str, str]:
        """The address and the token."""
        try:
            token = self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise Misused(f"--token-file: {self.token_file} cannot be read ({_reason(error)})") from None
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise Misused(f"--token-file: {self.token_file} must hold one token and nothing else")
        return self.url, token


def remote_daemon(url: str | None, token_file: Path | None) -> RemoteDaemon | None:
    """The daemon that these options name; None without them. `Misused` for an address that a token must not go to."""
    if url is None and token_file is None:
        return None
    if url is None or token_file is None:
        raise Misused("--url and --token-file: give both, or neither for the daemon of this machine")
    return RemoteDaemon(_checked(url), token_file)


def _checked(url: str) -> str:
    """An address without a path. Only TLS keeps a token secret on its way to another machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https") or port == 0:
        raise Misused(f"--url: must be an address like https://host:4180, is {url!r}")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise Misused(f"--url: must have no path, query or user, is {url!r}")
    if parts.scheme == "http" and not _is_loopback(host):
        raise Misused(f"--url: http would send the token in plain text to {host}; use https, or an SSH tunnel")
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not text"
