"""The API of a hub has every operation of a daemon's, with the same scopes."""

from __future__ import annotations

from quarterdeck.api.live.socket_commands import COMMANDS, ROUTES
from quarterdeck.api.operations import HUB_OPERATIONS
from quarterdeck.hub.routes.hub_routes import HUB_COMMANDS, HUB_ROUTES


def test_a_hub_has_every_operation_of_a_daemon_and_its_own() -> None:
    assert HUB_ROUTES.keys() == ROUTES.keys() | HUB_OPERATIONS.keys()
    assert HUB_COMMANDS.keys() == COMMANDS.keys() | {
        name for name, operation in HUB_OPERATIONS.items() if operation.is_command
    }
    assert all(one.operation is ROUTES[name].operation for name, one in HUB_ROUTES.items() if name in ROUTES)
