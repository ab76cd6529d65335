"""The environment of an agent that the daemon starts: the person's variables without Quarterdeck's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping

OWN_PREFIX = "QUARTERDECK_"
TAG = "QUARTERDECK_TAG"
COLOURS = {"COLORTERM": "truecolor"}
"""For agents in terminals: both pty and tmux show every colour, and no value of TERM says so."""


def agent_environment(environ: Mapping[str, str], tag: str, dropped: Collection[str]) -> dict[str, str]:
    """The environment of an owned session; its hooks carry the tag. `dropped` are the variables that agents set for
    their children: the daemon may have been started by one."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(OWN_PREFIX) and name not in dropped and "MESSAGING_TOKEN" not in name
    }
    return {**kept, TAG: tag}
