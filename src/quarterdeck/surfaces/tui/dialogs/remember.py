"""Deciding with a rule: the pattern, where it holds and how long, and what it would have decided."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, OptionList, RadioSet, Static

from quarterdeck.core.text import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.dialogs.choices import one_of
from quarterdeck.surfaces.tui.dialogs.dialog import DecisionDialog
from quarterdeck.surfaces.tui.model import Asked
from quarterdeck.surfaces.tui.talk import Talk

Json = dict[str, Any]
EFFECTS = ("allow", "deny")
SCOPES = (("session", "this session"), ("project", "this project"), ("user", "everywhere"))
LENGTHS = ((None, "for ever"), ("1h", "1 hour"), ("1d", "1 day"), ("7d", "7 days"), ("30d", "30 days"))
TRY_AFTER = 0.3


def sentence(effect: str, pattern: str, scope: str, length: str) -> str:
    """The rule as a person says it."""
    where = dict(SCOPES)[scope]
    place = where if scope == "user" else f"in {where}"
    held = "" if length == "for ever" else f" for {length}"
    return f"Always {effect} {pattern or '…'} {place}{held}."


def simulated(result: Json) -> str:
    """What a rule would have done, in words."""
    if not result["seen"]:
        return "There are no past requests to try it on."
    surprises = len(result["surprises"])
    odd = f", {surprises} of them surprising" if surprises else ""
    more = f" (of the last {result['seen']:,})" if result["left"] else ""
    return f"It would have decided {result['decided']:,} of {result['seen']:,} past requests{more}{odd}."


class RememberDialog(DecisionDialog[Json]):
    """Ends with the decision and what to remember of it."""

    heading = "Decide, and remember"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "save", "decide and remember", priority=True, key_display="^s")
    ]

    def __init__(self, asked: Asked, talk: Talk, cwd: str) -> None:
        super().__init__(asked)
        self._talk = talk
        self._cwd = cwd
        self._patterns = list(asked.patterns)

    def inside(self) -> ComposeResult:
        yield self.what()
        yield Static("", id="sentence", classes="says", markup=False)
        yield Input(self._patterns[0] if self._patterns else "", placeholder="like Bash(git log:*)", id="pattern")
        yield OptionList(*(Content(one_line(p)) for p in self._patterns), id="offered", compact=True)
        with Horizontal(classes="row"):
            yield one_of("effect", [Content(word) for word in EFFECTS], 0)
            yield one_of("scope", [Content(words) for _, words in SCOPES], 1)
            yield one_of("length", [Content(words) for _, words in LENGTHS], 0)
        yield Static("", id="past", classes="says", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        offered = self.query_one("#offered", OptionList)
        offered.display = len(self._patterns) > 1
        if not self._patterns:
            self.trouble("No pattern covers exactly this; write one, or decide without a rule.")
        self._changed()

    def _chosen(self, name: str) -> int:
        return max(0, self.query_one(f"#{name}", RadioSet).pressed_index)

    @property
    def _rule(self) -> Json:
        rule: Json = {
            "effect": EFFECTS[self._chosen("effect")],
            "pattern": self.query_one("#pattern", Input).value.strip(),
            "scope": SCOPES[self._chosen("scope")][0],
        }
        length = LENGTHS[self._chosen("length")][0]
        return rule if length is None else {**rule, "expires": length}

    def on_input_changed(self) -> None:
        self._changed()

    def on_radio_set_changed(self) -> None:
        self._changed()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.query_one("#pattern", Input).value = self._patterns[event.option_index]

    def _changed(self) -> None:
        rule = self._rule
        words = sentence(rule["effect"], rule["pattern"], rule["scope"], LENGTHS[self._chosen("length")][1])
        self.query_one("#sentence", Static).update(Content(one_line(words)).stylize("bold"))
        self._try(rule)

    @work(exclusive=True, group="try")
    async def _try(self, rule: Json) -> None:
        """Try the rule on the past once the typing pauses."""
        place = self.query_one("#past", Static)
        await asyncio.sleep(TRY_AFTER)
        if not rule["pattern"]:
            return
        places = {"session": {"scope_id": self.asked.view["session_id"]}, "project": {"scope_path": self._cwd}}
        try:
            result = await self._talk.post("/rules/simulate", {**rule, **places.get(rule["scope"], {})})
        except QuarterdeckError as error:
            place.update(Content(one_line(f"Not yet a rule: {error}")))
        else:
            place.update(Content(simulated(result)))

    def on_input_submitted(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        rule = self._rule
        if not rule["pattern"]:
            self.trouble("A rule needs a pattern, like Bash(git log:*)")
            return
        self.send({"decision": rule.pop("effect"), "remember": rule})
