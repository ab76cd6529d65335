"""Claude Code's plugins and MCP servers: read from its files where they say it, else by its own command line."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from quarterdeck.agents.claude.extensions import (
    add_server,
    read_folders,
    read_health,
    read_marketplaces,
    read_offers,
    read_plugins,
    read_project_servers,
    read_servers,
)
from quarterdeck.core.workspace.extensions import Health, Marketplace, NewServer, Offer, Plugin, Server
from quarterdeck.drivers.claude.cli import ADD_SECONDS, INSTALL_SECONDS, LIST_SECONDS, ClaudeCli, state_file
from quarterdeck.errors import BadInput, Refused
from quarterdeck.wire import read_json

T = TypeVar("T")
KEPT_SECONDS = 60.0
MAX_STATE = 32 * 1024 * 1024
MAX_FILE = 1024 * 1024
PARTS = {
    "agents": "agents",
    "commands": "commands",
    "hooks": "hooks",
    "skills": "skills",
    ".mcp.json": "mcp",
    ".lsp.json": "lsp",
}
SECONDS = {"install": INSTALL_SECONDS, "update": INSTALL_SECONDS, "uninstall": ADD_SECONDS}


NEAREST = ("local", "project", "user")
"""Of servers with one name a session has the first."""


class Extensions:
    """One Claude Code. Its command line runs one command at a time: each rewrites the same files. `folders` tells the
    projects whose `.mcp.json` counts."""

    def __init__(
        self, cli: Callable[[], ClaudeCli | None], config_dir: Path, folders: Callable[[], Iterable[str]]
    ) -> None:
        self._cli, self._config_dir, self._folders = cli, config_dir, folders
        self._one = asyncio.Lock()
        self._kept: dict[str, tuple[float, tuple[object, ...], str]] = {}
        self._health: dict[tuple[str, ...], tuple[float, Health]] = {}

    async def plugins(self) -> list[Plugin]:
        """The installed plugins, with what each brings."""
        text = await self._listed("plugin", "list", "--json")
        found = _readable(read_plugins(text), "plugin list")
        return await asyncio.to_thread(lambda: [replace(one, capabilities=_capabilities(one)) for one in found])

    async def offers(self) -> list[Offer]:
        """The plugins that could be installed."""
        return _readable(read_offers(await self._listed("plugin", "list", "--available", "--json")), "plugin list")

    async def marketplaces(self) -> list[Marketplace]:
        text = await self._listed("plugin", "marketplace", "list", "--json")
        return _readable(read_marketplaces(text), "plugin marketplace list")

    async def change_plugin(self, action: str, name: str, scope: str, project: str | None) -> str:
        """Install, enable, disable, update or uninstall; tells what Claude Code said."""
        seconds = SECONDS.get(action, ADD_SECONDS)
        return await self._change(project, seconds, "plugin", action, "--scope", scope, "--", name)

    async def change_marketplace(self, action: str, name: str | None) -> str:
        """Add, remove or update; without a name all are updated."""
        words = ("--", name) if name else ()
        return await self._change(None, INSTALL_SECONDS, "plugin", "marketplace", action, *words)

    async def servers(self) -> list[Server]:
        """Every configured MCP server, and how each did when it was last tried. None is started for it."""
        found = await asyncio.to_thread(self._configured, list(self._folders()))
        return [self._with_health(server) for server in found]

    async def add_server(self, server: NewServer, project: str | None) -> str:
        return await self._change(project, ADD_SECONDS, *add_server(server), secrets=server.secrets)

    async def remove_server(self, name: str, scope: str, project: str | None) -> str:
        return await self._change(project, ADD_SECONDS, "mcp", "remove", "--scope", scope, "--", name)

    async def check_servers(self, project: str | None) -> None:
        """Start every server that is configured for a project, or for the user, and remember how it did."""
        async with self._one:
            text = await self._run(project, INSTALL_SECONDS, "mcp", "list")
        now, health = time.time(), read_health(text)
        reached: dict[str, Server] = {}
        for server in sorted(await self.servers(), key=lambda s: NEAREST.index(s.scope)):
            if server.project in (None, project):
                reached.setdefault(server.name, server)
        self._health |= {_key(reached[name]): (now, said) for name, said in health.items() if name in reached}

    def _with_health(self, server: Server) -> Server:
        known = self._health.get(_key(server))
        if known is None:
            return server
        at, health = known
        return replace(server, status=health.status, last_error=health.error, checked_at=at)

    def _configured(self, folders: list[str]) -> list[Server]:
        state = _read(state_file(self._config_dir), MAX_STATE, follow=True)
        found = list(read_servers(state))
        for folder in sorted({*folders, *read_folders(state)}):
            file = _read(Path(folder) / ".mcp.json", MAX_FILE, follow=False)
            found += read_project_servers(file, folder)
        return sorted(found, key=lambda s: (s.name, s.scope, s.project or ""))

    async def _listed(self, *words: str) -> str:
        """What a list command said; asked again when Claude Code's files changed, or after a while."""
        key = " ".join(words)
        async with self._one:
            mark = _mark(self._config_dir)
            at, marked, text = self._kept.get(key, (0.0, (), ""))
            if marked == mark and time.monotonic() - at < KEPT_SECONDS:
                return text
            text = await self._list(words)
            self._kept[key] = (time.monotonic(), _mark(self._config_dir), text)
            return text

    async def _list(self, words: tuple[str, ...]) -> str:
        """A version that knows no --json tells people."""
        try:
            return await self._run(None, LIST_SECONDS, *words)
        except Refused as error:
            if "unknown option '--json'" not in str(error):
                raise
            return await self._run(None, LIST_SECONDS, *(word for word in words if word != "--json"))

    async def _change(self, project: str | None, seconds: float, *words: str, secrets: Iterable[str] = ()) -> str:
        async with self._one:
            self._kept.clear()
            text = await self._run(project, seconds, *words, secrets=list(secrets))
            self._kept.clear()
        lines = text.strip().splitlines()
        return lines[-1].rpartition("✔")[2].strip() if words[0] == "plugin" and lines else (lines or [""])[0]

    async def _run(self, project: str | None, seconds: float, *words: str, secrets: Iterable[str] = ()) -> str:
        cli = await asyncio.to_thread(self._cli)
        if cli is None:
            raise Refused("Claude Code is not here; install it, or name it with claude.path in config.yaml")
        cwd = Path(project or "/")
        return await asyncio.to_thread(lambda: cli.run(cwd, *words, seconds=seconds, secrets=list(secrets)))


def _key(server: Server) -> tuple[str, ...]:
    return (server.scope, server.project or "", server.name)


def _readable(found: list[T] | None, command: str) -> list[T]:
    if found is None:
        raise Refused(f"what claude {command} says cannot be read; run it by hand to see it")
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
    """What a plugin brings, by the names in its folder."""
    if plugin.folder is None:
        return ()
    try:
        names = set(os.listdir(plugin.folder))  # noqa: PTH208 only the names
    except OSError:
        return ()
    return tuple(word for name, word in PARTS.items() if name in names)


def _read(path: Path, most: int, *, follow: bool) -> Any:
    """The JSON in a regular file; None when there is none. In a project no link is followed."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        try:
            return read_json(file.read(most))
        except (BadInput, OSError):
            return None
