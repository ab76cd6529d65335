"""The kinds of sessions of the matrix: one that a person started in a terminal, and three that the daemon runs."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tests.support.claude import Json
from tests.support.daemon import until
from tests.support.owned_claude import Owner
from tests.support.tmux import Terminal

KINDS = OBSERVED, PTY, TMUX, SDK = ("observed", "pty", "tmux", "sdk")


class Session(Protocol):
    """A session that runs and gets prompts."""

    kind: str
    pid: int

    def prompt(self, words: str) -> None: ...
    def interrupt(self) -> None: ...
    def end(self) -> None: ...


class Observed:
    """Claude Code in a terminal of its own."""

    kind = OBSERVED

    def __init__(self, owner: Owner) -> None:
        self._terminal = Terminal(owner.claude).ready()
        self.pid = self._terminal.pid

    def prompt(self, words: str) -> None:
        self._terminal.type_prompt(words)

    def interrupt(self) -> None:
        """As a person does who answers no."""
        self._terminal.keys("Escape")

    def end(self) -> None:
        self._terminal.close()


class Owned:
    """Claude Code as the daemon starts it."""

    def __init__(self, owner: Owner, kind: str, prompt: str | None = None) -> None:
        self.kind, self._owner = kind, owner
        first = {"prompt": prompt} if prompt else {}
        self._session: Json = owner.starts(kind, permission_mode="default", **first)
        self.pid = int(self._session["pid"] or self._pid())
        if prompt is None and kind != SDK:
            until(lambda: status(owner, self.pid) == "idle", every=0.1, what=f"an idle {kind} session")

    def _pid(self) -> int:
        return int(until(lambda: self._owner.sessions()[self._session["session_id"]]["pid"], every=0.1, what="a pid"))

    def prompt(self, words: str) -> None:
        self._owner.sends(self._session, words)

    def interrupt(self) -> None:
        self._owner.command(self._session, "interrupt")

    def end(self) -> None:
        with suppress(OSError):
            self._owner.command(self._session, "end")


def start(owner: Owner, kind: str) -> Session:
    """A session at its empty prompt."""
    return Observed(owner) if kind == OBSERVED else Owned(owner, kind)


def status(owner: Owner, pid: int) -> str:
    """What Claude Code says of itself: idle, busy or waiting; empty when there is no such process."""
    file: Path = owner.claude.config / "sessions" / f"{pid}.json"
    try:
        return str(json.loads(file.read_text()).get("status", ""))
    except (OSError, ValueError):
        return ""
