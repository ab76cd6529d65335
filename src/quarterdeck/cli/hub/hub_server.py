"""Run a hub: hub serve."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from quarterdeck.cli.common import ConfigFile, option, settings, without_empty
from quarterdeck.config.home import home_path


def serve(
    config: ConfigFile = None,
    host: Annotated[str | None, option("Address to listen on; other machines need TLS.")] = None,
    tls_self_signed: Annotated[bool, option("Use a certificate of the local authority.", "--tls-self-signed")] = False,
    tls_cert: Annotated[Path | None, option("Certificate file, in PEM.", resolve_path=True)] = None,
    tls_key: Annotated[Path | None, option("Private key file of --tls-cert, in PEM.", resolve_path=True)] = None,
    quiet: Annotated[bool, option("Log only to log/hub.log, not to stderr.", "--quiet")] = False,
) -> None:
    """Run a hub in the foreground until Ctrl-C or SIGTERM. Machines join it with `qd hub join`."""
    from quarterdeck.hub.app import run

    files = {"tls_cert": tls_cert and str(tls_cert), "tls_key": tls_key and str(tls_key)}
    runner = without_empty(host=host, tls_self_signed=tls_self_signed, **files)
    started = {"file": str(config) if config else None, "flags": {"runner": runner}}
    run(home_path(), settings(config, runner=runner), _print_line, None if quiet else sys.stderr, started)


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
