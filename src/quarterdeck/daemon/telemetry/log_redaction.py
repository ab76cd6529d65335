"""Keeps logs safe: no secrets, no agent's input above debug, no characters that act on a terminal."""

from __future__ import annotations

import re
import sys
import traceback
from collections import deque
from collections.abc import Mapping
from typing import Any

from quarterdeck.core.text.audit.redaction import HIDDEN, without_secrets
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError

MAX_TEXT = 2_000
MAX_FRAMES = 40
MAX_SECRETS = 64
MAX_ITEMS = 50
# Replacing a shorter text everywhere would garble the log.
SHORTEST_SECRET = 8

SECRET_KEYS = re.compile(r"authorization|cookie|token|secret|password|api_?key|headers", re.IGNORECASE)
AGENT_KEYS = frozenset(
    {"answers", "body", "color_message", "command", "content", "data", "last_assistant_message", "payload", "prompt"}
    | {"input", "raw", "tool_input", "tool_response", "updated_input"}
)
"""Keys under which an agent's or a person's own text may be."""


class Redactor:
    """A step of the log's pipeline. `learn` adds a secret that must not appear in any form."""

    def __init__(self) -> None:
        self._secrets: deque[str] = deque(maxlen=MAX_SECRETS)

    def learn(self, secret: str) -> None:
        if len(secret) >= SHORTEST_SECRET and secret not in self._secrets:
            self._secrets.append(secret)

    def __call__(self, logger: Any, method: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """The entry as it may be written."""
        keep = event.get("level", method) == "debug"
        shown = {
            key: HIDDEN if SECRET_KEYS.search(key) else self._clean(value, 0)
            for key, value in event.items()
            if key != "exc_info" and (keep or key not in AGENT_KEYS)
        }
        if event.get("exc_info"):
            shown["exception"] = [self.text(line) for line in exception_lines(event["exc_info"], keep_words=keep)]
        return shown

    def _clean(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth < 4 and isinstance(value, Mapping):
            items = list(value.items())[:MAX_ITEMS]
            return {
                self.text(str(k)): HIDDEN if SECRET_KEYS.search(str(k)) else self._clean(v, depth + 1) for k, v in items
            }
        if depth < 4 and isinstance(value, list | tuple | set | frozenset):
            return [self._clean(one, depth + 1) for one in list(value)[:MAX_ITEMS]]
        return self.text(value if isinstance(value, str) else repr(value))

    def text(self, text: str) -> str:
        """The text as one visible line without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = without_secrets(text)
        shown = one_line(text[: MAX_TEXT + 1])
        return shown if len(text) <= MAX_TEXT else f"{shown[:MAX_TEXT]}… ({len(text)} characters)"


def exception_lines(found: Any, *, keep_words: bool) -> list[str]:
    """The place and the kind of an error, innermost last. Its own text may quote an agent's input, so above debug only
    the text of Quarterdeck's and the system's errors is kept."""
    error = found[1] if isinstance(found, tuple) else sys.exc_info()[1] if found is True else found
    lines: list[str] = []
    while isinstance(error, BaseException) and len(lines) < MAX_FRAMES:
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        words = str(error) if keep_words or isinstance(error, QuarterdeckError | OSError) else ""
        part = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        lines = [*part, f"{type(error).__module__}.{type(error).__qualname__}: {words}".rstrip(": "), *lines]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines
