"""An agent's extensions: plugins, their marketplaces, and MCP servers; and the redaction of secrets in them."""

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
"""Characters of a secret to look for, since a shorter one occurs in other words; and of the output to keep."""


class Plugin(Struct, frozen=True, kw_only=True):
    """An installed plugin; `folder` is where it is read from, `errors` are the agent's own about it."""

    plugin_id: str
    version: str | None = None
    enabled: bool = False
    scope: str = ""
    project: str | None = None
    folder: str | None = None
    errors: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


class PluginOffer(Struct, frozen=True, kw_only=True):
    """A plugin that a marketplace offers."""

    plugin_id: str
    description: str = ""
    version: str | None = None


class Marketplace(Struct, frozen=True, kw_only=True):
    """A source of plugins."""

    name: str
    source: str
    location: str | None = None


class McpServer(Struct, frozen=True, kw_only=True):
    """A configured MCP server, without the values of its secrets, and the result of its last check. `login` is the
    command that signs in to it, if it requires that."""

    name: str
    transport: str
    scope: str
    project: str | None = None
    config: dict[str, Any] = {}
    status: str = "unchecked"
    last_error: str | None = None
    checked_at: float | None = None
    login: str | None = None


class ServerHealth(Struct, frozen=True, kw_only=True):
    """The result of a check of a server: connected, failed, pending, needs_auth, disabled or unknown."""

    status: str
    error: str | None = None


class NewMcpServer(Struct, frozen=True, kw_only=True):
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


def redact_output(output: str, secrets: Iterable[str]) -> str:
    """The agent's output for the feed: without these secrets, without anything that looks like one, and cut short."""
    for secret in sorted((s for s in secrets if len(s) >= SHORTEST), key=len, reverse=True):
        output = output.replace(secret, HIDDEN)
    output = QUERY.sub(f"?{HIDDEN}", SHAPED.sub(HIDDEN, output))
    return output if len(output) <= LONGEST else output[:LONGEST] + "…"


def redact_args(args: Sequence[str]) -> list[str]:
    """The arguments of a command, with anything that looks like a secret hidden."""
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
