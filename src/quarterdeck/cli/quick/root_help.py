"""The help of `qd` and its version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quarterdeck import __version__
from quarterdeck.cli.quick.command_index import CommandIndex

ADDRESS_HELP = "Address of another machine's daemon, like https://host:4180."
FILE_HELP = "File with a token for it, made there by: qd tokens create."
OPTIONS = (
    ("--url URL", ADDRESS_HELP),
    ("--token-file F", FILE_HELP),
    ("-V, --version", "Print the version."),
    ("-h, --help", "Show this message and exit."),
)
FOOTER = "`qd COMMAND --help` describes a command; `man qd` describes all of them."


def root_help(index: CommandIndex) -> str:
    """The help of `qd`: its commands by what they are for."""
    lines = ["Usage: qd [OPTIONS] COMMAND [ARGS]…", ""]
    lines += [f"  {line}".rstrip() for line in index.help.splitlines()]
    summaries = {name: index.commands[name].summary for _, names in index.sections for name in names}
    width = max(map(len, [*summaries, *(names for names, _ in OPTIONS)]))
    lines += _section("Options", OPTIONS, width)
    for heading, names in index.sections:
        lines += _section(heading, [(name, summaries[name]) for name in names], width)
    return "\n".join([*lines, "", FOOTER]) + "\n"


def _section(heading: str, rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    yield ""
    yield f"{heading}:"
    yield from (f"  {name:<{width}}  {words}" for name, words in rows)


def version_text() -> str:
    return f"quarterdeck {__version__}\n"
