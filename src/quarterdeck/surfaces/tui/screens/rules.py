"""The rules page: list, add, remove, explain, simulate, and rules that your decisions suggest."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any
from urllib.parse import quote

from textual import work
from textual.binding import Binding

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.forms.rule_form import rule_place
from quarterdeck.surfaces.terminal.lines.rule_lines import (
    NO_OFFERS,
    add_simulated,
    explanation_lines,
    restorable_rule,
    rule_line,
    rule_lines,
    rule_rows,
    simulation_lines,
    suggestion_rows,
)
from quarterdeck.surfaces.terminal.styled_text import line
from quarterdeck.surfaces.tui.dialogs.manage.rules import ExplainDialog, RuleDialog
from quarterdeck.surfaces.tui.screens.table_screen import OffersPage

Json = dict[str, Any]


class RulesPage(OffersPage):
    """The rules, with the findings about them below."""

    heading = "Rules"
    columns = ("effect", "pattern", "where", "hits", "last", "until", "note", "by")
    empty = "None yet: r on a card makes one, + makes one here."
    row_actions = ("remove", "simulate")
    offer_actions = ("simulate",)
    BINDINGS = [
        Binding("escape,q", "leave", "back", key_display="esc", tooltip="back"),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-"),
        Binding("u", "undo", "undo", tooltip="restore the rule that was removed last"),
        Binding("o", "offers", "suggested", tooltip="rules that your own decisions suggest"),
        Binding("t", "explain", "test a use", tooltip="what the rules say about a tool use"),
        Binding("s", "simulate", "simulate", tooltip="test on past requests"),
        Binding("x", "stop", "close", tooltip="stop the test; close the details below"),
    ]
    _last_removed: Json | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo":
            return self._last_removed is not None
        if action == "stop":
            return self.detail.display or any(worker.group == "simulate" for worker in self.workers)
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        """Go back from the offers or the details to the rules; from the rules to the main screen."""
        if self.shows_details:
            self.action_stop()
        else:
            super().action_leave()

    async def read(self) -> None:
        reply = await self.tui.daemon.get("/rules")
        self.shows_offers = False
        findings = [line(("! ", "warn"), words) for words in reply["findings"]]
        self.fill(reply["rules"], rule_rows(reply["rules"], self.tui.clock()), findings)

    async def _attempt(self, failed: str, call: Awaitable[Json]) -> Json | None:
        """The reply of a call; None, and a message, when it was refused."""
        try:
            return await call
        except QuarterdeckError as error:
            self.tui.say(f"{failed}{error}", "error")
            return None

    @work(group="act")
    async def action_add(self, start: Json | None = None) -> None:
        """Make a rule in the dialog, which starts with an offered one or an empty one."""
        rule = await self.app.push_screen_wait(RuleDialog(start or {}))
        if rule is None or (made := await self._attempt("Not made: ", self.tui.daemon.post("/rules", rule))) is None:
            return
        also = f", and decided {len(made['also_decided'])} waiting requests" if made["also_decided"] else ""
        self.tui.say(f"Made: {made['effect']} {made['pattern']}{also}")
        self.action_reload()

    @work(group="act")
    async def action_remove(self) -> None:
        rule = self.highlighted
        if not await self.tui.is_sure(f"Remove: {rule['effect']} {rule['pattern']} ({rule_place(rule)})?"):
            return
        path = f"/rules/{quote(rule['rule_id'], safe='')}"
        if await self._attempt("Not removed: ", self.tui.daemon.delete(path)) is not None:
            self._last_removed = rule
            self.tui.say(f"Removed: {rule['effect']} {rule['pattern']}; u restores it")
            self.action_reload()

    @work(exclusive=True, group="act")
    async def action_undo(self) -> None:
        """Make the rule that was removed last again."""
        rule, self._last_removed = self._last_removed, None
        if rule is None:
            return
        made = await self._attempt("Not restored: ", self.tui.daemon.post("/rules", restorable_rule(rule)))
        if made is None:
            self._last_removed = rule
            return
        self.tui.say(f"Restored: {made['effect']} {made['pattern']} ({rule_place(made)})")
        self.action_reload()

    @work(group="act")
    async def action_explain(self) -> None:
        sessions = self.tui.model.shown_sessions()
        latest = next((view for view in reversed(self.tui.model.decided) if view["kind"] == "permission"), None)
        question = await self.app.push_screen_wait(ExplainDialog(sessions[0].cwd if sessions else "", latest))
        if question is not None:
            reply = await self._attempt("", self.tui.daemon.post("/rules/explain", question))
            if reply is not None:
                self.show_details(explanation_lines(reply))

    @work(exclusive=True, group="simulate")
    async def action_simulate(self) -> None:
        """Try the rule on all past requests, page by page; x stops it."""
        self.refresh_bindings()
        rule = self.highlighted
        fields = ("effect", "pattern", "scope", "scope_id", "scope_path")
        body = {name: rule[name] for name in fields if rule.get(name) is not None}
        result: Json = {"seen": 0, "decided": 0, "surprises": [], "examples": []}
        before: Json = {}
        try:
            while True:
                page = await self.tui.daemon.post("/rules/simulate", {**body, **before})
                result = add_simulated(result, page)
                self.set_subtitle(f"trying … {result['seen']:,} of {result['seen'] + page['left']:,}; x stops")
                if page["next"] is None:
                    break
                before = {"before": page["next"]}
        except QuarterdeckError as error:
            self.tui.say(str(error), "error")
        self.set_subtitle(str(self.table.count))
        self.show_details([rule_line(rule), *simulation_lines(result, rule["effect"])])

    def action_stop(self) -> None:
        """Stop trying and close the details: the findings come back. Findings alone are closed until the next read."""
        self.workers.cancel_group(self, "simulate")
        if self.shows_details or self.shows_offers or not self.detail.display:
            self.action_reload()
        self.show_details(())

    @work(exclusive=True, group="read")
    async def action_offers(self) -> None:
        """Show rules that your own decisions suggest; Enter makes one of them."""
        try:
            reply = await self.tui.daemon.get("/rules/suggestions")
        except QuarterdeckError as error:
            self.show_error(str(error))
            return
        offers = reply["suggestions"]
        self.shows_offers = True
        self.fill(offers, suggestion_rows(offers), () if offers else NO_OFFERS)
        hint = "Enter makes one, esc goes back" if offers else "none; esc goes back"
        self.set_subtitle(f"implied by {reply['seen']:,} past requests: {hint}")

    def choose(self, item: Json) -> None:
        if self.shows_offers:
            self.action_add(item)
        else:
            self.show_details(rule_lines(item, self.tui.clock()))
