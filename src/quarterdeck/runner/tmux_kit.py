"""What runs in a tmux pane of ours: an agent below its keeper, with the environment it was given and no other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from quarterdeck.agents.claude.starting import terminal_arguments
from quarterdeck.core.orders import Start
from quarterdeck.runner.launching import Kit

ENV = "/usr/bin/env"
KEEPER = str(Path(__file__).with_name("keeper.py"))
MAX_PROMPT = 8192
FROM_TMUX = ("TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")
"""These say where the server of ours is: what an agent does with tmux would fall on all sessions."""

REPLACED = ("SHELL", "PATH")
"""tmux has words of its own for these."""


def command(start: Start, kit: Kit, *, settings: str, shell: str | None) -> list[str]:
    """The words to run in the pane. Nothing secret is among them."""
    dropped = [word for name in (*FROM_TMUX, *REPLACED) for word in ("-u", name)]
    given = [f"{name}={kit.environment[name]}" for name in REPLACED if name in kit.environment]
    keeper = [sys.executable, "-I", "-S", KEEPER, "--die-with-parent", "--"]
    return [ENV, *dropped, *given, *keeper, *_program(start, kit, settings, shell)]


def _program(start: Start, kit: Kit, settings: str, shell: str | None) -> list[str]:
    if start.shell:
        return [shell or kit.environment.get("SHELL") or "/bin/sh"]
    short = start.prompt is not None and len(start.prompt.encode()) <= MAX_PROMPT
    return [str(kit.claude), *terminal_arguments(start, settings=settings, prompt=start.prompt if short else None)]


def write_private(path: Path, text: str) -> None:
    """A file that only we can read: it holds a token, which on a command line everybody could."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
