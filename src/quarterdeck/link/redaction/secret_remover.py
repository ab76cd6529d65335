"""Removes every secret from text and JSON before it leaves the machine, and marks its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from quarterdeck.core.text.audit.redaction import HIDDEN
from quarterdeck.link.redaction import random_strings, secret_formats, secret_labels

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
_BYTE_HINTS = tuple(hint.replace('"', '\\"').encode() for hint in secret_labels.HINTS)
_BYTE_PLACES = tuple(place.encode() for place in PLACES)
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
        if not self._needs_look(body):
            return body
        return _encode(self.clean(_decode(body)))

    def clean(self, value: Any) -> Any:
        """JSON that was read, without secrets. A secret that a word before it gives away may be alone elsewhere, as in
        the words of a command: what was found is removed everywhere, here and in what comes next."""
        found: list[str] = []
        shown = self.value(value, found=found)
        for secret in (secret for secret in found if is_worth_learning(secret)):
            self._recent.pop(secret, None)
            self._recent[secret] = _encode(secret)[1:-1]
            while len(self._recent) > MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return self.value(shown) if found else shown

    def _needs_look(self, body: bytes) -> bool:
        lower = body.lower().replace(COUNTS, b"")
        return (
            any(hint in lower for hint in _BYTE_HINTS)
            or any(place in body for place in _BYTE_PLACES)
            or b'"raw"' in body
            or b'"payload"' in body
            or any(secret in body for secret in (*self._known.values(), *self._recent.values()))
            or any(map(self._chunks.__getitem__, _BYTE_CHUNK.findall(body)))
        )

    def value(self, value: Any, name: str = "", found: list[str] | None = None) -> Any:
        """JSON that was read, without secrets, in one walk. `name` is the key that the value has, `found` receives the
        secrets that a word before them gave away."""
        if isinstance(value, str):
            return self.text(value, name, found)
        if isinstance(value, dict):
            return {
                self.text(key): below
                if key in IDS and not isinstance(below, dict | list)
                else self.value(below, key, found)
                for key, below in value.items()
                if key not in DROPPED
            }
        if isinstance(value, list):
            return [self.value(below, name, found) for below in value]
        return value

    def text(self, text: str, name: str = "", found: list[str] | None = None) -> str:
        """A text without secrets. `name` is the key that it has: under the name of a secret, all of it is one."""
        for secret in (*self._known, *self._recent):
            if secret in text:
                text = text.replace(secret, HIDDEN)
        if name and secret_labels.LABEL.fullmatch(name) and "\n" not in text:
            if not secret_labels.is_secret_value(text, is_tight=True, label=name):
                return text
            if found is not None:
                found.append(text)
            return HIDDEN
        if any(place in text for place in PLACES):
            text = secret_formats.without_tokens(secret_formats.without_keys_and_addresses(text, HIDDEN, found), HIDDEN)
        lower = text.lower()
        if any(hint in lower for hint in secret_labels.HINTS):
            text = secret_labels.without_labelled(text, HIDDEN, found)
        if any(self._chunks[chunk.encode()] for chunk in secret_formats.CHUNK.findall(text)):
            text = random_strings.without_random_strings(secret_formats.without_tokens(text, HIDDEN), HIDDEN)
        return text
