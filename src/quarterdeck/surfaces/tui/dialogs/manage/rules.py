"""The dialogs about rules: make one, explain what the rules would decide, confirm a removal."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input

from quarterdeck.core.patterns.rule_words import BASH, rule_word
from quarterdeck.surfaces.terminal.forms.rule_form import RULE_EFFECTS, RULE_LENGTHS
from quarterdeck.surfaces.terminal.forms.tool_input import editable_line, read_tool_input, tool_input_line
from quarterdeck.surfaces.tui.dialogs.base import Dialog, label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.rule_preview import NO_PATTERN, RulePreviewDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput

Json = dict[str, Any]
SCOPES = (("user", "everywhere"), ("project", "in the folder below"))


class RuleDialog(RulePreviewDialog):
    """Ends with the rule to make."""

    heading = "A new rule"
    BINDINGS = [save_key("make it")]

    def __init__(self, start: Json) -> None:
        super().__init__()
        self._start = start

    def compose_box(self) -> ComposeResult:
        start = self._start
        yield label("A pattern as Claude Code writes them: Bash(git log:*), Edit(src/**), WebFetch(domain:…)")
        yield LineInput(editable_line(start.get("pattern", "")), placeholder="like Bash(git log:*)", id="pattern")
        yield WordChoice("effect", RULE_EFFECTS, start.get("effect"), id="effect")
        yield WordChoice("where", SCOPES, start.get("scope"), id="scope")
        yield WordChoice("how long", RULE_LENGTHS, id="length")
        folder = editable_line(start.get("scope_path") or "")
        yield LineInput(folder, placeholder="the project's folder, from the root", id="folder")
        yield label("! The first rule of a folder also trusts it for rules.", id="trusts", classes="warns")
        yield label(id="past")

    @property
    def scope_fields(self) -> Json:
        return {"scope_path": self.value("folder") or "/"} if self.value("scope") == "project" else {}

    def refresh_preview(self) -> None:
        for name in ("folder", "trusts"):
            self.query_one(f"#{name}").display = self.value("scope") == "project"
        super().refresh_preview()

    def on_input_submitted(self) -> None:
        """Go to the next field: only ^s makes the rule."""
        self.focus_next()

    def save(self) -> None:
        if self.rule["pattern"]:
            self.dismiss(self.rule | self.scope_fields)
        else:
            self.show_error(NO_PATTERN)


class ExplainDialog(Dialog[Json]):
    """Ends with the question: a tool, its input and the folder. Starts with the latest decided tool use."""

    heading = "What would the rules say?"
    AUTO_FOCUS = "#input"
    BINDINGS = [save_key("ask")]

    def __init__(self, cwd: str, latest: Json | None = None) -> None:
        super().__init__()
        self._cwd = editable_line(cwd)
        self._tool = editable_line(rule_word(latest["tool_kind"], str(latest["tool_name"]))) if latest else BASH
        self._tool_input = tool_input_line(latest["tool_input"]) if latest else ""

    def compose_box(self) -> ComposeResult:
        yield label("The tool:")
        yield LineInput(self._tool, placeholder="a tool's name", id="tool")
        yield label("Its input: a command, a path, an address, or a JSON object")
        yield LineInput(self._tool_input, placeholder="like git log --oneline", id="input")
        yield label("In the folder:")
        yield LineInput(self._cwd, placeholder="any folder", id="cwd")

    def on_input_submitted(self) -> None:
        self.save()

    def save(self) -> None:
        tool, cwd = self.value("tool"), self.value("cwd")
        typed = self.query_one("#input", Input).value
        tool_input = read_tool_input(tool, typed)
        if not tool:
            self.show_error(f"Name a tool, like {BASH}")
        elif not typed.strip():
            self.show_error(f"Type an input for {tool}, like: git log --oneline")
        elif isinstance(tool_input, str):
            self.show_error(tool_input)
        else:
            self.dismiss({"tool_name": tool, "tool_input": tool_input, **({"cwd": cwd} if cwd else {})})


class ConfirmDialog(Dialog[bool]):
    """Ends with True when the person is sure."""

    heading = "Sure?"
    BINDINGS = [Binding("y", "yes", "yes"), Binding("n", "cancel", "no")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose_box(self) -> ComposeResult:
        yield label(self._question)

    def action_yes(self) -> None:
        self.dismiss(True)
