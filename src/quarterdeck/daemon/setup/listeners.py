"""The sockets to serve on: plain HTTP on loopback, and TLS beyond it where that is configured."""

from __future__ import annotations

import socket

from msgspec import Struct

from quarterdeck.config.addresses import is_loopback
from quarterdeck.config.settings import Config
from quarterdeck.daemon.setup.certificates import Certificate, names_of, own_certificate, self_signed
from quarterdeck.daemon.setup.home_files import Home, bind_port, listen_on
from quarterdeck.daemon.setup.http_server import hosts_of, url_of

LOOPBACK_NAMES = ["127.0.0.1", "localhost", "::1"]


class Listener(Struct, frozen=True):
    """A listening socket, the `Host` values it accepts, and its certificate where it speaks TLS."""

    socket: socket.socket
    hosts: list[str]
    certificate: Certificate | None = None


def loopback_listener(home: Home, config: Config) -> Listener:
    """The listener where hooks and commands of this machine always find the daemon."""
    host = config.runner.host if is_loopback(config.runner.host) else "127.0.0.1"
    listening = bind_port(home, host, config.runner.port)
    return Listener(listening, hosts_of(_port(listening), [*LOOPBACK_NAMES, host]))


def tls_listeners(home: Home, config: Config) -> list[Listener]:
    """The listeners for other machines."""
    runner = config.runner
    if is_loopback(runner.host):
        return []
    names = names_of(runner.host, runner.hosts)
    if runner.tls_cert and runner.tls_key:
        certificate = own_certificate(runner.tls_cert, runner.tls_key)
    else:
        certificate = self_signed(home.path / "tls", names)
    listening = listen_on(runner.host, runner.tls_port)
    return [Listener(listening, hosts_of(_port(listening), names, "https"), certificate)]


def public_url(config: Config, listeners: list[Listener]) -> str | None:
    """The address for other machines, if the daemon serves them or a proxy does."""
    if config.runner.public_urls:
        return config.runner.public_urls[0].rstrip("/")
    name = names_of(config.runner.host, [])[0] if len(listeners) > 1 else None
    urls = [url_of(listener.socket, "https", name) for listener in listeners if listener.certificate is not None]
    return urls[0] if urls else None


def _port(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])
