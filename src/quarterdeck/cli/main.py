"""The `quarterdeck` command, short `qd`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run one command. The forwarder is told apart first: it must start as fast as Python does. Ctrl-C ends any other
    with 130 and no traceback, even before the command is read."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        from quarterdeck import hook

        hook.main(sys.argv[2:])
    try:
        from quarterdeck.cli.app import cli_for

        cli_for(sys.argv[1:])(prog_name="quarterdeck")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
