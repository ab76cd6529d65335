"""The command of a tmux pane: an agent below its supervisor, with the environment of its spec and no other."""

from __future__ import annotations

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.sessions.host_program import HOSTS
from quarterdeck.sessions.launcher import LaunchSpec

ENV = "/usr/bin/env"
MAX_PROMPT = 8192
TMUX_VARIABLES = ("TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")
"""These name the private server: with them an agent's own tmux commands would affect all sessions."""

REPLACED = ("SHELL", "PATH")
"""tmux sets these to its own values."""


def pane_command(start: StartSession, spec: LaunchSpec, *, shell: str | None) -> list[str]:
    """The command line to run in the pane. It holds no secret."""
    dropped = [word for name in (*TMUX_VARIABLES, *REPLACED) for word in ("-u", name)]
    kept = [f"{name}={spec.environment[name]}" for name in REPLACED if name in spec.environment]
    supervisor = HOSTS.command("supervisor.py", "--die-with-parent", "--")
    return [ENV, *dropped, *kept, *supervisor, *_program(start, spec, shell)]


def _program(start: StartSession, spec: LaunchSpec, shell: str | None) -> list[str]:
    if start.shell:
        return [shell or spec.environment.get("SHELL") or "/bin/sh"]
    short = start.prompt is not None and len(start.prompt.encode()) <= MAX_PROMPT
    arguments = AGENTS[spec.agent].terminal_arguments
    return [str(spec.program), *arguments(start, settings=spec.hooks, prompt=start.prompt if short else None)]
