"""Questions about addresses: is it this machine's own, an origin, a hub's, and which part of it is not secret."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

USUAL_PORTS = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """True if an address or name is this machine's own. False for text that is neither."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """The part of an address that is not secret."""
    try:
        where = urlsplit(url)
        return f"{where.scheme}://{where.hostname or ''}" + (f":{where.port}" if where.port else "")
    except ValueError:
        return "an address that cannot be read"


def origin_problem(url: str) -> str | None:
    """Why this is not an origin like https://desk.example.org; None when it is one."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in USUAL_PORTS:
        return "must begin with https:// or http://"
    if not parts.hostname or "*" in parts.netloc or parts.username is not None or not url.isascii():
        return "must name one host, in ASCII and without wildcards"
    if parts.path not in ("", "/") or parts.query or parts.fragment or url.endswith(("?", "#")):
        return "must have no path: leave out what follows the host"
    return "has no port 0" if port == 0 else None


def hub_url_problem(url: str) -> str | None:
    """Why this is not the address of a hub; None when it is one. Only TLS keeps a token secret on its way."""
    if problem := origin_problem(url):
        return problem
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        return "would send the token in plain text: use https"
    return None
