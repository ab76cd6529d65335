"""The commands of the WebSocket, from the table of operations."""

from __future__ import annotations

from quarterdeck.api.operations import OPERATIONS
from tools.docs.tables import table


def operation_table() -> str:
    """Every command with its route, the scope it needs, and what it does."""
    rows = (
        (f"`{row.name}`", f"`{row.method} {row.path}`" if row.path else "", row.scope, row.title)
        for row in OPERATIONS.values()
        if row.is_command
    )
    return table(("command", "route below /api/v1", "scope", "does"), rows)
