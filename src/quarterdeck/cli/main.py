"""The `quarterdeck` command, short `qd`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run one command. `hook` is handled before any other import, because agents wait for it. Ctrl-C ends every other
    command with exit code 130 and no traceback, even while it is being imported."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"--help", "-h"} & set(words):
        from quarterdeck import hook

        hook.main(words[1:])
    try:
        if (answer := quick_answer(words)) is None:
            run(words)
        else:
            sys.stdout.write(answer)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def quick_answer(words: list[str]) -> str | None:
    """What is printed for the help of `qd`, its version or a completion, for which Typer is not imported; None for
    everything else."""
    if words in (["--version"], ["-V"], ["version"]):
        from quarterdeck.cli.quick.root_help import version_text

        return version_text()
    if words in (["--help"], ["-h"], ["help"]):
        from quarterdeck.cli.quick.command_index import read_index
        from quarterdeck.cli.quick.root_help import root_help

        return root_help(read_index())
    if words[:1] == ["__complete"]:
        from quarterdeck.cli.quick.completion import completion_text

        return completion_text(words[1:])
    return None


def run(words: list[str]) -> None:
    """Run a command with Typer. `qd help COMMAND` is `qd COMMAND --help`."""
    from quarterdeck.cli.app import cli_for

    if words[:1] == ["help"] and not {"--help", "-h"} & set(words):
        words = [*words[1:], "--help"]
    cli_for(words)(words, prog_name="qd")
