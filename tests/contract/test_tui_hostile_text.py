"""Hostile text on every screen and in every dialog is shown literally and has no effect."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.screen import Screen
from textual.widgets import Input

from quarterdeck.core.text.sanitize import UNSEEN, one_line
from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.forms.tool_input import MAX_LINE
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui import dialogs
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, Dialog, LinesDialog
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import MessageDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import CommandDialog
from quarterdeck.surfaces.tui.dialogs.manage.marketplace import MarketplaceDialog
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import McpServerDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog, ExplainDialog, RuleDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import ContinueDialog, PromptDialog, SessionDialog, SwitchDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.stop_dialog import StopDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.dialogs.rule_preview import RulePreviewDialog
from quarterdeck.surfaces.tui.screen_registry import PAGES
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from quarterdeck.surfaces.tui.widgets.footer import KeyFooter
from quarterdeck.views.resources.session_view import SessionView, StopResult
from quarterdeck.wire import read_json, write_json
from tests.support.deck_scene import DeckScene
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    daemon_stats,
    event,
    live_message,
    project,
    project_list,
    request,
    resolved,
    session,
    snapshot,
)
from tests.unit.core.deck.test_shown_request import asks

SIZE = (170, 60)
KNOWN = 6
"""Characters at the beginning of a text, or at its end where an input has scrolled there, by which it is known."""
SHOWS_NOTHING_FOREIGN = (MarketplaceDialog, McpServerDialog, PlanDialog)
"""Dialogs that show nothing from outside."""
BASES = {Dialog, LinesDialog, DecisionDialog, CommandDialog, SessionDialog, RulePreviewDialog}


def session_with(text: str) -> Json:
    todos = [{"todo_id": "1", "text": text, "status": "doing"}]
    return session("s1", cwd=f"/w/{text}", title=text, todos=todos, project_id="p_1")


def session_seen(text: str) -> SessionView:
    return read_view(SessionView, session_with(text))


def request_with(text: str, **more: Any) -> Json:
    risk = {"level": "high", "reasons": [text]}
    return request("q1", text, risk=risk, agent_id="a1", agent_type=text, **more)


def question(text: str) -> Json:
    options = [{"label": text, "description": text, "preview": text}, {"label": "no"}]
    question = {"question": text, "header": text, "options": options}
    return request_with(text, kind="question", form="questions", tool_name="Ask", tool_input={"questions": [question]})


def form(text: str) -> Json:
    field = {"type": "string", "title": text, "description": text, "enum": [text]}
    typed = {"type": "string", "default": text, "description": text}
    schema = {"properties": {text or "name": field, "typed": typed}, "required": [text or "name"]}
    given = {"mcp_server_name": text, "message": text, "requested_schema": schema}
    return request_with(text, kind="question", form="elicitation", tool_input=given)


def rule(text: str) -> Json:
    made: Json = {"rule_id": "r1", "effect": "deny", "pattern": text, "scope": "project", "scope_id": "p_1"}
    made |= {"scope_path": f"/w/{text}", "hits": 2, "expires_at": None, "last_hit_at": NOW - 60}
    return made | {"created_by": text, "note": text, "created_at": NOW}


def project_config(text: str) -> Json:
    named = [{"name": text, "says": text, "file": text}]
    hooks = [{"event": text, "matcher": text, "runs": text, "file": text}]
    servers = [{"name": text, "transport": text, "runs": text, "gets": [text], "file": text}]
    found: Json = {"path": f"/w/{text}", "trusted": False, "hooks": hooks, "servers": servers}
    return found | {"variables": named, "allows": named, "others": named, "troubles": [text]}


def answers(text: str) -> dict[str, Json]:
    """What a daemon says that knows nothing but this text."""
    audit_row: Json = {"seq_no": 1, "at": NOW, "who": text, "surface": text, "source": text, "session_id": text or "s"}
    audit_row |= {"kind": "permission.decision", "digest": text, "hash": text, "about": text}
    audit_row |= {"what": {"decision_type": "deny", "pattern": text}}
    plugin: Json = {"plugin_id": text, "name": text, "marketplace": text, "version": text, "enabled": True}
    plugin |= {"scope": text, "project": text, "capabilities": [text], "errors": [text]}
    server: Json = {"name": text, "transport": text, "scope": text, "project": text, "status": text, "tools": None}
    server |= {"last_error": text, "checked_at": NOW, "config": {"command": text, "args": [text]}, "login": text}
    tree: Json = {"session_id": "s1", "branch": text, "base": text, "project": text, "path": text}
    tree |= {"is_dirty": True, "ahead": 1, "behind": 0, "trouble": text}
    changed = {"files": [{"path": text, "added": 1, "removed": 1}], "untracked": [text], "diff": text, "is_cut": False}
    found = project(text, path=f"/w/{text}", git_branch=text, git_remote=text, git_trouble=text)
    return {
        "/sessions": {"sessions": [], "next": None},
        "/rules": {"rules": [rule(text)], "findings": [text]},
        "/audit": {"audit": [audit_row], "next": None},
        "/plugins": {"plugins": [plugin]},
        "/plugins/marketplaces": {"marketplaces": [{"name": text, "source": text, "location": text}]},
        "/mcp": {"mcp": [server]},
        "/projects": project_list(found | {"project_id": "p_1"}, notes=[text]),
        "/worktrees": {"worktrees": [tree]},
        "/worktrees/s1/diff": changed,
        "/stats": daemon_stats(version=text, runner_id=text, store={"damaged": text, "trouble": text}),
        "/feed": {
            "events": [
                event(1, "todo.add", "", todo_id="t", text=text, details=text),
                event(2, "setting.change", "", key="otel.endpoint", new=text or "x"),
            ],
            "next": None,
        },
        "/rules/simulate": {"seen": 1, "decided": 1, "left": 0, "next": None, "surprises": [], "examples": []},
        "/requests/q1": request_with(text) | {"rule": None},
        "/deck": deck_with(text),
        "/stats/series": {
            "times": [NOW],
            "until": NOW + 86400,
            "series": [{"name": text, "label": text, "total": 1.0, "values": [1.0], "is_rest": False}],
        },
    }


def deck_with(text: str) -> Json:
    model: Json = read_json(write_json(asks(DeckScene(), "q1", "ls").model))
    model["request"] |= {"detail": text, "project": text, "tool_name": text, "reasons": [text], "hides": [text]}
    model["state"] |= {"title": text, "project": text}
    for key in model["keypad"]["slots"]:
        key |= {"label": text, "sublabel": text, "glyph": text}
    return model | {"problem": text, "page_name": text}


@asynccontextmanager
async def tui_with(text: str, *requests: Json) -> AsyncGenerator[TuiPilot]:
    decided = resolved(request_with(text) | {"request_id": "q0"}, word="deny", message=text, by=text or "owner")
    messages: list[Connected | Lost | LiveMessage] = [
        connected(),
        snapshot(sessions=[session_with(text)], requests=list(requests)),
        live_message("request", decided),
    ]
    app = QuarterdeckApp(Path("/nowhere"), daemon=RecordedDaemon(messages, answers(text)), clock=lambda: NOW)
    async with app.run_test(size=SIZE) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.has_snapshot and app.main_screen.is_composed, "the main screen")
        yield tui


def rows_of(tui: TuiPilot) -> list[str]:
    """What the screen shows; of a dialog its box alone."""
    rows = tui.text.split("\n")
    boxes = [box.region for box in tui.app.screen.query("#box")]
    return rows[boxes[0].y : boxes[0].bottom] if boxes else rows


async def shows(tui: TuiPilot, text: str) -> None:
    """Wait until the text stands there literally, and nothing that acts or hides does."""
    shown = "".join(one_line(text.strip()).split())
    begins, ends = shown[:KNOWN], shown[-KNOWN:]

    def there() -> bool:
        rows = ["".join(row.split()) for row in rows_of(tui)]
        return any(begins in row or ends in row for row in rows)

    await tui.until(there, repr(begins))
    assert not UNSEEN.search("".join(rows_of(tui)))


OPENED: dict[type[Dialog[Any]], Callable[[str, TuiPilot], Screen[Any]]] = {
    AnswerDialog: lambda text, tui: AnswerDialog(RequestItem(question(text))),
    BatchDialog: lambda text, tui: BatchDialog(model_of(text)),
    EditDialog: lambda text, tui: EditDialog(RequestItem(request_with(text))),
    ExplainDialog: lambda text, tui: ExplainDialog(f"/w/{text}", request_with(text)),
    FormDialog: lambda text, tui: FormDialog(RequestItem(form(text))),
    ContinueDialog: lambda text, tui: ContinueDialog(session_seen(text), "fork", text),
    MarketplaceDialog: lambda text, tui: MarketplaceDialog(),
    PlanDialog: lambda text, tui: PlanDialog(RequestItem(request_with(text, form="plan", tool_input={"plan": text}))),
    RememberDialog: lambda text, tui: RememberDialog(remembered_item(text), f"/w/{text}"),
    RuleDialog: lambda text, tui: RuleDialog(rule(text) | {"examples": []}),
    McpServerDialog: lambda text, tui: McpServerDialog(),
    StartDialog: lambda text, tui: StartDialog(f"/w/{text}"),
    ConfirmDialog: lambda text, tui: ConfirmDialog(text),
    SwitchDialog: lambda text, tui: SwitchDialog(replace(session_seen(text), mode="sdk")),
    TrustDialog: lambda text, tui: TrustDialog(project_config(text)),
    MessageDialog: lambda text, tui: MessageDialog(RequestItem(request_with(text)), "Deny", "What shall it read?"),
    PromptDialog: lambda text, tui: PromptDialog(session_seen(text)),
    StopDialog: lambda text, tui: StopDialog({"interrupt": [], "end": [read_view(StopResult, session_with(text))]}),
}
"""Every dialog, with the text in each place that something from outside can stand in."""


def model_of(text: str) -> Model:
    model = Model()
    several = [request_with(text), request_with(text) | {"request_id": "q2"}]
    model.receive(snapshot(sessions=[session_with(text)], requests=several), 1.0)
    return model


def remembered_item(text: str) -> RequestItem:
    item = RequestItem(request_with(text))
    item.patterns = [text or "Bash(ls)"]
    return item


def shown_in(dialog: type[Dialog[Any]], text: str) -> str:
    """What of a text is to be seen in a dialog: what is to be changed there is empty, or spelled out as JSON does,
    where it would hide something or is too long."""
    hides = UNSEEN.search(text) is not None
    if dialog in SHOWS_NOTHING_FOREIGN or ((hides or len(text) > MAX_LINE) and dialog in (ExplainDialog, RuleDialog)):
        return ""
    return json.dumps(text)[1:-1] if hides and dialog is EditDialog else text


def is_next_screen(tui: TuiPilot, before: Screen[Any]) -> bool:
    return tui.app.screen is not before and bool(tui.app.screen.query(KeyFooter))


def is_open(tui: TuiPilot, dialog: Screen[Any]) -> bool:
    return tui.app.screen is dialog and bool(dialog.query("#box"))


def test_every_dialog_is_tested() -> None:
    found = set()
    for module in pkgutil.walk_packages(dialogs.__path__, f"{dialogs.__name__}."):
        classes = vars(import_module(module.name)).values()
        found |= {one for one in classes if isinstance(one, type) and issubclass(one, Dialog)}
    assert found - BASES == set(OPENED)


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_text_is_shown_literally_on_every_screen(name: str) -> None:
    text = HOSTILE[name]
    async with tui_with(text, request_with(text)) as tui:
        await shows(tui, text)
        for page in PAGES:
            before = tui.app.screen
            tui.app.open_page(page)
            await tui.until(partial(is_next_screen, tui, before), page)
            await shows(tui, "Help" if page == "help" else text)
            await tui.press("enter")
            await shows(tui, "" if page == "help" else text)
        tui.app.push_screen(WorktreePage(session_seen(text)))
        await shows(tui, text)


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("dialog", OPENED, ids=lambda dialog: dialog.__name__)
async def test_hostile_text_is_shown_literally_in_every_dialog(dialog: type[Dialog[Any]]) -> None:
    async with tui_with("plain") as tui:
        assert isinstance(tui.app.daemon, RecordedDaemon)
        for text in TEXTS:
            tui.app.daemon.answers = answers(text)
            screen = OPENED[dialog](text, tui)
            tui.app.push_screen(screen)
            await tui.until(partial(is_open, tui, screen), text)
            await shows(tui, shown_in(dialog, text))
            tui.app.pop_screen()


@pytest.mark.law("D10")
@pytest.mark.parametrize("dialog", [RememberDialog, RuleDialog], ids=lambda dialog: dialog.__name__)
async def test_no_rule_form_starts_with_hidden_characters(dialog: type[Dialog[Any]]) -> None:
    async with tui_with("plain") as tui:
        for text in (one for one in TEXTS if UNSEEN.search(one)):
            screen = OPENED[dialog](text, tui)
            tui.app.push_screen(screen)
            await tui.until(partial(is_open, tui, screen), text)
            assert screen.query_one("#pattern", Input).value == ""
            tui.app.pop_screen()
