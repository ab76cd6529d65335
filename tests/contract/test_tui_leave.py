"""Every screen and every dialog can be left: with Escape, and with q where the help offers it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen
from textual.widget import Widget

from quarterdeck import __version__
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import MessageDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.marketplace import MarketplaceDialog
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import McpServerDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog, ExplainDialog, RuleDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import ContinueDialog, PromptDialog, SwitchDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.stop_dialog import StopDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.screen_registry import PAGES
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    daemon_stats,
    owned_session,
    owned_session_view,
    project_list,
    snapshot,
)
from tests.support.snapshot_day import ANSWERS, FINDING, REQUESTS, SESSIONS

PLUGIN: Json = {"plugin_id": "lint@lab", "name": "lint", "marketplace": "lab", "version": "1.2.0", "enabled": True}
PLUGIN |= {"scope": "user", "project": None, "capabilities": ["hooks"], "errors": [], "description": "checks style"}
MARKET: Json = {"name": "lab", "source": "folder", "location": "/home/ann/lab"}
SERVER: Json = {"name": "files", "transport": "stdio", "scope": "user", "project": None, "status": "failed"}
SERVER |= {"last_error": "no such command", "checked_at": NOW, "config": {"command": "npx"}, "login": None}
SUGGESTED: Json = {"effect": "allow", "pattern": "Bash(make:*)", "scope": "user", "scope_id": None, "scope_path": None}
WORKTREE: Json = {"path": "/home/ann/tree", "branch": "qd/one", "base": "main", "base_sha": "c0ffee", "state": "kept"}
NO_PROJECT: Json = {"path": "/home/ann/shop", "trusted": False, "hooks": [], "servers": [], "variables": []}
NO_PROJECT |= {"allows": [], "others": [], "troubles": []}
OWNED = owned_session("o1")
SEEN = owned_session_view("o1")

FULL = ANSWERS | {
    "/plugins": {"plugins": [PLUGIN]},
    "/plugins/available": {"available": [PLUGIN]},
    "/plugins/marketplaces": {"marketplaces": [MARKET]},
    "/mcp": {"mcp": [SERVER]},
    "/rules/suggestions": {"suggestions": [SUGGESTED | {"times": 3, "last_at": NOW}], "seen": 9},
}
EMPTY: dict[str, Json] = {
    "/sessions": {"sessions": [], "next": None},
    "/stats": daemon_stats(),
    "/rules": {"rules": [], "findings": []},
    "/rules/suggestions": {"suggestions": [], "seen": 0},
    "/audit": {"audit": [], "next": None},
    "/projects": project_list(),
    "/feed": {"events": [], "next": None},
    "/plugins": {"plugins": []},
    "/plugins/available": {"available": []},
    "/plugins/marketplaces": {"marketplaces": []},
    "/mcp": {"mcp": []},
}
NOTED = EMPTY | {
    "/rules": {"rules": [], "findings": [FINDING]},
    "/projects": project_list(notes=["/srv could not be read"]),
}
REFUSED: dict[str, Json] = {"/stats": daemon_stats()}
STATES = {"rows": FULL, "no-rows": EMPTY, "only-notes": NOTED, "no-answer": REFUSED}

SCREENS: dict[str, Callable[[QuarterdeckApp], Screen[Any]]] = {
    **{name: lambda app, make=make: make() for name, make in PAGES.items()},  # type: ignore[misc]
    "worktree": lambda app: WorktreePage(SEEN),
}
DIALOGS: dict[str, Callable[[QuarterdeckApp], Dialog[Any]]] = {
    "answer": lambda app: AnswerDialog(RequestItem(REQUESTS["questions"])),
    "batch": lambda app: BatchDialog(app.model),
    "edit": lambda app: EditDialog(RequestItem(REQUESTS["push"])),
    "form": lambda app: FormDialog(RequestItem(REQUESTS["form"])),
    "message": lambda app: MessageDialog(RequestItem(REQUESTS["push"]), "Deny", "why"),
    "plan": lambda app: PlanDialog(RequestItem(REQUESTS["plan"])),
    "remember": lambda app: RememberDialog(RequestItem(REQUESTS["push"]), "/home/ann/shop"),
    "marketplace": lambda app: MarketplaceDialog(),
    "mcp-server": lambda app: McpServerDialog(),
    "confirm": lambda app: ConfirmDialog("Sure?"),
    "stop everything": lambda app: StopDialog({"interrupt": [], "end": []}),
    "explain": lambda app: ExplainDialog("/home/ann/shop"),
    "rule": lambda app: RuleDialog({}),
    "continue": lambda app: ContinueDialog(SEEN, "resume"),
    "prompt": lambda app: PromptDialog(SEEN),
    "switch": lambda app: SwitchDialog(SEEN),
    "start": lambda app: StartDialog("/home/ann/shop"),
    "trust": lambda app: TrustDialog(NO_PROJECT),
}
OPENING_KEYS = ("enter", "o", "enter", "t")
"""Keys that open something on a page: details of a row, offers, a dialog."""
MOST_OPEN = 3
"""Escapes after which a page is closed: its dialog, its details or offers, and the page."""


@asynccontextmanager
async def running(answers: dict[str, Json]) -> AsyncGenerator[TuiPilot]:
    """The terminal UI on a daemon with these answers, with one request of each kind."""
    requests = list(REQUESTS.values())
    daemon = RecordedDaemon([connected(__version__), snapshot(sessions=SESSIONS, requests=requests)], answers)
    app = QuarterdeckApp(Path("/home/ann/.quarterdeck"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=(110, 32)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.stats and app.model.has_snapshot, "the figures")
        yield tui


async def opens(tui: TuiPilot, screen: Screen[Any]) -> None:
    """Put this screen on top, and wait until it has read everything."""
    await tui.app.push_screen(screen)
    await tui.until(lambda: tui.app.screen is screen and screen.is_mounted, "the screen")
    await tui.pilot.pause()
    await tui.until(lambda: not [one for one in tui.app.workers if one.node is screen], "an end of the reading")


def kinds_below(kind: type) -> Iterable[type]:
    """The classes below this one that have none below them."""
    below: list[type] = kind.__subclasses__()
    return [one for child in below for one in kinds_below(child)] if below else [kind]


@pytest.mark.parametrize("key", ["escape", "q"])
@pytest.mark.parametrize("state", STATES)
async def test_one_key_leaves_every_screen(state: str, key: str) -> None:
    async with running(STATES[state]) as tui:
        for make in SCREENS.values():
            screen = make(tui.app)
            await opens(tui, screen)
            await tui.press(key)
            await tui.until(lambda: tui.app.screen is tui.main_screen, f"an end of {type(screen).__name__}")


@pytest.mark.parametrize("state", STATES)
async def test_escape_leaves_every_screen_whatever_is_open_on_it(state: str) -> None:
    async with running(STATES[state]) as tui:
        for make in SCREENS.values():
            screen = make(tui.app)
            await opens(tui, screen)
            await tui.press(*OPENING_KEYS)
            await tui.pilot.pause()
            for _ in range(MOST_OPEN):
                await tui.press(*(["escape"] if tui.app.screen is not tui.main_screen else []))
                await tui.pilot.pause()
            await tui.until(lambda: tui.app.screen is tui.main_screen, f"an end of {type(screen).__name__}")


@pytest.mark.parametrize("typed", [False, True], ids=["at-once", "after-typing"])
async def test_escape_leaves_every_dialog(typed: bool) -> None:
    async with running(FULL) as tui:
        for make in DIALOGS.values():
            dialog = make(tui.app)
            await opens(tui, dialog)
            await tui.press(*(("x", "down", "space") if typed else ()))
            await tui.press("escape")
            await tui.until(lambda: tui.app.screen is tui.main_screen, f"an end of {type(dialog).__name__}")


async def test_every_screen_and_dialog_is_left_here() -> None:
    async with running(FULL) as tui:
        made = {type(make(tui.app)) for make in (*SCREENS.values(), *DIALOGS.values())}
    assert {one for kind in (PageScreen, Dialog) for one in kinds_below(kind)} - made == set()


def names_escape(box: Widget) -> bool:
    return "esc" in str(box.border_subtitle)


async def test_every_dialog_names_its_keys_in_its_own_frame() -> None:
    async with running(FULL) as tui:
        for make in DIALOGS.values():
            dialog = make(tui.app)
            await opens(tui, dialog)
            box = dialog.query_one("#box")
            await tui.until(partial(names_escape, box), type(dialog).__name__)
            await tui.press("escape")
            await tui.until(lambda: tui.app.screen is tui.main_screen, f"an end of {type(dialog).__name__}")


MAIN_STATES: dict[str, tuple[tuple[str, ...], Callable[[TuiPilot], object]]] = {
    "expanded card": (("x",), lambda tui: tui.desk.expanded),
    "command line": (("colon",), lambda tui: isinstance(tui.app.focused, CommandLine)),
    "search": (("slash", *"sails", "enter"), lambda tui: tui.main_screen.feed.term),
    "filter": (("f", *"tool=Bash", "enter"), lambda tui: tui.main_screen.feed.narrowed),
    "one session": (("colon", *"session shop", "enter"), lambda tui: tui.main_screen.sessions.chosen),
    "command palette": (("ctrl+p",), lambda tui: tui.app.screen is not tui.main_screen),
}
"""What can be open on the main screen: the keys that open it, and how one sees that it is open."""


@pytest.mark.parametrize("state", MAIN_STATES)
async def test_escape_leaves_every_state_of_the_main_screen(state: str) -> None:
    keys, is_open = MAIN_STATES[state]
    async with running(FULL) as tui:
        await tui.card(settled=False)
        await tui.press(*keys)
        await tui.until(lambda: is_open(tui), state)
        await tui.press("escape")
        await tui.until(lambda: not is_open(tui), f"an end of the {state}")
