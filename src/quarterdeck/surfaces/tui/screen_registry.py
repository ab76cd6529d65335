"""All screens but the main one, by the command that opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quarterdeck.surfaces.tui.keys.help_screen import HelpPage
from quarterdeck.surfaces.tui.screens.about import AboutPage
from quarterdeck.surfaces.tui.screens.audit import AuditPage
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.screens.deck_page import DeckScreenPage
from quarterdeck.surfaces.tui.screens.health import HealthPage
from quarterdeck.surfaces.tui.screens.rules import RulesPage
from quarterdeck.surfaces.tui.screens.tasks import TasksPage
from quarterdeck.surfaces.tui.screens.usage import UsagePage
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.screens.workspace.mcp import McpPage
from quarterdeck.surfaces.tui.screens.workspace.plugins import PluginsPage
from quarterdeck.surfaces.tui.screens.workspace.projects import ProjectsPage

PAGES: Mapping[str, Callable[[], PageScreen]] = {
    "about": AboutPage,
    "audit": AuditPage,
    "deck": DeckScreenPage,
    "health": HealthPage,
    "help": HelpPage,
    "marketplaces": MarketplacesPage,
    "mcp": McpPage,
    "plugins": PluginsPage,
    "projects": ProjectsPage,
    "rules": RulesPage,
    "tasks": TasksPage,
    "usage": UsagePage,
}
