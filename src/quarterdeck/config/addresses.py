"""What an address tells: whether it is this machine's own, and which part of it is no secret."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own; one that is neither is not."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """The part of an address that is no secret."""
    try:
        where = urlsplit(url)
        return f"{where.scheme}://{where.hostname or ''}" + (f":{where.port}" if where.port else "")
    except ValueError:
        return "an address that cannot be read"
