"""Claude Code's plugins and MCP servers: read from its files where possible, else through its command line."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from quarterdeck.agents.claude.extensions import (
    add_server,
    login_command,
    read_folders,
    read_health,
    read_marketplaces,
    read_offers,
    read_plugins,
    read_project_servers,
    read_servers,
)
from quarterdeck.core.workspace.extensions import (
    Marketplace,
    McpServer,
    NewMcpServer,
    Plugin,
    PluginOffer,
    ServerHealth,
)
from quarterdeck.drivers.claude.cli import ADD_SECONDS, INSTALL_SECONDS, LIST_SECONDS, ClaudeCli, state_file
from quarterdeck.errors import BadInput, Refused
from quarterdeck.system.safe_open import read_regular
from quarterdeck.wire import read_json

T = TypeVar("T")
CACHE_SECONDS = 60.0
MAX_STATE = 32 * 1024 * 1024
MAX_FILE = 1024 * 1024
CAPABILITIES = {
    "agents": "agents",
    "commands": "commands",
    "hooks": "hooks",
    "skills": "skills",
    ".mcp.json": "mcp",
    ".lsp.json": "lsp",
}
SECONDS = {"install": INSTALL_SECONDS, "update": INSTALL_SECONDS, "uninstall": ADD_SECONDS}


NEAREST = ("local", "project", "user")
"""The order of scopes: of servers with the same name a session uses the first."""


class ClaudeExtensions:
    """One Claude Code. Its command line runs one command at a time, because each rewrites the same files. `folders`
    returns the projects whose `.mcp.json` is read."""

    def __init__(
        self, cli: Callable[[], ClaudeCli | None], config_dir: Path, folders: Callable[[], Iterable[str]]
    ) -> None:
        self._cli, self._config_dir, self._folders = cli, config_dir, folders
        self._lock = asyncio.Lock()  # Claude Code reads and rewrites its files whole: two runs at once lose a change
        # Each run of Claude Code takes a second, and a page lists again at every change.
        self._cache: dict[str, tuple[float, tuple[object, ...], str]] = {}
        self._health: dict[tuple[str, ...], tuple[float, ServerHealth]] = {}

    async def plugins(self) -> list[Plugin]:
        """The installed plugins with their capabilities."""
        text = await self._cached_list("plugin", "list", "--json")
        found = _readable(read_plugins(text), "plugin list")
        return await asyncio.to_thread(lambda: [replace(one, capabilities=_capabilities(one)) for one in found])

    async def offers(self) -> list[PluginOffer]:
        """The plugins that can be installed."""
        return _readable(read_offers(await self._cached_list("plugin", "list", "--available", "--json")), "plugin list")

    async def marketplaces(self) -> list[Marketplace]:
        text = await self._cached_list("plugin", "marketplace", "list", "--json")
        return _readable(read_marketplaces(text), "plugin marketplace list")

    async def change_plugin(self, action: str, name: str, scope: str, project: str | None) -> str:
        """Install, enable, disable, update or uninstall; returns Claude Code's message."""
        seconds = SECONDS.get(action, ADD_SECONDS)
        return await self._change(project, seconds, "plugin", action, "--scope", scope, "--", name)

    async def change_marketplace(self, action: str, name: str | None) -> str:
        """Add, remove or update a marketplace; without a name all are updated."""
        words = ("--", name) if name else ()
        return await self._change(None, INSTALL_SECONDS, "plugin", "marketplace", action, *words)

    async def servers(self) -> list[McpServer]:
        """Every configured MCP server with the result of its last check. No server is started."""
        found = await asyncio.to_thread(self._configured, list(self._folders()))
        return [self._with_health(server) for server in found]

    async def add_server(self, server: NewMcpServer, project: str | None) -> str:
        return await self._change(project, ADD_SECONDS, *add_server(server), secrets=server.secrets)

    async def remove_server(self, name: str, scope: str, project: str | None) -> str:
        return await self._change(project, ADD_SECONDS, "mcp", "remove", "--scope", scope, "--", name)

    async def check_servers(self, project: str | None) -> None:
        """Start every server that is configured for a project, or for the user, and remember its health."""
        async with self._lock:
            text = await self._run(project, INSTALL_SECONDS, "mcp", "list")
        now, health = time.time(), read_health(text)
        reached: dict[str, McpServer] = {}
        for server in sorted(await self.servers(), key=lambda s: NEAREST.index(s.scope)):
            if server.project in (None, project):
                reached.setdefault(server.name, server)
        self._health |= {_key(reached[name]): (now, found) for name, found in health.items() if name in reached}

    def _with_health(self, server: McpServer) -> McpServer:
        known = self._health.get(_key(server))
        if known is None:
            return server
        at, health = known
        login = login_command(server.name) if health.status == "needs_auth" else None
        return replace(server, status=health.status, last_error=health.error, checked_at=at, login=login)

    def _configured(self, folders: list[str]) -> list[McpServer]:
        state = _read(state_file(self._config_dir), MAX_STATE, follow=True)
        found = list(read_servers(state))
        for folder in sorted({*folders, *read_folders(state)}):
            file = _read(Path(folder) / ".mcp.json", MAX_FILE, follow=False)
            found += read_project_servers(file, folder)
        return sorted(found, key=lambda s: (s.name, s.scope, s.project or ""))

    async def _cached_list(self, *words: str) -> str:
        """Output of a list command, cached until Claude Code's files change or CACHE_SECONDS pass. Each run takes a
        second or more."""
        key = " ".join(words)
        async with self._lock:
            mark = _mark(self._config_dir)
            at, marked, text = self._cache.get(key, (0.0, (), ""))
            if marked == mark and time.monotonic() - at < CACHE_SECONDS:
                return text
            text = await self._list(words)
            self._cache[key] = (time.monotonic(), _mark(self._config_dir), text)
            return text

    async def _list(self, words: tuple[str, ...]) -> str:
        """Run a list command; a version without --json prints text for people."""
        try:
            return await self._run(None, LIST_SECONDS, *words)
        except Refused as error:
            if "unknown option '--json'" not in str(error):
                raise
            return await self._run(None, LIST_SECONDS, *(word for word in words if word != "--json"))

    async def _change(self, project: str | None, seconds: float, *words: str, secrets: Iterable[str] = ()) -> str:
        async with self._lock:
            self._cache.clear()
            text = await self._run(project, seconds, *words, secrets=list(secrets))
            self._cache.clear()
        lines = text.strip().splitlines()
        return lines[-1].rpartition("✔")[2].strip() if words[0] == "plugin" and lines else (lines or [""])[0]

    async def _run(self, project: str | None, seconds: float, *words: str, secrets: Iterable[str] = ()) -> str:
        cli = await asyncio.to_thread(self._cli)
        if cli is None:
            raise Refused("Claude Code was not found; install it, or set claude.path in config.yaml")
        cwd = Path(project or "/")
        return await asyncio.to_thread(lambda: cli.run(cwd, *words, seconds=seconds, secrets=list(secrets)))


def _key(server: McpServer) -> tuple[str, ...]:
    return (server.scope, server.project or "", server.name)


def _readable(found: list[T] | None, command: str) -> list[T]:
    if found is None:
        raise Refused(f"the output of claude {command} cannot be read; run it by hand to see it")
    return found


def _mark(config_dir: Path) -> tuple[object, ...]:
    names = ("settings.json", "plugins/installed_plugins.json", "plugins/known_marketplaces.json")
    return tuple(_stamp(config_dir / name) for name in names)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)


def _capabilities(plugin: Plugin) -> tuple[str, ...]:
    """A plugin's capabilities, from the names in its folder."""
    if plugin.folder is None:
        return ()
    try:
        names = set(os.listdir(plugin.folder))  # noqa: PTH208 only the names
    except OSError:
        return ()
    return tuple(word for name, word in CAPABILITIES.items() if name in names)


def _read(path: Path, most: int, *, follow: bool) -> Any:
    """The JSON in a regular file; None if there is none. In a project no link is followed."""
    content = read_regular(path, most, follow=follow)
    try:
        return read_json(content) if content is not None else None
    except BadInput:
        return None
