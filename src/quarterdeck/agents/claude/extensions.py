"""Plugins, marketplaces and MCP servers as Claude Code describes them: in its configuration, as JSON, or as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from quarterdeck.core.workspace.extensions import (
    HIDDEN,
    Marketplace,
    McpServer,
    NewMcpServer,
    Plugin,
    PluginOffer,
    ServerHealth,
    redact_args,
)
from quarterdeck.core.workspace.git_output import plain_remote
from quarterdeck.errors import BadInput
from quarterdeck.wire import read_json

TRANSPORTS = ("stdio", "http", "sse", "ws")
_ITEM = re.compile(r"  ❯ (\S.*)")
_FIELD = re.compile(r"    ([A-Z][A-Za-z ]*): (.*)")
_SERVER = re.compile(r"(\S+): (.*?) - ([✔✓✘✗⏸⚠!△⊘○])\s*(.*)")
_STATUS = (
    ("connected", "connected"),
    ("needs auth", "needs_auth"),
    ("pending", "pending"),
    ("disabled", "disabled"),
    ("failed", "failed"),
    ("error", "failed"),
)
EMPTY_LISTS = ("No plugins installed", "No marketplaces configured")


def read_plugins(text: str) -> list[Plugin] | None:
    """`plugin list`, with --json or without; None when it can be read neither way."""
    listed = _json_list(text)
    if listed is not None:
        return [_plugin(one) for one in listed if isinstance(one.get("id"), str)]
    items = _items(text, "Installed plugins:")
    return None if items is None else [_plugin_in_text(name, fields) for name, fields in items]


def _plugin(one: dict[str, Any]) -> Plugin:
    errors = one.get("errors")
    return Plugin(
        plugin_id=one["id"],
        version=_text(one.get("version")),
        enabled=one.get("enabled") is True,
        scope=_text(one.get("scope")) or "",
        project=_text(one.get("projectPath")),
        folder=_text(one.get("readFromFolder")) or _text(one.get("installPath")),
        errors=tuple(map(str, errors)) if isinstance(errors, list) else (),
    )


def _plugin_in_text(name: str, fields: dict[str, str]) -> Plugin:
    return Plugin(
        plugin_id=name,
        version=fields.get("Version"),
        enabled=fields.get("Status", "").endswith("enabled"),
        scope=fields.get("Scope", ""),
        folder=fields.get("Read from"),
    )


def read_offers(text: str) -> list[PluginOffer] | None:
    """`plugin list --available --json`."""
    try:
        value = read_json(text.encode())
    except BadInput:
        return None
    offers = value.get("available") if isinstance(value, dict) else None
    return [
        PluginOffer(
            plugin_id=one["pluginId"],
            description=_text(one.get("description")) or "",
            version=_text(one.get("version")),
        )
        for one in offers or ()
        if isinstance(one, dict) and isinstance(one.get("pluginId"), str)
    ]


def read_marketplaces(text: str) -> list[Marketplace] | None:
    """`plugin marketplace list`, with --json or without; None when it can be read neither way."""
    listed = _json_list(text)
    if listed is not None:
        return [_marketplace(one) for one in listed if isinstance(one.get("name"), str)]
    items = _items(text, "Configured marketplaces:")
    if items is None:
        return None
    return [Marketplace(name=name, source=fields.get("Source", "")) for name, fields in items]


def _marketplace(one: dict[str, Any]) -> Marketplace:
    where = _text(one.get("path")) or _text(one.get("url")) or _text(one.get("repo"))
    return Marketplace(
        name=one["name"],
        source=_text(one.get("source")) or "",
        location=plain_remote(where) if where else _text(one.get("installLocation")),
    )


def _json_list(text: str) -> list[dict[str, Any]] | None:
    try:
        value = read_json(text.encode())
    except BadInput:
        return None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else None


def _items(text: str, head: str) -> list[tuple[str, dict[str, str]]] | None:
    """Entries of a list printed for people; None if the text is not such a list."""
    lines = text.strip("\n").splitlines()
    if lines and lines[0].startswith(EMPTY_LISTS):
        return []
    if not lines or lines[0].strip() != head:
        return None
    found: list[tuple[str, dict[str, str]]] = []
    for line in lines[1:]:
        if item := _ITEM.fullmatch(line):
            found.append((item[1].strip(), {}))
        elif found and (field := _FIELD.fullmatch(line)):
            found[-1][1][field[1]] = field[2].strip()
    return found


def read_health(text: str) -> dict[str, ServerHealth]:
    """`mcp list`, which tries to start every server."""
    lines = (_SERVER.fullmatch(line.strip()) for line in text.splitlines())
    return {found[1]: _health(found[4]) for found in lines if found}


def login_command(name: str) -> str | None:
    """The command with which a person signs in to a server; None for a name that would be read as an option."""
    return None if name.startswith("-") else f"claude mcp login --no-browser {name}"


def _health(words: str) -> ServerHealth:
    status = next((word for start, word in _STATUS if start in words.lower()), "unknown")
    error = words.partition(" — ")[2] or words
    return ServerHealth(status=status, error=None if status == "connected" else error)


def read_servers(state: Any) -> Iterator[McpServer]:
    """The servers of the user and of each project in the CLI's state file."""
    if not isinstance(state, dict):
        return
    yield from _servers(state.get("mcpServers"), "user", None)
    projects = state.get("projects")
    for path, project in (projects if isinstance(projects, dict) else {}).items():
        if isinstance(project, dict):
            yield from _servers(project.get("mcpServers"), "local", path)


def read_folders(state: Any) -> list[str]:
    """The folders that Claude Code was used in, from its state file."""
    projects = state.get("projects") if isinstance(state, dict) else None
    return [path for path in projects if path.startswith("/")] if isinstance(projects, dict) else []


def read_project_servers(file: Any, project: str) -> Iterator[McpServer]:
    """The servers in a project's `.mcp.json`."""
    if isinstance(file, dict):
        yield from _servers(file.get("mcpServers"), "project", project)


def _servers(value: Any, scope: str, project: str | None) -> Iterator[McpServer]:
    for name, config in (value if isinstance(value, dict) else {}).items():
        if isinstance(config, dict):
            transport = _text(config.get("type")) or ("http" if "url" in config else "stdio")
            yield McpServer(name=name, transport=transport, scope=scope, project=project, config=shown_config(config))


def shown_config(config: dict[str, Any]) -> dict[str, Any]:
    """A server's configuration without secrets: no values of its environment and headers, none in its command."""
    shown: dict[str, Any] = {}
    if isinstance(command := config.get("command"), str):
        args = config.get("args")
        words = redact_args([str(arg) for arg in args]) if isinstance(args, list) else []
        shown |= {"command": command, "args": words}
    if isinstance(url := config.get("url"), str):
        shown["url"] = plain_remote(url)
    for name in ("env", "headers"):
        if isinstance(values := config.get(name), dict) and values:
            shown[name] = dict.fromkeys(map(str, values), HIDDEN)
    return shown


def add_server(server: NewMcpServer) -> list[str]:
    """Arguments of `mcp add`. An option with several values must come after the name, or it would take the name too."""
    words = ["mcp", "add", "--scope", server.scope, "--transport", server.transport, server.name]
    if server.transport == "stdio":
        for name, value in server.env.items():
            words += ["--env", f"{name}={value}"]
        return [*words, "--", server.target, *server.args]
    words.append(server.target)
    for name, value in server.headers.items():
        words += ["--header", f"{name}: {value}"]
    return words


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
