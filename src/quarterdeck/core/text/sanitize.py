"""Makes text safe for a terminal: characters that control it, hide in it or reorder it are spelled out, and counted."""

from __future__ import annotations

import re
from typing import Any

from quarterdeck.core.model.payload import texts_in

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with every control, bidi, zero-width and tag character spelled out. Tabs and newlines stay."""
    return UNSEEN.sub(lambda match: f"⟨{ord(match.group()):x}⟩", text)


def one_line(text: str) -> str:
    """The text made visible, on one line."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def hidden_parts(tool_input: dict[str, Any], cut_bytes: int | None = None) -> list[str]:
    """The parts of an input that a person would miss, in words: what a list leaves out (of `cut_bytes` in all), and
    characters that do not show."""
    if cut_bytes is not None:
        return [f"{cut_bytes:,} bytes in all"]
    hidden = sum(len(UNSEEN.findall(text)) for text in texts_in(tool_input, keys=True))
    if not hidden:
        return []
    return ["1 hidden character" if hidden == 1 else f"{hidden} hidden characters"]
