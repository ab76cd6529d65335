"""Plugins and the marketplaces they come from, as every surface sees them."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.views.resources.runner_resource import Resource


class PluginView(Resource, kw_only=True):
    """An installed plugin. `capabilities` are among agents, commands, hooks, skills, mcp and lsp."""

    plugin_id: str
    name: str
    marketplace: str | None
    version: str | None
    enabled: bool
    scope: str
    project: str | None
    capabilities: list[str]
    errors: list[str]


class OfferView(Resource, kw_only=True):
    """A plugin that a marketplace offers."""

    plugin_id: str
    name: str
    marketplace: str | None
    description: str
    version: str | None


class MarketplaceView(Resource, kw_only=True):
    """A source of plugins."""

    name: str
    source: str
    location: str | None


class PluginList(Struct, kw_only=True):
    plugins: list[PluginView]
    next: None = None


class OfferList(Struct, kw_only=True):
    available: list[OfferView]
    next: None = None


class MarketplaceList(Struct, kw_only=True):
    marketplaces: list[MarketplaceView]
    next: None = None
