"""The dialog that decides and remembers: the rule's pattern, scope and length, and what it would have decided."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.patterns.coverage import coverage
from quarterdeck.core.text.sanitize import UNSEEN, one_line
from quarterdeck.surfaces.terminal.forms.rule_form import (
    CLAUDE_SCOPES,
    REMEMBER_EFFECTS,
    REMEMBER_SCOPES,
    RULE_LENGTHS,
    rule_sentence,
    trust_warning,
)
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import NumberedChoice, WordChoice
from quarterdeck.surfaces.tui.dialogs.rule_preview import NO_PATTERN, RulePreviewDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput

Json = dict[str, Any]


class RememberDialog(RulePreviewDialog, DecisionDialog[Json]):
    """Ends with the decision and the rule to remember."""

    heading = "Decide, and remember"
    BINDINGS = [save_key("decide and remember")]

    def __init__(self, item: RequestItem, cwd: str) -> None:
        super().__init__(item)
        self._cwd = cwd
        self._patterns = [pattern for pattern in item.patterns if not UNSEEN.search(pattern)]

    def compose_box(self) -> ComposeResult:
        yield self.summary()
        yield label(id="sentence")
        yield label(id="trusts", classes="warns")
        begin = self.item.drafts.get(self.heading) or (self._patterns[0] if self._patterns else "")
        yield LineInput(begin, placeholder="like Bash(git log:*)", id="pattern")
        yield NumberedChoice([(pattern, coverage(pattern)) for pattern in self._patterns], chosen=[0], id="offered")
        yield WordChoice("decision", REMEMBER_EFFECTS, id="effect")
        yield WordChoice("where", REMEMBER_SCOPES, id="scope")
        yield WordChoice("how long", RULE_LENGTHS, id="length")
        yield WordChoice("also save in Claude Code", CLAUDE_SCOPES, id="claude")
        yield label(id="past")

    def on_mount(self) -> None:
        offered = self.query_one("#offered", NumberedChoice)
        offered.display = len(self._patterns) > 1
        if self._patterns:  # not the text field: the numbers and words below are what one chooses from
            (offered if offered.display else self.query_one("#effect")).focus()
        else:
            self.show_error("No pattern covers exactly this; write one, or decide without a rule.")

    def on_chosen(self) -> None:
        offered = self.query_one("#offered", NumberedChoice)
        if offered.has_focus and offered.picked:
            self.query_one("#pattern", Input).value = self._patterns[offered.picked[0]]

    def refresh_preview(self) -> None:
        effect, scope = self.value("effect"), self.value("scope")
        words = rule_sentence(effect, self.value("pattern"), scope, dict(RULE_LENGTHS)[self.value("length")])
        self.query_one("#sentence", Static).update(Content(one_line(words)).stylize("bold"))
        self.query_one("#claude", WordChoice).display = effect == "allow"
        warning = trust_warning(scope, effect, self.item.trust, self._cwd)
        self.show_label("trusts", warning and f"! {warning}")
        super().refresh_preview()

    @property
    def scope_fields(self) -> Json:
        places = {"session": {"scope_id": self.item.view["session_id"]}, "project": {"scope_path": self._cwd}}
        return places.get(self.value("scope"), {})

    def on_input_submitted(self) -> None:
        self.save()

    def save(self) -> None:
        rule = self.rule
        if not rule["pattern"]:
            self.show_error(NO_PATTERN)
            return
        self.item.drafts[self.heading] = rule["pattern"]
        effect, claude_scope = rule.pop("effect"), self.value("claude")
        remembered = {**rule, "claude": claude_scope} if claude_scope and effect == "allow" else rule
        self.send({"decision": effect, "remember": remembered})
