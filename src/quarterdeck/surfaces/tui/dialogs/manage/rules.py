"""Making a rule, asking what the rules say of a use of a tool, and confirming that one goes."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.sanitize import UNSEEN, one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.decisions.remember import LENGTHS, TRY_AFTER, simulated
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]
EFFECTS = ("allow", "ask", "deny")
LONGEST = 500
"""Characters that a line to be changed begins with at most; what is longer is left to be typed."""
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
        yield Field(typable(self._begin.get("pattern", "")), placeholder="like Bash(git log:*)", id="pattern")
        yield OneWord("effect", EFFECTS, EFFECTS.index(self._begin.get("effect", "allow")), id="effect")
        in_project = int(self._begin.get("scope") == "project")
        yield OneWord("where", [words for _, words in SCOPES], in_project, id="scope")
        yield OneWord("how long", [words for _, words in LENGTHS], 0, id="length")
        folder = typable(self._begin.get("scope_path") or "")
        yield Field(folder, placeholder="the project's folder, from the root", id="folder")
        yield Static(
            "! The first rule of a folder also trusts it for rules.", id="trusts", classes="warns", markup=False
        )
        yield Static("", id="past", classes="says", markup=False)

    def on_mount(self) -> None:
        self._changed()

    def _place(self, name: str) -> int:
        return self.query_one(f"#{name}", OneWord).chosen

    @property
    def rule(self) -> Json:
        scope = SCOPES[self._place("scope")][0]
        rule: Json = {"effect": EFFECTS[self._place("effect")], "scope": scope}
        rule["pattern"] = self.query_one("#pattern", Input).value.strip()
        if scope == "project":
            rule["scope_path"] = self.query_one("#folder", Input).value.strip() or "/"
        length = LENGTHS[self._place("length")][0]
        return rule if length is None else {**rule, "expires": length}

    def on_input_changed(self) -> None:
        self._changed()

    def on_chosen(self) -> None:
        self._changed()

    def _changed(self) -> None:
        in_folder = SCOPES[self._place("scope")][0] == "project"
        self.query_one("#folder", Input).display = in_folder
        self.query_one("#trusts", Static).display = in_folder
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
        for past in self.query("#past").results(Static):  # it may be gone when this comes late
            past.update(Content(one_line(words)))

    def on_input_submitted(self) -> None:
        """To what the rule does and where it holds: only ^s makes it."""
        self.focus_next()

    def save(self) -> None:
        if self.rule["pattern"]:
            self.dismiss(self.rule)
        else:
            self.trouble("A rule needs a pattern, like Bash(git log:*)")


class ExplainDialog(Dialog[Json]):
    """Ends with the question: a tool, its input, and where. It begins with the latest use that was decided."""

    heading = "What would the rules say?"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "save", "ask", priority=True, key_display="^s")]

    def __init__(self, cwd: str, latest: Json | None = None) -> None:
        super().__init__()
        self._cwd = typable(cwd)
        self._tool = typable(str(latest["tool_name"])) if latest else "Bash"
        self._given = written(latest["tool_input"]) if latest else ""

    def inside(self) -> ComposeResult:
        yield Static("The tool:", classes="says", markup=False)
        yield Field(self._tool, placeholder="a tool's name", id="tool")
        yield Static("What it would get: a command, a path, an address, or a JSON object", classes="says", markup=False)
        yield Field(self._given, placeholder="like git log --oneline", id="input")
        yield Static("In the folder:", classes="says", markup=False)
        yield Field(self._cwd, placeholder="any folder", id="cwd")

    def on_mount(self) -> None:
        self.query_one("#input", Input).focus()

    def on_input_submitted(self) -> None:
        self.save()

    def save(self) -> None:
        tool = self.query_one("#tool", Input).value.strip()
        typed = self.query_one("#input", Input).value
        given = read_input(tool, typed)
        if not tool:
            self.trouble("Name a tool, like Bash")
        elif not typed.strip():
            self.trouble(f"Type what {tool} would get, like: git log --oneline")
        elif isinstance(given, str):
            self.trouble(given)
        else:
            cwd = self.query_one("#cwd", Input).value.strip()
            self.dismiss({"tool_name": tool, "tool_input": given, **({"cwd": cwd} if cwd else {})})


def typable(text: str) -> str:
    """What a line to be changed may begin with; nothing where it is too long, or holds what does not show."""
    return "" if len(text) > LONGEST or UNSEEN.search(text) else text


def written(tool_input: Json) -> str:
    """The input of a tool as one line that can be read back; nothing where it is too long for that."""
    command = tool_input.get("command")
    text = command if isinstance(command, str) and "\n" not in command else json.dumps(tool_input)
    return typable(text)


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
