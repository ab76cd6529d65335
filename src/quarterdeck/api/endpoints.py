"""The endpoints of REST, by the names of their operations.

To add a route: its path and scope go into `operations.py`, its function into a module of `routes/` or `workspace/`."""

from __future__ import annotations

from quarterdeck.api.http.endpoint import endpoints_in
from quarterdeck.api.routes import (
    counts,
    decisions,
    devices,
    history,
    queries,
    rules,
    runners,
    sessions,
    stop_sessions,
    tokens,
)
from quarterdeck.api.workspace import mcp, plugins, projects, worktrees

ENDPOINTS = endpoints_in(
    *(queries, counts, history, runners, sessions, stop_sessions, worktrees, decisions, rules, projects, plugins, mcp),
    *(tokens, devices),
)
