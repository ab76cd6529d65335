"""Dialogs: what is saved is what was typed, however quickly the key that saves comes after it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.widgets import Input, TextArea

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, Dialog
from quarterdeck.surfaces.tui.dialogs.choices import Numbered, OneWord
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog, read_back
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import WordsDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import ExplainDialog, RuleDialog
from quarterdeck.surfaces.tui.widgets.output_filter import NoColours, harmless
from tests.support.hostile import TEXTS
from tests.support.pilot import Face, screen_text
from tests.support.tui import RecordedTalk, connected, request, session, snapshot

TYPED = " --dry-run --verbose"


def asked(*patterns: str, **more: Any) -> Asked:
    made = Asked(request("q1", "make", **more))
    made.patterns = list(patterns)
    return made


def talk() -> RecordedTalk:
    return RecordedTalk([connected(), snapshot(sessions=[session()])], {})


async def saved(dialog: Dialog[Any], ready: Callable[[], object], *keys: str) -> Any:
    """What a dialog ends with when all keys come at once, as from a quick hand or a paste."""
    app = QuarterdeckApp(Path("/nowhere"), talk=talk())
    found: list[Any] = []
    async with app.run_test(size=(120, 40)) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.is_told, "a connection")
        await app.push_screen(dialog, found.append)
        await face.until(lambda: app.screen is dialog and ready(), "the dialog")
        if isinstance(dialog, DecisionDialog):
            dialog.shown_at = 0.0
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await face.until(lambda: found, "an end")
    return found[0]


def focused(dialog: Dialog[Any], kind: type) -> Callable[[], object]:
    return lambda: isinstance(dialog.focused, kind)


@pytest.mark.parametrize("key", ["ctrl+s", "f2"])
async def test_an_edited_command_is_saved_with_its_last_character(key: str) -> None:
    dialog = EditDialog(asked())
    found = await saved(dialog, focused(dialog, TextArea), *TYPED, key)
    assert found == {"command": f"{TYPED}make"}


async def test_a_pattern_is_remembered_with_its_last_character() -> None:
    dialog = RememberDialog(asked(), talk(), "/w")
    found = await saved(dialog, focused(dialog, Input), *"Bash(make:*)", "ctrl+s")
    assert found["remember"]["pattern"] == "Bash(make:*)"


async def test_what_was_taken_back_is_not_saved() -> None:
    dialog = RememberDialog(asked(), talk(), "/w")
    found = await saved(dialog, focused(dialog, Input), *"Bash(make:*)x", "backspace", "ctrl+s")
    assert found["remember"]["pattern"] == "Bash(make:*)"


async def test_a_choice_by_key_holds_before_it_is_saved() -> None:
    dialog = RememberDialog(asked("Bash(make)"), talk(), "/w")

    def ready() -> bool:
        dialog.query_one("#scope", OneWord).focus()
        return dialog.query_one("#scope", OneWord).has_focus

    found = await saved(dialog, ready, "right", "ctrl+s")
    assert found["remember"]["scope"] == "project"


@pytest.mark.law("R5")
async def test_a_rule_is_remembered_for_the_session_alone_unless_more_is_chosen() -> None:
    dialog = RememberDialog(asked("Bash(make)", "Bash(make:*)"), talk(), "/w")
    found = await saved(dialog, focused(dialog, Input), "ctrl+s")
    assert found == {"decision": "allow", "remember": {"pattern": "Bash(make)", "scope": "session"}}


async def test_a_pattern_that_is_picked_by_number_is_the_one_remembered() -> None:
    dialog = RememberDialog(asked("Bash(make)", "Bash(make:*)"), talk(), "/w")

    def ready() -> bool:
        offered = dialog.query_one("#offered", Numbered)
        offered.focus()
        return offered.has_focus

    found = await saved(dialog, ready, "2", "ctrl+s")
    assert found["remember"]["pattern"] == "Bash(make:*)"


async def test_a_rule_and_a_question_about_rules_are_whole() -> None:
    rule = RuleDialog(talk(), {})
    assert (await saved(rule, focused(rule, Input), *"Bash(make:*)", "ctrl+s"))["pattern"] == "Bash(make:*)"
    question = ExplainDialog("/w")
    found = await saved(question, focused(question, Input), *TYPED, "ctrl+s")
    assert found["tool_input"] == {"command": TYPED}


async def test_a_form_is_sent_with_its_last_character() -> None:
    schema = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    about = {"message": "Who?", "requested_schema": schema}
    dialog = FormDialog(asked(kind="question", form="elicitation", tool_input=about))
    assert await saved(dialog, focused(dialog, Input), *TYPED, "ctrl+s") == {"name": TYPED}


async def test_a_dialog_steps_aside_for_the_one_it_leads_to() -> None:
    app = QuarterdeckApp(Path("/nowhere"), talk=talk())
    async with app.run_test(size=(100, 30)) as pilot:
        face = Face(app, pilot)
        first, second = RuleDialog(talk(), {}), ExplainDialog("/w")
        await app.push_screen(first)
        await face.sees("A new rule")
        await app.push_screen(second)
        await face.sees("What would the rules say?")
        await face.until(lambda: not first.query_one("#box").visible, "one dialog")
        await face.press("escape")
        await face.sees("A new rule")


@pytest.mark.law("D10")
@pytest.mark.parametrize("given", [{"command": "make"}, {"path": "x"}], ids=["command", "JSON"])
def test_nothing_that_hides_is_saved_by_an_edit(given: dict[str, str]) -> None:
    text = json.dumps({"path": "a\u202eb"}, ensure_ascii=False)
    found = read_back("make \u202e now" if "command" in given else text, given)
    assert isinstance(found, str)
    assert "⟨202e⟩" in found
    assert read_back(json.dumps({"path": "a\u202eb"}), {"path": "x"}) == {"path": "a\u202eb"}


@pytest.mark.law("I6")
@pytest.mark.parametrize("hostile", [text for text in TEXTS if UNSEEN.search(text)])
async def test_what_is_typed_into_never_reaches_the_terminal_raw(hostile: str) -> None:
    app = QuarterdeckApp(Path("/nowhere"), talk=talk())
    asked_for = {"requested_schema": {"properties": {"name": {"type": "string", "default": hostile}}}}
    form = Asked(request("q1", form="elicitation", kind="question", tool_input=asked_for))
    async with app.run_test(size=(120, 40)) as pilot:
        for dialog in (EditDialog(asked()), FormDialog(form), ExplainDialog(hostile), WordsDialog(asked(), "t", "h")):
            await app.push_screen(dialog)
            for line in dialog.query(Input):
                line.value += hostile
            for page in dialog.query(TextArea):
                page.text += hostile
            await pilot.pause()
            shown = screen_text(app)
            assert not UNSEEN.search(shown), shown
            await app.pop_screen()


def test_a_last_look_keeps_the_width_of_what_it_replaces() -> None:
    text = "a\x1b[2J\u202eb\u200bc漢"
    assert cell_len(harmless(text)) == cell_len(text)
    assert not UNSEEN.search(harmless(text))


async def test_what_could_not_be_sent_is_there_again() -> None:
    about = asked("Bash(make)")
    first = RememberDialog(about, talk(), "/w")
    await saved(first, focused(first, Input), *"x", "ctrl+s")
    again = RememberDialog(about, talk(), "/w")
    assert (await saved(again, focused(again, Input), "ctrl+s"))["remember"]["pattern"] == "x"
    edit = EditDialog(about)
    await saved(edit, focused(edit, TextArea), *"sudo ", "ctrl+s")
    edit = EditDialog(about)
    assert await saved(edit, focused(edit, TextArea), "ctrl+s") == {"command": "sudo make"}


def test_without_colours_none_is_sent_and_a_cursor_is_reversed() -> None:
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
