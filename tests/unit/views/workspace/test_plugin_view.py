"""Plugins as every surface sees them."""

from __future__ import annotations

from quarterdeck.views.workspace.plugin_view import PluginList, PluginView
from tests.support.views import is_read_back

DEMO = PluginView(
    plugin_id="demo@market",
    name="demo",
    marketplace="market",
    version=None,
    enabled=True,
    scope="user",
    project=None,
    capabilities=["hooks"],
    errors=[],
    runner_id="otter",
)


def test_a_list_of_plugins_is_read_back_as_it_was() -> None:
    listed = PluginList(plugins=[DEMO])
    assert is_read_back(listed)
