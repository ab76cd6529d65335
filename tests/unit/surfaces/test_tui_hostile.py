"""Texts that mean harm, on every screen and in every dialog: they show as they are, and do nothing."""

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
from textual.screen import Screen
from textual.widgets import Input

from quarterdeck.core.text.sanitize import UNSEEN, one_line
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.terminal.model import Asked, Model
from quarterdeck.surfaces.tui import dialogs
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, Dialog
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import WordsDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import OrderDialog
from quarterdeck.surfaces.tui.dialogs.manage.marketplace import MarketplaceDialog
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import ServerDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import LONGEST, ExplainDialog, RuleDialog, SureDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import GoOnDialog, SessionDialog, SwitchDialog, WriteDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.screen_registry import PAGES
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from quarterdeck.surfaces.tui.widgets.footer import Keys
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.pilot import Face
from tests.support.tui import (
    NOW,
    Json,
    RecordedTalk,
    connected,
    event,
    figures,
    over,
    project,
    projects,
    request,
    session,
    snapshot,
    told,
)

SIZE = (170, 60)
KNOWN = 6
"""Characters at the beginning of a text, or at its end where an input has scrolled there, by which it is known."""
TALKS_TO_NOBODY = (MarketplaceDialog, ServerDialog, PlanDialog)
"""Dialogs that show nothing from outside."""
BASES = {Dialog, DecisionDialog, OrderDialog, SessionDialog}


def a_session(text: str) -> Json:
    todos = [{"todo_id": "1", "text": text, "status": "doing"}]
    return session("s1", cwd=f"/w/{text}", title=text, todos=todos, project_id="p_1")


def asking(text: str, **more: Any) -> Json:
    risk = {"level": "high", "reasons": [text]}
    return request("q1", text, risk=risk, agent_id="a1", agent_type=text, **more)


def question(text: str) -> Json:
    options = [{"label": text, "description": text, "preview": text}, {"label": "no"}]
    asked = {"question": text, "header": text, "options": options}
    return asking(text, kind="question", form="questions", tool_name="Ask", tool_input={"questions": [asked]})


def form(text: str) -> Json:
    field = {"type": "string", "title": text, "description": text, "enum": [text]}
    typed = {"type": "string", "default": text, "description": text}
    schema = {"properties": {text or "name": field, "typed": typed}, "required": [text or "name"]}
    given = {"mcp_server_name": text, "message": text, "requested_schema": schema}
    return asking(text, kind="question", form="elicitation", tool_input=given)


def rule(text: str) -> Json:
    made: Json = {"rule_id": "r1", "effect": "deny", "pattern": text, "scope": "project", "scope_id": "p_1"}
    made |= {"scope_path": f"/w/{text}", "hits": 2, "expires_at": None, "last_hit_at": NOW - 60}
    return made | {"created_by": text, "note": text, "created_at": NOW}


def brings(text: str) -> Json:
    named = [{"name": text, "says": text, "file": text}]
    hooks = [{"event": text, "matcher": text, "runs": text, "file": text}]
    servers = [{"name": text, "transport": text, "runs": text, "gets": [text], "file": text}]
    found: Json = {"path": f"/w/{text}", "trusted": False, "hooks": hooks, "servers": servers}
    return found | {"variables": named, "allows": named, "others": named, "troubles": [text]}


def answers(text: str) -> dict[str, Json]:
    """What a daemon says that knows nothing but this text."""
    deed: Json = {"seq_no": 1, "at": NOW, "who": text, "surface": text, "source": text, "session_id": text or "s"}
    deed |= {"kind": "permission.decision", "digest": text, "hash": text, "about": text}
    deed |= {"what": {"decision_type": "deny", "pattern": text}}
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
        "/audit": {"audit": [deed], "next": None},
        "/plugins": {"plugins": [plugin]},
        "/plugins/marketplaces": {"marketplaces": [{"name": text, "source": text, "location": text}]},
        "/mcp": {"mcp": [server]},
        "/projects": projects(found | {"project_id": "p_1"}, notes=[text]),
        "/worktrees": {"worktrees": [tree]},
        "/worktrees/s1/diff": changed,
        "/stats": figures(version=text, runner_id=text, store={"damaged": text, "trouble": text}),
        "/feed": {
            "events": [
                event(1, "todo.add", "", todo_id="t", text=text, details=text),
                event(2, "setting.change", "", key="otel.endpoint", new=text or "x"),
            ],
            "next": None,
        },
        "/rules/simulate": {"seen": 1, "decided": 1, "left": 0, "next": None, "surprises": [], "examples": []},
        "/requests/q1": asking(text) | {"rule": None},
    }


@asynccontextmanager
async def face_with(text: str, *requests: Json) -> AsyncGenerator[Face]:
    decided = over(asking(text) | {"request_id": "q0"}, word="deny", message=text, by=text or "owner")
    said: list[Connected | Lost | Message] = [
        connected(),
        snapshot(sessions=[a_session(text)], requests=list(requests)),
        told("request", decided),
    ]
    app = QuarterdeckApp(Path("/nowhere"), talk=RecordedTalk(said, answers(text)), clock=lambda: NOW)
    async with app.run_test(size=SIZE) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.is_told and app.bridge.is_whole, "the bridge")
        yield face


def rows_of(face: Face) -> list[str]:
    """What the screen shows; of a dialog its box alone."""
    rows = face.text.split("\n")
    boxes = [box.region for box in face.app.screen.query("#box")]
    return rows[boxes[0].y : boxes[0].bottom] if boxes else rows


async def shows(face: Face, text: str) -> None:
    """Wait until the text stands there literally, and nothing that acts or hides does."""
    shown = "".join(one_line(text.strip()).split())
    begins, ends = shown[:KNOWN], shown[-KNOWN:]

    def there() -> bool:
        rows = ["".join(row.split()) for row in rows_of(face)]
        return any(begins in row or ends in row for row in rows)

    await face.until(there, repr(begins))
    assert not UNSEEN.search("".join(rows_of(face)))


OPENED: dict[type[Dialog[Any]], Callable[[str, Face], Screen[Any]]] = {
    AnswerDialog: lambda text, face: AnswerDialog(Asked(question(text))),
    BatchDialog: lambda text, face: BatchDialog(model_of(text)),
    EditDialog: lambda text, face: EditDialog(Asked(asking(text))),
    ExplainDialog: lambda text, face: ExplainDialog(f"/w/{text}", asking(text)),
    FormDialog: lambda text, face: FormDialog(Asked(form(text))),
    GoOnDialog: lambda text, face: GoOnDialog(a_session(text), "fork", text),
    MarketplaceDialog: lambda text, face: MarketplaceDialog(),
    PlanDialog: lambda text, face: PlanDialog(Asked(asking(text, form="plan", tool_input={"plan": text}))),
    RememberDialog: lambda text, face: RememberDialog(remembered(text), face.app.talk, f"/w/{text}"),
    RuleDialog: lambda text, face: RuleDialog(face.app.talk, rule(text) | {"examples": []}),
    ServerDialog: lambda text, face: ServerDialog(),
    StartDialog: lambda text, face: StartDialog(f"/w/{text}"),
    SureDialog: lambda text, face: SureDialog(text),
    SwitchDialog: lambda text, face: SwitchDialog(a_session(text) | {"mode": "sdk"}),
    TrustDialog: lambda text, face: TrustDialog(brings(text)),
    WordsDialog: lambda text, face: WordsDialog(Asked(asking(text)), "Deny", "What shall it read?"),
    WriteDialog: lambda text, face: WriteDialog(a_session(text)),
}
"""Every dialog, with the text in each place that something from outside can stand in."""


def model_of(text: str) -> Model:
    model = Model()
    several = [asking(text), asking(text) | {"request_id": "q2"}]
    model.hear(snapshot(sessions=[a_session(text)], requests=several), 1.0)
    return model


def remembered(text: str) -> Asked:
    asked = Asked(asking(text))
    asked.patterns = [text or "Bash(ls)"]
    return asked


def shown_in(dialog: type[Dialog[Any]], text: str) -> str:
    """What of a text is to be seen in a dialog: what is to be changed there is empty, or spelled out as JSON does,
    where it would hide something or is too long."""
    hides = UNSEEN.search(text) is not None
    if dialog in TALKS_TO_NOBODY or ((hides or len(text) > LONGEST) and dialog in (ExplainDialog, RuleDialog)):
        return ""
    return json.dumps(text)[1:-1] if hides and dialog is EditDialog else text


def is_another(face: Face, before: Screen[Any]) -> bool:
    return face.app.screen is not before and bool(face.app.screen.query(Keys))


def is_open(face: Face, dialog: Screen[Any]) -> bool:
    return face.app.screen is dialog and bool(dialog.query("#box"))


def test_no_dialog_is_left_out() -> None:
    found = set()
    for module in pkgutil.iter_modules(dialogs.__path__):
        classes = vars(import_module(f"{dialogs.__name__}.{module.name}")).values()
        found |= {one for one in classes if isinstance(one, type) and issubclass(one, Dialog)}
    assert found - BASES == set(OPENED)


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_text_stands_literally_on_every_screen(name: str) -> None:
    text = HOSTILE[name]
    async with face_with(text, asking(text)) as face:
        await shows(face, text)
        for page in PAGES:
            before = face.app.screen
            face.app.open_page(page)
            await face.until(partial(is_another, face, before), page)
            await shows(face, "Help" if page == "help" else text)
            await face.press("enter")
            await shows(face, "" if page == "help" else text)
        face.app.push_screen(WorktreePage(a_session(text)))
        await shows(face, text)


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("dialog", OPENED, ids=lambda dialog: dialog.__name__)
async def test_a_hostile_text_stands_literally_in_a_dialog(dialog: type[Dialog[Any]]) -> None:
    async with face_with("plain") as face:
        assert isinstance(face.app.talk, RecordedTalk)
        for text in TEXTS:
            face.app.talk.answers = answers(text)
            screen = OPENED[dialog](text, face)
            face.app.push_screen(screen)
            await face.until(partial(is_open, face, screen), text)
            await shows(face, shown_in(dialog, text))
            face.app.pop_screen()


@pytest.mark.law("D10")
@pytest.mark.parametrize("dialog", [RememberDialog, RuleDialog], ids=lambda dialog: dialog.__name__)
async def test_no_rule_begins_with_what_does_not_show(dialog: type[Dialog[Any]]) -> None:
    async with face_with("plain") as face:
        for text in (one for one in TEXTS if UNSEEN.search(one)):
            screen = OPENED[dialog](text, face)
            face.app.push_screen(screen)
            await face.until(partial(is_open, face, screen), text)
            assert screen.query_one("#pattern", Input).value == ""
            face.app.pop_screen()
