"""What an agent can be extended with: plugins, the marketplaces they come from, and MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

HIDDEN = "•••"
SECRET = re.compile(r"token|secret|passw|key|auth|credential|bearer", re.IGNORECASE)
SHAPED = re.compile(r"sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|eyJ[A-Za-z0-9_-]{20,}")

QUERY = re.compile(r"(?<=\S)\?\S+")
SHORTEST, LONGEST = 4, 500


class Plugin(Struct, frozen=True, kw_only=True):
    """An installed plugin; `folder` is where it is read from, `errors` what the agent says is wrong with it."""

    plugin_id: str
    version: str | None = None
    enabled: bool = False
    scope: str = ""
    project: str | None = None
    folder: str | None = None
    errors: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


class Offer(Struct, frozen=True, kw_only=True):
    """A plugin that a marketplace has."""

    plugin_id: str
    description: str = ""
    version: str | None = None


class Marketplace(Struct, frozen=True, kw_only=True):
    """Where plugins come from."""

    name: str
    source: str
    location: str | None = None


class Server(Struct, frozen=True, kw_only=True):
    """An MCP server as it is configured, without the values of its secrets, and how it did when it was last tried."""

    name: str
    transport: str
    scope: str
    project: str | None = None
    config: dict[str, Any] = {}
    status: str = "unchecked"
    last_error: str | None = None
    checked_at: float | None = None


class Health(Struct, frozen=True, kw_only=True):
    """How a server did: connected, failed, pending, needs_auth, disabled or unknown."""

    status: str
    error: str | None = None


class NewServer(Struct, frozen=True, kw_only=True):
    """A server to add."""

    name: str
    transport: str
    scope: str
    target: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    @property
    def secrets(self) -> list[str]:
        return [*self.env.values(), *self.headers.values()]


def told_without(words: str, secrets: Iterable[str]) -> str:
    """Words of the agent for the record: without these, without what looks like a secret, and not long."""
    for secret in sorted((s for s in secrets if len(s) >= SHORTEST), key=len, reverse=True):
        words = words.replace(secret, HIDDEN)
    words = QUERY.sub(f"?{HIDDEN}", SHAPED.sub(HIDDEN, words))
    return words if len(words) <= LONGEST else words[:LONGEST] + "…"


def without_secrets(args: Sequence[str]) -> list[str]:
    """The words of a command with what looks like a secret left out."""
    shown: list[str] = []
    hide = False
    for word in args:
        name, equals, value = word.partition("=")
        named = bool(SECRET.search(name)) and (bool(equals) or word.startswith("-"))
        if hide and not word.startswith("-"):
            shown.append(HIDDEN)
        elif named and equals and value:
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(SHAPED.sub(HIDDEN, word))
        hide = named and not equals and word.startswith("-")
    return shown
