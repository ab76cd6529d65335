"""Plugins, marketplaces and MCP servers of Claude Code: one row for each, and all of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import Cell, StyledLine, TableRows, line
from quarterdeck.surfaces.text.labels import ago, project_name

Json = dict[str, Any]
STATUS = {
    "connected": ("✓ connected", "good"),
    "failed": ("✕ failed", "blocked"),
    "needs_auth": ("? sign in", "asks"),
    "disabled": ("– disabled", "dim"),
    "pending": ("· pending", "dim"),
    "unchecked": ("· not tried", "dim"),
}


def plugin_key(plugin: Json) -> str:
    """The key of a plugin's row: a plugin may be installed for the user and for several projects."""
    return f"{plugin['plugin_id']} {plugin['scope']} {plugin['project'] or ''}"


def plugin_rows(plugins: Iterable[Json]) -> TableRows:
    """One row for each installed plugin."""
    for plugin in plugins:
        on = plugin["enabled"]
        cells: tuple[Cell, ...] = (
            ("✓ on" if on else "– off", "good" if on else "dim"),
            (plugin["name"], "strong"),
            plugin["marketplace"] or "",
            plugin["version"] or "",
            plugin["scope"],
            ", ".join(plugin["capabilities"]),
            (f"! {plugin['errors'][0]}", "warn") if plugin["errors"] else (plugin["project"] or "", "dim"),
        )
        yield plugin_key(plugin), cells


def offer_rows(offers: Iterable[Json]) -> TableRows:
    """One row for each available plugin."""
    for offer in offers:
        cells: tuple[Cell, ...] = (
            ("+", "dim"),
            (offer["name"], "strong"),
            offer["marketplace"] or "",
            offer["version"] or "",
            "",
            "",
            (offer["description"], "dim"),
        )
        yield offer["plugin_id"], cells


def plugin_lines(plugin: Json) -> Iterator[StyledLine]:
    """All of one plugin."""
    yield line((plugin["plugin_id"], "strong"), (f"  {plugin['version'] or ''}", "dim"))
    where = f" in {plugin['project']}" if plugin["project"] else ""
    yield line(f"scope {plugin['scope']}{where} · contains {', '.join(plugin['capabilities']) or 'nothing known'}")
    for error in plugin["errors"]:
        yield line((f"! {error}", "warn"))


def market_rows(markets: Iterable[Json]) -> TableRows:
    """One row for each marketplace."""
    for market in markets:
        yield market["name"], ((market["name"], "strong"), market["source"], (market["location"] or "", "dim"))


def market_lines(market: Json) -> Iterator[StyledLine]:
    """All of one marketplace."""
    yield line((market["name"], "strong"), f"  {market['source']}")
    yield line(("where: ", "dim"), market["location"] or "not known")
    yield line(("o among the plugins shows what it has", "dim"))


def server_key(server: Json) -> str:
    """The key of a server's row: the user and each project may have a server of the same name."""
    return f"{server['name']} {server['scope']} {server['project'] or ''}"


def server_target(config: Json) -> str:
    """The command a server runs, or its address."""
    return " ".join([config["command"], *config.get("args", ())]) if "command" in config else config.get("url", "")


def server_rows(servers: Iterable[Json], now: float) -> TableRows:
    """One row for each server."""
    for server in servers:
        cells: tuple[Cell, ...] = (
            STATUS.get(server["status"], (f"· {server['status']}", "dim")),
            (server["name"], "strong"),
            server["transport"],
            f"{server['scope']} {project_name(server['project'])}" if server["project"] else server["scope"],
            ago(server["checked_at"], now) if server["checked_at"] else "never",
            (server_target(server["config"]), "dim"),
        )
        yield server_key(server), cells


def server_lines(server: Json) -> Iterator[StyledLine]:
    """All of one server, without any secret."""
    yield line((server["name"], "strong"), f"  {server_target(server['config'])}")
    for name in ("env", "headers"):
        if server["config"].get(name):
            yield line((f"{name}: ", "dim"), ", ".join(server["config"][name]))
    if server["project"]:
        yield line(("project: ", "dim"), server["project"])
    if server["last_error"]:
        yield line((f"! {server['last_error']}", "warn"))
    if server["login"]:
        yield line(("to sign in, in a terminal: ", "dim"), server["login"])
