"""Dialogs save all typed text, also when the key that saves follows at once."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.widgets import Input, TextArea

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.client.live import Lost
from quarterdeck.surfaces.terminal.forms.tool_input import read_edited_input
from quarterdeck.surfaces.terminal.model import LINGER_SECONDS
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, Dialog
from quarterdeck.surfaces.tui.dialogs.choices import NumberedChoice, WordChoice
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, BatchList
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import MessageDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import ExplainDialog, RuleDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import PromptDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.widgets.output_filter import NoColours, replace_hidden
from tests.support.hostile import TEXTS
from tests.support.pilot import TuiPilot, screen_text
from tests.support.recorded_daemon import (
    RecordedDaemon,
    connected,
    live_message,
    owned_session_view,
    project,
    project_list,
    request,
    session,
    snapshot,
)

TYPED = " --dry-run --verbose"


def request_item(*patterns: str, **more: Any) -> RequestItem:
    item = RequestItem(request("q1", "make", **more))
    item.patterns = list(patterns)
    return item


def daemon() -> RecordedDaemon:
    return RecordedDaemon([connected(), snapshot(sessions=[session()])], {})


async def result_of(dialog: Dialog[Any], ready: Callable[[], object], *keys: str) -> Any:
    """The result of a dialog when all keys come at once, as in a paste."""
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon())
    result: list[Any] = []
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.has_snapshot, "a connection")
        await app.push_screen(dialog, result.append)
        await tui.until(lambda: app.screen is dialog and ready(), "the dialog")
        if isinstance(dialog, DecisionDialog):
            dialog.shown_at = 0.0
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await tui.until(lambda: result, "an end")
    return result[0]


def focused(dialog: Dialog[Any], kind: type) -> Callable[[], object]:
    return lambda: isinstance(dialog.focused, kind)


def in_pattern(dialog: RememberDialog) -> Callable[[], object]:
    """Go to the pattern, which does not have the focus at first."""

    def ready() -> bool:
        field = dialog.query_one("#pattern", Input)
        field.focus()
        return field.has_focus

    return ready


@pytest.mark.parametrize("key", ["ctrl+s", "f2"])
async def test_an_edited_command_is_saved_with_its_last_character(key: str) -> None:
    dialog = EditDialog(request_item())
    result = await result_of(dialog, focused(dialog, TextArea), *TYPED, key)
    assert result == {"command": f"{TYPED}make"}


async def test_a_pattern_is_remembered_with_its_last_character() -> None:
    dialog = RememberDialog(request_item(), "/w")
    result = await result_of(dialog, focused(dialog, Input), *"Bash(make:*)", "ctrl+s")
    assert result["remember"]["pattern"] == "Bash(make:*)"


async def test_deleted_characters_are_not_saved() -> None:
    dialog = RememberDialog(request_item(), "/w")
    result = await result_of(dialog, focused(dialog, Input), *"Bash(make:*)x", "backspace", "ctrl+s")
    assert result["remember"]["pattern"] == "Bash(make:*)"


async def test_a_choice_by_key_takes_effect_before_the_save() -> None:
    dialog = RememberDialog(request_item("Bash(make)"), "/w")

    def ready() -> bool:
        dialog.query_one("#scope", WordChoice).focus()
        return dialog.query_one("#scope", WordChoice).has_focus

    result = await result_of(dialog, ready, "right", "ctrl+s")
    assert result["remember"]["scope"] == "project"


@pytest.mark.law("R5")
async def test_a_rule_is_remembered_for_the_session_alone_unless_more_is_chosen() -> None:
    dialog = RememberDialog(request_item("Bash(make)", "Bash(make:*)"), "/w")
    result = await result_of(dialog, focused(dialog, NumberedChoice), "ctrl+s")
    assert result == {"decision": "allow", "remember": {"pattern": "Bash(make)", "scope": "session"}}


async def test_a_pattern_that_is_picked_by_number_is_the_one_remembered() -> None:
    dialog = RememberDialog(request_item("Bash(make)", "Bash(make:*)"), "/w")
    result = await result_of(dialog, focused(dialog, NumberedChoice), "2", "ctrl+s")
    assert result["remember"]["pattern"] == "Bash(make:*)"


async def test_with_one_pattern_a_number_chooses_the_decision() -> None:
    dialog = RememberDialog(request_item("Bash(make)"), "/w")
    result = await result_of(dialog, focused(dialog, WordChoice), "2", "ctrl+s")
    assert (result["decision"], result["remember"]["pattern"]) == ("deny", "Bash(make)")


async def test_a_rule_and_a_question_about_rules_have_all_typed_characters() -> None:
    rule = RuleDialog({})
    assert (await result_of(rule, focused(rule, Input), *"Bash(make:*)", "ctrl+s"))["pattern"] == "Bash(make:*)"
    question = ExplainDialog("/w")
    result = await result_of(question, focused(question, Input), *TYPED, "ctrl+s")
    assert result["tool_input"] == {"command": TYPED}


async def test_a_form_is_sent_with_its_last_character() -> None:
    schema = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    about = {"message": "Who?", "requested_schema": schema}
    dialog = FormDialog(request_item(kind="question", form="elicitation", tool_input=about))
    assert await result_of(dialog, focused(dialog, Input), *TYPED, "ctrl+s") == {"name": TYPED}


async def test_a_dialog_is_hidden_while_the_one_it_opened_is_shown() -> None:
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon())
    async with app.run_test(size=(100, 30)) as pilot:
        tui = TuiPilot(app, pilot)
        first, second = RuleDialog({}), ExplainDialog("/w")
        await app.push_screen(first)
        await tui.sees("A new rule")
        await app.push_screen(second)
        await tui.sees("What would the rules say?")
        await tui.until(lambda: not first.query_one("#box").visible, "one dialog")
        await tui.press("escape")
        await tui.sees("A new rule")


@pytest.mark.law("D10")
@pytest.mark.parametrize("before", [{"command": "make"}, {"path": "x"}], ids=["command", "JSON"])
def test_an_edit_with_hidden_characters_is_not_saved(before: dict[str, str]) -> None:
    text = json.dumps({"path": "a\u202eb"}, ensure_ascii=False)
    result = read_edited_input("make \u202e now" if "command" in before else text, before)
    assert isinstance(result, str)
    assert "⟨202e⟩" in result
    assert read_edited_input(json.dumps({"path": "a\u202eb"}), {"path": "x"}) == {"path": "a\u202eb"}


@pytest.mark.law("I6")
@pytest.mark.parametrize("hostile", [text for text in TEXTS if UNSEEN.search(text)])
async def test_inputs_never_send_hostile_text_to_the_terminal(hostile: str) -> None:
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon())
    form_input = {"requested_schema": {"properties": {"name": {"type": "string", "default": hostile}}}}
    form = RequestItem(request("q1", form="elicitation", kind="question", tool_input=form_input))
    async with app.run_test(size=(120, 40)) as pilot:
        for dialog in (
            EditDialog(request_item()),
            FormDialog(form),
            ExplainDialog(hostile),
            MessageDialog(request_item(), "t", "h"),
        ):
            await app.push_screen(dialog)
            for line in dialog.query(Input):
                line.value += hostile
            for page in dialog.query(TextArea):
                page.text += hostile
            await pilot.pause()
            shown = screen_text(app)
            assert not UNSEEN.search(shown), shown
            await app.pop_screen()


def test_replaced_hidden_characters_keep_the_width_of_the_text() -> None:
    text = "a\x1b[2J\u202eb\u200bc漢"
    assert cell_len(replace_hidden(text)) == cell_len(text)
    assert not UNSEEN.search(replace_hidden(text))


async def test_unsent_text_is_there_again_in_the_next_dialog() -> None:
    about = request_item("Bash(make)")
    first = RememberDialog(about, "/w")
    await result_of(first, in_pattern(first), *"x", "ctrl+s")
    again = RememberDialog(about, "/w")
    assert (await result_of(again, in_pattern(again), "ctrl+s"))["remember"]["pattern"] == "x"
    edit = EditDialog(about)
    await result_of(edit, focused(edit, TextArea), *"sudo ", "ctrl+s")
    edit = EditDialog(about)
    assert await result_of(edit, focused(edit, TextArea), "ctrl+s") == {"command": "sudo make"}


def test_without_colours_the_cursor_is_shown_in_reverse() -> None:
    ground = Color.parse("#101010")
    plain, cursor = Style(color="red", bgcolor="#101010", bold=True), Style(bgcolor="#2b3b4a")
    shown = NoColours().apply([Segment("a", plain), Segment("b", cursor), Segment("c")], ground)
    assert [one.text for one in shown] == ["a", "b", "c"]
    assert all(one.style is None or "38;" not in one.style.render("x") for one in shown)
    assert shown[0].style is not None
    assert shown[0].style.bold
    assert not shown[0].style.reverse
    assert shown[1].style is not None
    assert shown[1].style.reverse


@asynccontextmanager
async def pending_request() -> AsyncGenerator[tuple[TuiPilot, RequestItem]]:
    """The terminal UI with one request, which waits."""
    state = snapshot(sessions=[session()], requests=[request("q1", "make")])
    app = QuarterdeckApp(Path("/nowhere"), daemon=RecordedDaemon([connected(), state], {}))
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.pending, "a request")
        yield tui, app.model.pending[0]


def withdraw(tui: TuiPilot, lingers: float = 60.0) -> None:
    """The daemon restarts: nothing waits any more. The request lingers on the desk for so many seconds."""
    tui.app.model.receive(snapshot(sessions=[session()]), time.monotonic() + lingers - LINGER_SECONDS)


def ask_again(tui: TuiPilot) -> None:
    tui.app.model.receive(live_message("request", request("q1", "make")), time.monotonic())


def reconnect(tui: TuiPilot) -> None:
    tui.app.model.receive(connected(), time.monotonic())


async def no_longer_sees(tui: TuiPilot, words: str) -> None:
    await tui.until(lambda: words not in tui.text, f"no “{words}” on the screen")


@pytest.mark.parametrize("lingers", [60.0, 0.0])
async def test_a_dialog_does_not_call_a_request_over_that_waits_again(lingers: float) -> None:
    async with pending_request() as (tui, item):
        dialog = MessageDialog(item, "Deny", "why")
        sent: list[str | None] = []
        await tui.app.push_screen(dialog, sent.append)
        withdraw(tui, lingers)
        await tui.sees("It is over")
        await tui.until(lambda: lingers or not tui.app.model.items, "an empty desk")
        ask_again(tui)
        await no_longer_sees(tui, "It is over")
        await tui.press("enter")
        await tui.until(lambda: sent, "a decision")


async def test_a_dialog_does_not_stay_not_connected() -> None:
    async with pending_request() as (tui, item):
        await tui.app.push_screen(MessageDialog(item, "Deny", "why"))
        tui.app.model.receive(Lost("away"), time.monotonic())
        await tui.press("enter")
        await tui.sees("Not sent: what you see may be old")
        reconnect(tui)
        await no_longer_sees(tui, "Not sent")


async def test_many_at_once_says_only_what_still_holds() -> None:
    async with pending_request() as (tui, _):
        dialog = BatchDialog(tui.app.model)
        await tui.app.push_screen(dialog)
        withdraw(tui)
        await tui.sees("1 of these are over")
        ask_again(tui)
        await no_longer_sees(tui, "of these are over")
        dialog.shown_at = 0.0
        dialog.query_one(BatchList).marked.add("q1")
        tui.app.model.receive(Lost("away"), time.monotonic())
        await tui.press("d")
        await tui.sees("Nothing was sent.")
        reconnect(tui)
        await no_longer_sees(tui, "Nothing was sent.")


async def test_a_command_that_found_no_daemon_does_not_say_so_for_ever() -> None:
    async with pending_request() as (tui, _):
        await tui.app.push_screen(PromptDialog(owned_session_view()))
        await tui.press("h", "i", "ctrl+s")
        await tui.sees("not recorded")
        reconnect(tui)
        await no_longer_sees(tui, "not recorded")
        await tui.sees("hi")


async def test_the_projects_are_listed_once_the_daemon_is_back() -> None:
    async with pending_request() as (tui, _):
        await tui.app.push_screen(StartDialog(""))
        await tui.sees("not recorded")
        cast(RecordedDaemon, tui.app.daemon).answers["/projects"] = project_list(project("shop"))
        reconnect(tui)
        await tui.sees("/home/ann/shop")
        await no_longer_sees(tui, "not recorded")


@pytest.mark.parametrize("kind", ["rule", "remember"])
async def test_a_rule_is_tried_again_once_the_daemon_is_back(kind: str) -> None:
    async with pending_request() as (tui, item):
        source = cast(RecordedDaemon, tui.app.daemon)
        item.patterns = ["Bash(make)"]
        start = {"pattern": "Bash(make)"}
        await tui.app.push_screen(RuleDialog(start) if kind == "rule" else RememberDialog(item, "/w"))
        await tui.sees("Not yet a rule: not recorded")
        source.answers["/rules/simulate"] = {"seen": 0}
        await tui.sees("There are no past requests to test it on.")
