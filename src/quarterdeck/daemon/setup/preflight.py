"""Problems that stop a start although every setting is valid by itself: settings that disagree, files that cannot be
used."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from quarterdeck.config.addresses import is_loopback
from quarterdeck.config.loader import LoadedConfig
from quarterdeck.config.provenance import DEFAULT, Problem
from quarterdeck.config.settings import KEYS, Config
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.setup.certificates import names_of, own_certificate
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import ConfigError, QuarterdeckError


def startup_problems(loaded: LoadedConfig) -> list[Problem]:
    """Everything that would fail at the start or at first use, with the place of the setting. Consequences of a value
    that is wrong in itself are left out."""
    checks: tuple[Callable[[Config], object], ...] = (
        require_tls_beyond_loopback,
        _certificate,
        lambda config: names_of(config.runner.host, config.runner.hosts),
        # The channels one after the other: `channels_of` stops at the first problem, and all are to be named.
        lambda config: channels_of(config.notify.model_copy(update={"push_url": None}), Redactor()),
        lambda config: channels_of(config.notify.model_copy(update={"webhook_url": None}), Redactor()),
        _spans,
        lambda config: [driver.find_program() for driver in Drivers(config).by_name.values()],
    )
    wrong = [problem.key for problem in loaded.problems if problem.key]
    problems = []
    for check in checks:
        try:
            check(loaded.usable)
        except QuarterdeckError as error:
            if not any(key in str(error) for key in wrong):
                problems.append(_problem(loaded, str(error)))
    return problems


def _problem(loaded: LoadedConfig, message: str) -> Problem:
    """The problem in an error whose text begins with the key."""
    first, _, message_part = message.partition(" ")
    key = first.rstrip(":")
    return (
        Problem(place=loaded.place(key), key=key, message=message_part)
        if key in KEYS
        else Problem(place=DEFAULT, message=message)
    )


def require_tls_beyond_loopback(config: Config) -> None:
    """Refuse to serve other machines without TLS."""
    runner = config.runner
    if bool(runner.tls_cert) != bool(runner.tls_key):
        raise ConfigError("runner.tls_cert and runner.tls_key must be set together")
    if is_loopback(runner.host) and (runner.tls_cert or runner.tls_self_signed):
        raise ConfigError(
            f"runner.host is {runner.host}, which only this machine can reach and which needs no TLS: set runner.host "
            "to another address, like 0.0.0.0, or remove the certificate"
        )
    if not is_loopback(runner.host) and not _is_address(runner.host):
        raise ConfigError(f"runner.host must be an address of this machine, is {runner.host!r}")
    if not is_loopback(runner.host) and not (runner.tls_cert or runner.tls_self_signed):
        raise ConfigError(
            f"runner.host is {runner.host}, which other machines can reach: that needs TLS. Set runner.tls_cert and "
            "runner.tls_key, or start with --tls-self-signed"
        )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _certificate(config: Config) -> None:
    if config.runner.tls_cert and config.runner.tls_key:
        own_certificate(config.runner.tls_cert, config.runner.tls_key)


def _spans(config: Config) -> None:
    if config.otel.endpoint:
        from quarterdeck.daemon.telemetry.otel_export import read_headers, traces_url

        traces_url(config.otel)
        read_headers(config.otel, Redactor())
