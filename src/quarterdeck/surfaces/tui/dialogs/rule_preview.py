"""The base of dialogs that make a rule: they show what it would have decided."""

from __future__ import annotations

import asyncio
from typing import Any

from textual import work

from quarterdeck.errors import NoDaemon, QuarterdeckError
from quarterdeck.surfaces.terminal.forms.rule_form import simulation_sentence
from quarterdeck.surfaces.tui.dialogs.base import Dialog

Json = dict[str, Any]
SIMULATE_AFTER = 0.3
RETRY_SECONDS = 1.0
NO_PATTERN = "A rule needs a pattern, like Bash(git log:*)"


class RulePreviewDialog(Dialog[Json]):
    """Has the fields `effect`, `pattern`, `scope` and `length`, and the label `past` for the preview."""

    @property
    def rule(self) -> Json:
        """The rule that the fields describe."""
        length = self.value("length")
        fields = {name: self.value(name) for name in ("effect", "pattern", "scope")}
        return fields | ({"expires": length} if length else {})

    @property
    def scope_fields(self) -> Json:
        """The fields that a simulation needs to know the place of the rule."""
        return {}

    def on_mount(self) -> None:
        self.refresh_preview()

    def on_input_changed(self) -> None:
        self.refresh_preview()

    def on_chosen(self) -> None:
        self.refresh_preview()

    def refresh_preview(self) -> None:
        """Show what follows from the fields."""
        self._simulate(self.rule | self.scope_fields)

    @work(exclusive=True, group="try")
    async def _simulate(self, rule: Json) -> None:
        """Simulate the rule on past requests once the typing pauses."""
        await asyncio.sleep(SIMULATE_AFTER)
        if not rule["pattern"]:
            return
        try:
            words = simulation_sentence(await self.tui.daemon.post("/rules/simulate", rule))
        except QuarterdeckError as error:
            words = f"Not yet a rule: {error}"
            if isinstance(error, NoDaemon):
                self.set_timer(RETRY_SECONDS, self.refresh_preview)
        self.show_label("past", words)
