"""Making a rule, asking what the rules say of a use of a tool, and confirming that one goes."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, RadioSet, Static

from quarterdeck.core.text import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.dialogs.choices import one_of
from quarterdeck.surfaces.tui.dialogs.dialog import Dialog
from quarterdeck.surfaces.tui.dialogs.remember import LENGTHS, TRY_AFTER, simulated
from quarterdeck.surfaces.tui.talk import Talk

Json = dict[str, Any]
EFFECTS = ("allow", "ask", "deny")
SCOPES = (("user", "everywhere"), ("project", "in the folder below"))


class RuleDialog(Dialog[Json]):
    """Ends with the rule to make."""

    heading = "A new rule"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "save", "make it", priority=True, key_display="^s")]

    def __init__(self, talk: Talk, begin: Json) -> None:
        super().__init__()
        self._talk = talk
        self._begin = begin

    def inside(self) -> ComposeResult:
        yield Static(
            "A pattern as Claude Code writes them: Bash(git log:*), Edit(src/**), WebFetch(domain:…)", markup=False
        )
        yield Input(self._begin.get("pattern", ""), placeholder="like Bash(git log:*)", id="pattern")
        with Horizontal(classes="row"):
            yield one_of(
                "effect", [Content(word) for word in EFFECTS], EFFECTS.index(self._begin.get("effect", "allow"))
            )
            yield one_of("scope", [Content(words) for _, words in SCOPES], int(self._begin.get("scope") == "project"))
            yield one_of("length", [Content(words) for _, words in LENGTHS], 0)
        yield Input(self._begin.get("scope_path") or "", placeholder="the project's folder, from the root", id="folder")
        yield Static("", id="past", classes="says", markup=False)

    def on_mount(self) -> None:
        self._changed()

    def _chosen(self, name: str) -> int:
        return max(0, self.query_one(f"#{name}", RadioSet).pressed_index)

    @property
    def rule(self) -> Json:
        scope = SCOPES[self._chosen("scope")][0]
        rule: Json = {"effect": EFFECTS[self._chosen("effect")], "scope": scope}
        rule["pattern"] = self.query_one("#pattern", Input).value.strip()
        if scope == "project":
            rule["scope_path"] = self.query_one("#folder", Input).value.strip() or "/"
        length = LENGTHS[self._chosen("length")][0]
        return rule if length is None else {**rule, "expires": length}

    def on_input_changed(self) -> None:
        self._changed()

    def on_radio_set_changed(self) -> None:
        self._changed()

    def _changed(self) -> None:
        self.query_one("#folder", Input).display = SCOPES[self._chosen("scope")][0] == "project"
        self._try(self.rule)

    @work(exclusive=True, group="try")
    async def _try(self, rule: Json) -> None:
        """Try the rule on the past once the typing pauses."""
        await asyncio.sleep(TRY_AFTER)
        if not rule["pattern"]:
            return
        try:
            words = simulated(await self._talk.post("/rules/simulate", rule))
        except QuarterdeckError as error:
            words = f"Not yet a rule: {error}"
        self.query_one("#past", Static).update(Content(one_line(words)))

    def on_input_submitted(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        if self.rule["pattern"]:
            self.dismiss(self.rule)
        else:
            self.trouble("A rule needs a pattern, like Bash(git log:*)")


class ExplainDialog(Dialog[Json]):
    """Ends with the question: a tool, its input, and where."""

    heading = "What do the rules say?"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "save", "ask", priority=True, key_display="^s")]

    def __init__(self, cwd: str) -> None:
        super().__init__()
        self._cwd = cwd

    def inside(self) -> ComposeResult:
        yield Static("The tool:", markup=False)
        yield Input("Bash", id="tool")
        yield Static("Its input: a command or a path, or a JSON object", markup=False)
        yield Input("", placeholder="git log --oneline", id="input")
        yield Static("In the folder:", markup=False)
        yield Input(self._cwd, id="cwd")

    def on_mount(self) -> None:
        self.query_one("#input", Input).focus()

    def on_input_submitted(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        tool = self.query_one("#tool", Input).value.strip()
        given = read_input(tool, self.query_one("#input", Input).value)
        if not tool:
            self.trouble("Name a tool, like Bash")
        elif isinstance(given, str):
            self.trouble(given)
        else:
            cwd = self.query_one("#cwd", Input).value.strip()
            self.dismiss({"tool_name": tool, "tool_input": given, **({"cwd": cwd} if cwd else {})})


def read_input(tool: str, text: str) -> Json | str:
    """The input of a tool by what was typed; or why it is none, in words."""
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            return f"not JSON: {error}"
        return found if isinstance(found, dict) else "it must be a JSON object"
    fields = {"Bash": "command", "WebFetch": "url", "Glob": "pattern", "Grep": "pattern", "WebSearch": "query"}
    return {fields.get(tool, "file_path"): text}


class SureDialog(Dialog[bool]):
    """Ends with True when the person is sure."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "yes", "yes"), Binding("n", "cancel", "no")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self.heading = "Sure?"
        self._question = question

    def inside(self) -> ComposeResult:
        yield Static(Content(one_line(self._question)), classes="says", markup=False)

    def action_yes(self) -> None:
        self.dismiss(True)
