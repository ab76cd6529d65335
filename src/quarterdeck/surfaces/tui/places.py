"""Where keys work: the tables the help is made from."""

from __future__ import annotations

from quarterdeck.surfaces.tui.app_keys import APP_KEYS
from quarterdeck.surfaces.tui.bridge import Bridge
from quarterdeck.surfaces.tui.command_line import CommandLine
from quarterdeck.surfaces.tui.desk import Desk
from quarterdeck.surfaces.tui.dialogs.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.batch import BatchDialog, Marks
from quarterdeck.surfaces.tui.dialogs.choices import Numbered, OneWord
from quarterdeck.surfaces.tui.dialogs.dialog import Dialog
from quarterdeck.surfaces.tui.dialogs.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.start import Filter, StartDialog
from quarterdeck.surfaces.tui.dialogs.trust import TrustDialog
from quarterdeck.surfaces.tui.feed.view import FeedView
from quarterdeck.surfaces.tui.grid import Grid
from quarterdeck.surfaces.tui.screens.audit import AuditPage
from quarterdeck.surfaces.tui.screens.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.screens.mcp import McpPage
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.screens.plugins import PluginsPage
from quarterdeck.surfaces.tui.screens.projects import ProjectsPage
from quarterdeck.surfaces.tui.screens.rules import RulesPage
from quarterdeck.surfaces.tui.screens.tasks import TasksPage
from quarterdeck.surfaces.tui.screens.worktree import WorktreePage
from quarterdeck.surfaces.tui.sessions import Sessions

PLACES = (
    ("Everywhere", [*Bridge.BINDINGS, *APP_KEYS]),
    ("On the desk", Desk.BINDINGS),
    ("In the sessions", Sessions.BINDINGS),
    ("In the feed", FeedView.BINDINGS),
    ("In a dialog", Dialog.BINDINGS),
    ("Editing an input", EditDialog.BINDINGS),
    ("Remembering", [*OneWord.BINDINGS, *RememberDialog.BINDINGS]),
    ("Answering", [*Numbered.BINDINGS, *AnswerDialog.BINDINGS]),
    ("Approving a plan", PlanDialog.BINDINGS),
    ("Many at once", [*Marks.BINDINGS, *BatchDialog.BINDINGS]),
    ("Starting a session", [*Filter.BINDINGS, *StartDialog.BINDINGS]),
    ("Asked to trust", TrustDialog.BINDINGS),
    ("On another screen", PageScreen.BINDINGS),
    ("In a table", Grid.BINDINGS),
    ("In the rules", RulesPage.BINDINGS),
    ("In the projects", ProjectsPage.BINDINGS),
    ("In the tasks", TasksPage.BINDINGS),
    ("In the plugins", PluginsPage.BINDINGS),
    ("In the marketplaces", MarketplacesPage.BINDINGS),
    ("In the MCP servers", McpPage.BINDINGS),
    ("In a worktree", WorktreePage.BINDINGS),
    ("In the audit", AuditPage.BINDINGS),
    ("In the command line", CommandLine.BINDINGS),
)
