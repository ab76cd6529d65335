"""What a text must not tell on: credentials, known by what stands before them or by their shape."""

from __future__ import annotations

import re

HIDDEN = "⟨redacted⟩"

_NAMED = re.compile(
    r"((?:bearer|basic)\s+|\b\w*(?:token|secret|password|api_?key)=|[?&](?:code|key)=)[^\s&\"',;]+", re.IGNORECASE
)
_SHAPED = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}"
    r"|(?<![A-Za-z0-9_-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{43,}"
)
"""An API key; one of our tokens: 43 letters, small and large, digits, `-` and `_`."""


def without_secrets(text: str) -> str:
    """The text with every credential in it hidden."""
    return _SHAPED.sub(HIDDEN, _NAMED.sub(lambda found: found[1] + HIDDEN, text))
