"""Staged answers for screenshots: projects, plugins and MCP servers. Everything else comes from the demo's daemon."""

from __future__ import annotations

import time
from typing import Any

from quarterdeck.surfaces.client.connection import DaemonConnection
from tests.support.recorded_daemon import project, project_list

Json = dict[str, Any]
NOW = time.time()
SETTINGS = ".claude/settings.json"

PROJECTS: list[Json] = [
    project(name, path=f"/home/you/{name}", git_branch=branch, trusted=trusted, trust="full" if trusted else "none")
    | {"last_modified": NOW - place, "live_sessions": live}
    for place, (name, branch, trusted, live) in enumerate(
        (
            ("api-server", "feature/login", True, 1),
            ("docs", "main", True, 1),
            ("infra", "main", True, 1),
            ("shop", "main", False, 0),
            ("website", "redesign", False, 0),
        )
    )
]
PROJECT_CONFIG: Json = {
    "path": "/home/you/shop",
    "trusted": False,
    "hooks": [
        {"event": "PreToolUse", "matcher": "Bash", "runs": "./tools/check.sh --strict", "file": SETTINGS},
        {"event": "Stop", "matcher": "", "runs": "make report", "file": SETTINGS},
    ],
    "servers": [
        {"name": "orders", "transport": "stdio", "runs": "npx -y orders-db", "gets": ["DSN"], "file": ".mcp.json"}
    ],
    "variables": [{"name": "NODE_ENV", "says": "", "file": SETTINGS}],
    "allows": [{"name": "Bash(make test:*)", "says": "", "file": SETTINGS}],
    "others": [],
    "troubles": [],
}


def _plugin(name: str, version: str, capabilities: list[str], **more: Any) -> Json:
    plugin: Json = {"plugin_id": f"{name}@team", "name": name, "marketplace": "team", "version": version}
    plugin |= {"enabled": True, "scope": "user", "project": None, "capabilities": capabilities, "errors": []}
    return plugin | more


PLUGINS = [
    _plugin("lint", "2.3.0", ["hooks"]),
    _plugin("review", "1.4.1", ["agents", "commands"]),
    _plugin("spell", "0.9.2", ["skills"], enabled=False),
    _plugin("deploy", "3.0.0", ["commands", "mcp"], scope="project", project="/home/you/infra"),
]


def _server(name: str, status: str, transport: str = "stdio", **more: Any) -> Json:
    server: Json = {"name": name, "transport": transport, "scope": "user", "project": None, "status": status}
    server |= {"last_error": None, "checked_at": NOW - 30, "tools": None, "login": None}
    return server | {"config": {"command": "npx", "args": ["-y", f"{name}-mcp"]}} | more


SERVERS = [
    _server("files", "connected"),
    _server("issues", "needs_auth", "http", config={"url": "https://issues.example.org/mcp"}, login="claude /mcp"),
    _server("orders", "failed", scope="local", project="/home/you/shop", last_error="connection closed: exit code 1"),
]
SERVERS[2]["config"]["env"] = {"DSN": "•••"}

ANSWERS: dict[str, Json] = {
    "/projects": project_list(*PROJECTS),
    "/projects/brings": PROJECT_CONFIG,
    "/plugins": {"plugins": PLUGINS},
    "/mcp": {"mcp": SERVERS},
}


class StagedDaemon(DaemonConnection):
    """A connection that answers some paths with staged values."""

    async def get(self, path: str, /, **query: Any) -> Json:
        return ANSWERS[path] if path in ANSWERS else await super().get(path, **query)

    async def long_call(self, method: str, path: str, body: Json | None = None) -> Json:
        plain = path.partition("?")[0]
        return ANSWERS[plain] if method == "GET" and plain in ANSWERS else await super().long_call(method, path, body)
