"""Deciding with a rule: the pattern, where it holds and how long, and what it would have decided."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.sanitize import UNSEEN, one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.choices import Numbered, OneWord
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]
EFFECTS = ("allow", "deny")
SCOPES = (("session", "this session"), ("project", "this project"), ("user", "everywhere"))
LENGTHS = ((None, "for ever"), ("1h", "1 hour"), ("1d", "1 day"), ("7d", "7 days"), ("30d", "30 days"))
KEEPERS = (
    (None, "no"),
    ("session", "this session"),
    ("local", "local settings"),
    ("project", "project's"),
    ("user", "yours"),
)
"""Where Claude Code itself may keep the rule of an allow."""
TRY_AFTER = 0.3


def trusts(scope: str, effect: str, trust: str | None, cwd: str) -> str:
    """What saving does beside the rule: the first rule of a project makes its rules hold."""
    if scope != "project":
        return ""
    if trust is None:
        return f"Saving it also trusts {cwd or 'this folder'} for rules: what its rules allow holds from then on."
    if trust == "none" and effect == "allow":
        return f"{cwd} is not trusted, so an allow cannot hold there. First: qd projects trust {cwd}"
    return ""


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
        self._patterns = [pattern for pattern in asked.patterns if not UNSEEN.search(pattern)]

    def inside(self) -> ComposeResult:
        yield self.what()
        yield Static("", id="sentence", classes="says", markup=False)
        yield Static("", id="trusts", classes="warns", markup=False)
        begin = self.asked.drafts.get(self.heading) or (self._patterns[0] if self._patterns else "")
        yield Field(begin, placeholder="like Bash(git log:*)", id="pattern")
        yield Numbered([(pattern, "") for pattern in self._patterns], chosen=[0], id="offered")
        yield OneWord("decision", EFFECTS, 0, id="effect")
        yield OneWord("where", [words for _, words in SCOPES], 0, id="scope")
        yield OneWord("how long", [words for _, words in LENGTHS], 0, id="length")
        yield OneWord("Claude too", [words for _, words in KEEPERS], 0, id="claude")
        yield Static("", id="past", classes="says", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#offered", Numbered).display = len(self._patterns) > 1
        if not self._patterns:
            self.trouble("No pattern covers exactly this; write one, or decide without a rule.")
        self._changed()

    def _place(self, name: str) -> int:
        return self.query_one(f"#{name}", OneWord).chosen

    @property
    def _rule(self) -> Json:
        effect = EFFECTS[self._place("effect")]
        rule: Json = {
            "effect": effect,
            "pattern": self.query_one("#pattern", Input).value.strip(),
            "scope": SCOPES[self._place("scope")][0],
        }
        length = LENGTHS[self._place("length")][0]
        return rule if length is None else {**rule, "expires": length}

    def on_input_changed(self) -> None:
        self._changed()

    def on_chosen(self) -> None:
        offered = self.query_one("#offered", Numbered)
        if offered.has_focus and offered.picked:
            self.query_one("#pattern", Input).value = self._patterns[offered.picked[0]]
        self._changed()

    def _changed(self) -> None:
        rule = self._rule
        words = sentence(rule["effect"], rule["pattern"], rule["scope"], LENGTHS[self._place("length")][1])
        self.query_one("#sentence", Static).update(Content(one_line(words)).stylize("bold"))
        self.query_one("#claude", OneWord).display = rule["effect"] == "allow"
        warning = trusts(rule["scope"], rule["effect"], self.asked.trust, self._cwd)
        place = self.query_one("#trusts", Static)
        place.update(Content(one_line(f"! {warning}")))
        place.display = bool(warning)
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
        self.save()

    def save(self) -> None:
        rule = self._rule
        if not rule["pattern"]:
            self.trouble("A rule needs a pattern, like Bash(git log:*)")
            return
        self.asked.drafts[self.heading] = rule["pattern"]
        effect = rule.pop("effect")
        keeper = KEEPERS[self._place("claude")][0]
        kept = {**rule, "claude": keeper} if keeper and effect == "allow" else rule
        self.send({"decision": effect, "remember": kept})
