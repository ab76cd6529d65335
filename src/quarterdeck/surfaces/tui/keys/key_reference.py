"""The key tables by place: the help screen and docs/tui.md are made from them."""

from __future__ import annotations

from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.choices import NumberedChoice, WordChoice
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, BatchList
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import ProjectFilter, StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.feed.view import FeedView
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.panes.request_pane import RequestPane
from quarterdeck.surfaces.tui.panes.session_list import SessionPane
from quarterdeck.surfaces.tui.screens.audit import AuditPage
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.screens.rules import RulesPage
from quarterdeck.surfaces.tui.screens.tasks import TasksPage
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.screens.workspace.mcp import McpPage
from quarterdeck.surfaces.tui.screens.workspace.plugins import PluginsPage
from quarterdeck.surfaces.tui.screens.workspace.projects import ProjectsPage
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from quarterdeck.surfaces.tui.widgets.table import Table

PLACES = (
    ("Everywhere", [*MainScreen.BINDINGS, *QuarterdeckApp.BINDINGS]),
    ("On the desk", RequestPane.BINDINGS),
    ("In the sessions", SessionPane.BINDINGS),
    ("In the feed", FeedView.BINDINGS),
    ("In a dialog", Dialog.BINDINGS),
    ("Editing an input", EditDialog.BINDINGS),
    ("Remembering", [*WordChoice.BINDINGS, *RememberDialog.BINDINGS]),
    ("Answering", [*NumberedChoice.BINDINGS, *AnswerDialog.BINDINGS]),
    ("Approving a plan", PlanDialog.BINDINGS),
    ("Many at once", [*BatchList.BINDINGS, *BatchDialog.BINDINGS]),
    ("Starting a session", [*ProjectFilter.BINDINGS, *StartDialog.BINDINGS]),
    ("Trusting a project", TrustDialog.BINDINGS),
    ("On another screen", PageScreen.BINDINGS),
    ("In a table", Table.BINDINGS),
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
