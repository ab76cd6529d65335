"""Removes credentials from text. They are recognised by the word before them or by their shape."""

from __future__ import annotations

import re

HIDDEN = "⟨redacted⟩"

_LABELLED = re.compile(
    r"((?:bearer|basic)\s+|\b\w*(?:token|secret|password|api_?key)=|[?&](?:code|key)=)[^\s&\"',;]+", re.IGNORECASE
)
_SHAPED = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}"
    r"|(?<![A-Za-z0-9_-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{43,}"
)
"""An API key, or a Quarterdeck token: 43 letters of both cases, digits, `-` and `_`."""


def without_secrets(text: str) -> str:
    """The text with every credential replaced by `HIDDEN`."""
    return _SHAPED.sub(HIDDEN, _LABELLED.sub(lambda match: match[1] + HIDDEN, text))
