"""The `quarterdeck` command, short `qd`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run one command. The forwarder is told apart first: it must start as fast as Python does."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        from quarterdeck import hook

        hook.main(sys.argv[2:])
    from quarterdeck.cli.app import cli_for

    cli_for(sys.argv[1:])(prog_name="quarterdeck")
