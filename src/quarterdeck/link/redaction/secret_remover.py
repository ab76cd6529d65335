"""Removes every secret from text and JSON before it leaves the machine, and marks its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from quarterdeck.core.text.audit.redaction import HIDDEN
from quarterdeck.link.redaction import random_strings, secret_formats, secret_labels

SHORTEST, SHORTEST_KEY = 4, 14
"""Shorter texts and keys hold no secret."""

SHORTEST_KNOWN = 8
"""A shorter text is not replaced everywhere: it would garble what is innocent."""

IDS = frozenset(
    {"seq_no", "event_id", "session_id", "run_id", "runner_id", "request_id", "tool_use_id", "digest", "updated_digest"}
    | {"agent_id", "actor_id", "hook_request_id", "rule_id", "rule_ids", "project_id", "token_id", "device_id", "hash"}
    | {"kind", "at", "level", "todo_id", "client_id", "agent_session_id", "moved_to", "ids"}
)
"""Fields of Quarterdeck's own that hold an id, a number or a word."""

DROPPED = frozenset({"verifier", "raw", "payload"})
"""Fields that never leave: the verifier of a token, and raw payloads."""

COUNTS = b'_tokens"'
"""The end of keys that count tokens of a model, which many events have."""

PLACES = ("://", "-----BEGIN", "PuTTY-User", "FlyV1 ", ":AA")
"""What the other secrets with a form have in them."""

MOST_RECENT = 32
"""Secrets that were found lately and are removed wherever they come again, as in the result of a command."""

MOST_KNOWN_CHUNKS = 20_000

_decode, _encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
_BYTE_HINTS = tuple((hint, hint.replace('"', '\\"').encode()) for hint in secret_labels.HINTS)
_BYTE_PLACES = tuple(place.encode() for place in (*PLACES, *(f'"{field}"' for field in sorted(DROPPED))))
_BYTE_CHUNK = re.compile(secret_formats.CHUNK.pattern.encode())


def is_worth_learning(secret: str) -> bool:
    """True for a text that means nothing else elsewhere: long enough, and no plain word."""
    return len(secret) >= SHORTEST_KNOWN and not secret.isalpha() and not secret.isdigit() and HIDDEN not in secret


class _SecretChunks(dict[bytes, bool]):
    """Whether a text without a break holds a secret. Sessions, events and tool calls have ids that come again and
    again, and each is looked at once."""

    def __missing__(self, chunk: bytes) -> bool:
        text = chunk.decode()
        shown = random_strings.without_random_strings(secret_formats.without_tokens(text, ""), "")
        if len(self) >= MOST_KNOWN_CHUNKS:
            self.clear()
        self[chunk] = shown != text
        return self[chunk]


class SecretRemover:
    """Removes secrets: those that are `known` literally, and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: dict[str, bytes] = {}
        self._recent: dict[str, bytes] = {}
        self._chunks = _SecretChunks()
        for secret in known:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Remove this text everywhere from now on."""
        if len(secret) >= SHORTEST_KNOWN:
            self._known[secret] = _encode(secret)[1:-1]

    def body(self, body: bytes) -> bytes:
        """JSON without secrets: the same bytes when there are none, which a quick look finds out for most."""
        lower = body.lower().replace(COUNTS, b"")
        hints = [hint for hint, needle in _BYTE_HINTS if needle in lower]
        if not hints and not self._needs_look(body):
            return body
        return _encode(self._clean(_decode(body), hints))

    def _needs_look(self, body: bytes) -> bool:
        return (
            any(place in body for place in _BYTE_PLACES)
            or any(secret in body for secret in (*self._known.values(), *self._recent.values()))
            or any(map(self._chunks.__getitem__, _BYTE_CHUNK.findall(body)))
        )

    def clean(self, value: Any) -> Any:
        """JSON that was read, without secrets."""
        return self._clean(value, secret_labels.HINTS)

    def _clean(self, value: Any, hints: Sequence[str]) -> Any:
        """A secret that a word before it gives away may be alone elsewhere, as in the words of a command: what was
        found is removed everywhere, here and in what comes next."""
        walk = _Walk((*self._known, *self._recent), self._chunks, hints)
        shown = walk.value(value)
        if not walk.found:
            return shown
        for secret in filter(is_worth_learning, walk.found):
            self._recent.pop(secret, None)
            self._recent[secret] = _encode(secret)[1:-1]
        while len(self._recent) > MOST_RECENT:
            del self._recent[next(iter(self._recent))]
        return _Walk((*self._known, *self._recent), self._chunks, hints).value(shown)

    def text(self, text: str) -> str:
        """A text without secrets."""
        return _Walk((*self._known, *self._recent), self._chunks, secret_labels.HINTS).text(text)


class _Walk:
    """One walk over a value. `known` are removed literally; of the words before secrets only the `hints` occur at all.
    `found` collects the secrets that such a word gave away."""

    def __init__(self, known: Sequence[str], chunks: _SecretChunks, hints: Sequence[str]) -> None:
        self._known, self._chunks, self._hints = known, chunks, hints
        self.found: list[str] = []

    def value(self, value: Any, name: str = "") -> Any:
        """A value without secrets. `name` is the key that it has."""
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, dict):
            return {
                (self.text(key) if len(key) >= SHORTEST_KEY else key): below
                if key in IDS and not isinstance(below, dict | list)
                else self.value(below, key)
                for key, below in value.items()
                if key not in DROPPED
            }
        if isinstance(value, list):
            return [self.value(below, name) for below in value]
        return value

    def text(self, text: str, name: str = "") -> str:
        """A text without secrets. Under the name of a secret, all of it is one."""
        if len(text) < SHORTEST:
            return text
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        if self._hints and name and secret_labels.LABEL.fullmatch(name) and "\n" not in text:
            if not secret_labels.is_secret_value(text, is_tight=True, label=name):
                return text
            self.found.append(text)
            return HIDDEN
        if any(place in text for place in PLACES):
            text = secret_formats.without_keys_and_addresses(text, HIDDEN, self.found)
            text = secret_formats.without_tokens(text, HIDDEN)
        if self._hints:
            lower = text.lower()
            if any(hint in lower for hint in self._hints):
                text = secret_labels.without_labelled(text, HIDDEN, self.found)
        if any(self._chunks[chunk.encode()] for chunk in secret_formats.CHUNK.findall(text)):
            text = random_strings.without_random_strings(secret_formats.without_tokens(text, HIDDEN), HIDDEN)
        return text
