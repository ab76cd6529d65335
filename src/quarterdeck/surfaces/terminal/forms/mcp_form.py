"""An MCP server that a person adds: the choices, and the server from the typed texts."""

from __future__ import annotations

import shlex
from typing import Any

TRANSPORTS = ("stdio", "http", "sse")
SCOPES = (("user", "yours everywhere"), ("local", "yours in a project"), ("project", "the project's"))


def read_server(transport: str, target: str, pairs: str) -> dict[str, Any] | str:
    """The server's command and variables, or its address and headers; or an error text."""
    stdio = transport == "stdio"
    read = read_pairs(pairs, "=" if stdio else ":")
    if isinstance(read, str):
        return read
    if not stdio:
        return {"url": target, "headers": read} if target else "a server needs an address"
    words = read_command_line(target)
    return words if isinstance(words, str) else {"command": words[0], "args": words[1:], "env": read}


def read_pairs(text: str, sign: str) -> dict[str, str] | str:
    """The `NAME=value` or `Name: value` pairs, one per line; or an error text that names the first bad line."""
    pairs: dict[str, str] = {}
    for row in filter(str.strip, text.splitlines()):
        name, separator, value = row.partition(sign)
        if not separator or not name.strip():
            return f"write one per line, like {'API_KEY=…' if sign == '=' else 'Authorization: …'}, not {row.strip()}"
        pairs[name.strip()] = value.strip()
    return pairs


def read_command_line(text: str) -> list[str] | str:
    """The words of a command line, or an error text."""
    try:
        return shlex.split(text) or "a stdio server needs a command, like npx -y some-server"
    except ValueError as error:
        return f"the command cannot be read: {error}"
