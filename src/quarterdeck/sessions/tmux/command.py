"""What runs in a tmux pane of ours: an agent below its keeper, with the environment it was given and no other."""

from __future__ import annotations

import sys
from pathlib import Path

from quarterdeck.agents.claude.launch_args import terminal_arguments
from quarterdeck.core.engine.session_messages import Start
from quarterdeck.sessions.launcher import Kit

ENV = "/usr/bin/env"
KEEPER = str(Path(__file__).parent.parent / "host" / "supervisor.py")
MAX_PROMPT = 8192
FROM_TMUX = ("TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")
"""These say where the server of ours is: what an agent does with tmux would fall on all sessions."""

REPLACED = ("SHELL", "PATH")
"""tmux has words of its own for these."""


def command(start: Start, kit: Kit, *, shell: str | None) -> list[str]:
    """The words to run in the pane. Nothing secret is among them."""
    dropped = [word for name in (*FROM_TMUX, *REPLACED) for word in ("-u", name)]
    given = [f"{name}={kit.environment[name]}" for name in REPLACED if name in kit.environment]
    keeper = [sys.executable, "-I", "-S", KEEPER, "--die-with-parent", "--"]
    return [ENV, *dropped, *given, *keeper, *_program(start, kit, shell)]


def _program(start: Start, kit: Kit, shell: str | None) -> list[str]:
    if start.shell:
        return [shell or kit.environment.get("SHELL") or "/bin/sh"]
    short = start.prompt is not None and len(start.prompt.encode()) <= MAX_PROMPT
    return [str(kit.claude), *terminal_arguments(start, settings=kit.hooks, prompt=start.prompt if short else None)]
