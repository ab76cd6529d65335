"""Where a call comes from: the origins that are served, and what a trusted reverse proxy says about a call."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from functools import cached_property
from urllib.parse import urlsplit

from quarterdeck.api.http.asgi import Scope
from quarterdeck.config.addresses import USUAL_PORTS

FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"via")
"""Headers that only a proxy sets. A call with one of them did not come from its client's own process."""
LOCAL_KINDS = ("owner", "hook")
"""Credentials that are accepted only from this machine itself, where the calling process is known."""
PROXIED = "qd_proxied"
"""The key in the ASGI scope of a call that came through a proxy."""


class PublicOrigins:
    """The origins under which a reverse proxy or a tailnet reaches the daemon (`runner.public_urls`), and the addresses
    of proxies whose X-Forwarded-Proto is believed (`runner.proxies`)."""

    def __init__(self, urls: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        self.urls = tuple(url.rstrip("/").lower() for url in urls)
        self._proxies = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]

    @cached_property  # read at every call
    def _origins_by_host(self) -> Mapping[bytes, frozenset[bytes]]:
        """The exact origins of each spelling of `Host`; a browser leaves out the usual port."""
        found: dict[bytes, frozenset[bytes]] = {}
        for url in self.urls:
            parts = urlsplit(url)
            usual = USUAL_PORTS[parts.scheme]
            name = parts.netloc.removesuffix(f":{usual}")
            origin = frozenset({f"{parts.scheme}://{name}".encode()})
            for host in (name, f"{name}:{usual}") if (parts.port or usual) == usual else (name,):
                found[host.encode()] = found.get(host.encode(), frozenset()) | origin
        return found

    def serves(self, host: bytes) -> bool:
        """True for the host of a public URL."""
        return host in self._origins_by_host

    def accepts(self, host: bytes, origin: bytes) -> bool:
        """True for the origin of the public URL with this host."""
        return origin in self._origins_by_host.get(host, ())

    def mark(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        """Note in the scope whether the call came through a proxy, and the scheme by which a trusted proxy was
        called."""
        if not self.serves(headers.get(b"host", b"").lower()) and not any(name in headers for name in FORWARDED):
            return
        scope[PROXIED] = True
        proto = headers.get(b"x-forwarded-proto", b"").lower()
        if proto in (b"http", b"https") and self._is_trusted(scope):
            plain = "ws" if scope["type"] == "websocket" else "http"
            scope["scheme"] = plain + "s" if proto == b"https" else plain

    def _is_trusted(self, scope: Scope) -> bool:
        try:
            caller = ipaddress.ip_address((scope.get("client") or ("",))[0])
        except ValueError:
            return False
        return any(caller in network for network in self._proxies)


NO_PROXY = PublicOrigins()


def is_proxied(scope: Scope) -> bool:
    """True when a call came through a proxy, so that the process behind it is not known."""
    return PROXIED in scope
