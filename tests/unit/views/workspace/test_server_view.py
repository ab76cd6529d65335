"""MCP servers as every surface sees them."""

from __future__ import annotations

from quarterdeck.views.workspace.server_view import ServerList, ServerView
from tests.support.views import is_read_back

UNCHECKED = ServerView(
    name="issues",
    transport="http",
    scope="user",
    project=None,
    status="unchecked",
    last_error=None,
    checked_at=None,
    config={"url": "https://host"},
    tools=None,
    login=None,
    runner_id="otter",
)


def test_a_list_of_servers_is_read_back_as_it_was() -> None:
    listed = ServerList(mcp=[UNCHECKED])
    assert is_read_back(listed)
