"""Prompts typed into a tmux pane: typing waits for an agent that has just started, and only for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from quarterdeck.agents.registry import AGENTS
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.prompt_input import PanePrompter
from quarterdeck.sessions.tmux.server import TmuxServer

RULE = "─" * 20


class Screen(TmuxServer):
    """A pane whose program draws its composer at a certain read, and not while it is `covered`."""

    def __init__(self, drawn_at: int) -> None:
        super().__init__(Path("/nonexistent"))
        self.covered = False
        self.typed = ""
        self.sent: list[str] = []
        self._looks_left = drawn_at

    async def execute(
        self, *commands: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> str:
        match commands[0]:
            case ("display-message", *_):
                self._looks_left -= 1
                return f"0\n{self._shown()}"
            case ("load-buffer", *_):
                self.typed = stdin.decode()
            case ("send-keys", *_, "Enter"):
                self.sent.append(self.typed)
                self.typed = ""
        return ""

    def _shown(self) -> str:
        drawn = self._looks_left < 0 and not self.covered
        return f"{RULE}\n❯\xa0{self.typed}\n{RULE}" if drawn else "Welcome"


async def test_typing_waits_for_an_idle_agent_that_has_not_drawn_its_composer() -> None:
    screen = Screen(drawn_at=3)
    typist = PanePrompter(screen, "%0", AGENTS["claude"], lambda: "idle", ready_seconds=0.0)
    await typist.type("hello")
    assert screen.sent == ["hello"]


async def test_a_prompt_is_refused_when_a_ready_agent_shows_something_else() -> None:
    screen = Screen(drawn_at=0)
    typist = PanePrompter(screen, "%0", AGENTS["claude"], lambda: "idle", ready_seconds=0.1)
    await typist.type("hello")
    screen.covered = True
    with pytest.raises(Refused, match="shows no prompt"):
        await typist.type("never")
    assert screen.sent == ["hello"]
