"""What hinders a start although every setting is of its kind: those that disagree, and files that cannot be used."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from quarterdeck.config import Config, Loaded, is_loopback
from quarterdeck.config.provenance import DEFAULT, Problem
from quarterdeck.config.schema import KEYS
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.setup.certificates import names_of, own_certificate
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.drivers.claude.cli import find_claude
from quarterdeck.errors import ConfigError, QuarterdeckError


def hindrances(found: Loaded) -> list[Problem]:
    """Everything that a start, or the first use, would stumble over, at the place where it was set. What follows from a
    value that is wrong in itself is left out."""
    checks: tuple[Callable[[Config], object], ...] = (
        refuse_plain_beyond_loopback,
        _certificate,
        lambda config: names_of(config.runner.host, config.runner.hosts),
        lambda config: channels_of(config.notify.model_copy(update={"push_url": None}), Redactor()),
        lambda config: channels_of(config.notify.model_copy(update={"webhook_url": None}), Redactor()),
        _spans,
        lambda config: find_claude(config.claude.path),
    )
    wrong = [problem.key for problem in found.problems if problem.key]
    problems = []
    for check in checks:
        try:
            check(found.rest)
        except QuarterdeckError as error:
            if not any(key in str(error) for key in wrong):
                problems.append(_problem(found, str(error)))
    return problems


def _problem(found: Loaded, words: str) -> Problem:
    """The words begin with the key that they are about."""
    first, _, says = words.partition(" ")
    key = first.rstrip(":")
    return Problem(place=found.place(key), key=key, says=says) if key in KEYS else Problem(place=DEFAULT, says=words)


def refuse_plain_beyond_loopback(config: Config) -> None:
    """Beyond this machine nothing is served without TLS."""
    runner = config.runner
    if bool(runner.tls_cert) != bool(runner.tls_key):
        raise ConfigError("runner.tls_cert and runner.tls_key must be given together")
    if is_loopback(runner.host) and (runner.tls_cert or runner.tls_self_signed):
        raise ConfigError(
            f"runner.host is {runner.host}, this machine alone, which needs no TLS: give a runner.host beyond it, like "
            "0.0.0.0, or leave the certificate out"
        )
    if not is_loopback(runner.host) and not _is_address(runner.host):
        raise ConfigError(f"runner.host must be an address of this machine, is {runner.host!r}")
    if not is_loopback(runner.host) and not (runner.tls_cert or runner.tls_self_signed):
        raise ConfigError(
            f"runner.host is {runner.host}, beyond this machine: that needs TLS. Give runner.tls_cert and "
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
