"""The layout of the key deck, as `deck.yaml` gives it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

SLOTS = 9
"""Keys of one page."""

ArmStyle = Literal["queue", "prefill"]
DialMode = Literal["os_scroll", "vscode_terminal_scroll"]
EscMode = Literal["cancel_only", "cancel_and_passthrough"]


class KeyAction(StrEnum):
    """What a key that is no prompt does: decide the shown request, or press a key of the session's terminal."""

    ALLOW = "allow"
    DENY = "deny"
    ALWAYS = "always"
    NEXT = "next"
    ANSWER_1 = "answer_1"
    ANSWER_2 = "answer_2"
    ANSWER_3 = "answer_3"
    ANSWER_4 = "answer_4"
    INTERRUPT = "interrupt"
    ENTER = "enter"
    ESC = "esc"
    CTRL_C = "ctrl_c"
    EXPORT = "export"


class DeckPrompt(Struct, frozen=True, kw_only=True):
    """A text that a key arms. `queue` sends it whole when you press Enter; `prefill` types it at once, for you to look
    at, and Enter sends it."""

    label: str
    sublabel: str = ""
    claude_command: str = ""
    fallback_text: str = ""
    style: ArmStyle = "queue"

    def effective_command(self, *, is_claude: bool) -> str:
        """The text for this agent; the other one where it has none of its own."""
        own, other = self.claude_command, self.fallback_text
        return (own or other) if is_claude else (other or own)


class DeckGate(Struct, frozen=True, kw_only=True):
    """A key with an action and words of its own."""

    label: str
    action: KeyAction
    sublabel: str = ""


class DeckSlot(Struct, frozen=True, kw_only=True):
    """One key: a prompt, a gate or a decision by name, or nothing."""

    prompt: str | None = None
    gate: str | None = None
    decision: KeyAction | None = None


class DeckPage(Struct, frozen=True, kw_only=True):
    """Nine keys."""

    slots: tuple[DeckSlot, ...]
    name: str = ""


class DeckLayout(Struct, frozen=True, kw_only=True):
    """The whole of `deck.yaml`. `projects` maps a folder to the pages that replace the usual ones in it. `problem` is
    what is wrong with the file now; the layout is then the last good one."""

    pages: tuple[DeckPage, ...]
    prompts: dict[str, DeckPrompt] = {}
    gates: dict[str, DeckGate] = {}
    dial_mode: DialMode = "os_scroll"
    esc_when_pending: EscMode = "cancel_only"
    projects: dict[str, tuple[DeckPage, ...]] = {}
    problem: str = ""
