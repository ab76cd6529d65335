"""Makes text safe for a terminal: characters that control it, hide in it or reorder it are spelled out."""

from __future__ import annotations

import re

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
