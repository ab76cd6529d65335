"""Standing decisions: list, add, remove, explain, try on the past, and what your decisions imply."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from urllib.parse import quote

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.labels import ago, project_name
from quarterdeck.surfaces.tui.dialogs.manage.rules import ExplainDialog, RuleDialog, SureDialog
from quarterdeck.surfaces.tui.screens.table_screen import TablePage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
NO_OFFERS = (
    line(("Your decisions imply no rule yet.", "strong")),
    line(("One is offered once you have decided the same way three times, and never otherwise.", "dim")),
)
EFFECT_STYLES = {"allow": "good", "deny": "removed", "ask": "asks"}


def where(rule: Json) -> str:
    """Where a rule holds, in words."""
    if rule["scope"] == "project":
        return f"project {project_name(rule['scope_path'] or '')}"
    if rule["scope"] in ("session", "once"):
        return f"{rule['scope']} {str(rule['scope_id'] or 'any')[:8]}"
    return {"user": "everywhere", "hub": "on every machine"}.get(rule["scope"], str(rule["scope"]))


def as_it_was(rule: Json) -> Json:
    """A rule as it is made anew: the same effect, pattern, scope, end and note. A project is named by its folder."""
    kept = {name: rule[name] for name in ("effect", "pattern", "scope", "scope_id", "scope_path", "expires_at", "note")}
    if kept["scope_path"] is not None:
        kept["scope_id"] = None
    return {name: value for name, value in kept.items() if value is not None}


def rule_rows(rules: Iterable[Json], now: float) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each rule on a row."""
    for rule in rules:
        ends = rule["expires_at"]
        cells: tuple[Cell, ...] = (
            (rule["effect"], EFFECT_STYLES.get(rule["effect"], "")),
            (rule["pattern"], "strong"),
            where(rule),
            f"{rule['hits']:,}",
            ago(rule["last_hit_at"], now) if rule["last_hit_at"] else "never",
            time.strftime("%d %b %H:%M", time.localtime(ends)) if ends else "for ever",
            (rule["note"] or "", "dim"),
            (rule["created_by"], "dim"),
        )
        yield rule["rule_id"], cells


def rule_lines(rule: Json, now: float) -> Iterator[Line]:
    """All that is known of one."""
    yield line((f"{rule['effect']} ", EFFECT_STYLES.get(rule["effect"], "")), (rule["pattern"], "strong"))
    ends = rule["expires_at"]
    until = time.strftime("until %d %b %Y %H:%M", time.localtime(ends)) if ends else "for ever"
    yield line(rule["scope_path"] or where(rule), f", {until}")
    last = f", last {ago(rule['last_hit_at'], now)}" if rule["last_hit_at"] else ""
    yield line(f"has decided {rule['hits']:,} times{last}")
    yield line(("made by ", "dim"), rule["created_by"])
    if rule["note"]:
        yield line(("note: ", "dim"), rule["note"])


def explained_lines(found: Json) -> Iterator[Line]:
    """What the rules say of a use, and every rule that was considered."""
    if found["effect"] is None:
        yield line(("A person is asked: ", "strong"), " · ".join(found["reasons"]) or "no rule is about this")
    else:
        patterns = ", ".join(rule["pattern"] for rule in found["rules"])
        yield line((f"{found['effect']}: ", EFFECT_STYLES.get(found["effect"], "strong")), patterns)
    for one in found["considered"]:
        mark = "✓" if one["matched"] else "·"
        yield line(f" {mark} ", (f"{one['rule']['effect']} {one['rule']['pattern']}", ""), (f"  {one['why']}", "dim"))
    if found["patterns"]:
        yield line(("could be remembered as: ", "dim"), " or ".join(found["patterns"]))


def simulated_lines(rule: Json, seen: int, decided: int, examples: list[Json], surprises: list[Json]) -> Iterator[Line]:
    """What a rule would have done to the past."""
    words = f" would have decided {decided:,} of {seen:,} past requests"
    yield line(
        (f"{rule['effect']} {rule['pattern']}", "strong"), words, f", {len(surprises)} otherwise than was decided"
    )
    for past in surprises[:5]:
        yield line((f" ! {past['subject']}", "warn"), (f"  {past['surprise']}", "dim"))
    for past in examples[:5]:
        by = f"  {past['decision'] or 'not decided'}{' by ' + past['by'] if past['by'] else ''}"
        yield line(f" · {past['subject']}", (by, "dim"))


class RulesPage(TablePage):
    """The rules, with what is odd about them below."""

    heading = "Rules"
    columns = ("effect", "pattern", "where", "hits", "last", "until", "note", "by")
    empty = "None yet: r on a card makes one, + makes one here."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", key_display="esc", tooltip="from what is offered to the rules; then back"),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-"),
        Binding("u", "undo", "undo", tooltip="restore the rule that was removed last"),
        Binding("o", "suggest", "offers", tooltip="rules that your own decisions imply"),
        Binding("t", "explain", "test a use", tooltip="what the rules say of a use of a tool"),
        Binding("s", "simulate", "try on the past"),
        Binding("x", "stop", "close", tooltip="stop trying; close what is shown below"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[str, Json] = {}
        self._offered: dict[str, Json] = {}
        self._shows_offers = False
        self._removed: Json | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "remove":
                return bool(self._rules)
            case "simulate":
                return bool(self._rules or self._offered)
            case "suggest":
                return not self._shows_offers
            case "undo":
                return self._removed is not None
            case "stop":
                return self.detail.display
            case _:
                return True

    def action_reload(self) -> None:
        self._read()

    def action_leave(self) -> None:
        """From what is offered, or told below, to the rules; from the rules to the bridge."""
        if self._shows_offers or self.detail.display:
            self.action_stop()
        else:
            self.app.pop_screen()

    @work(exclusive=True, group="rules")
    async def _read(self) -> None:
        """Read the rules again."""
        try:
            found = await self.face.talk.get("/rules")
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        self.trouble("")
        self._offered, self._shows_offers = {}, False
        self._rules = {rule["rule_id"]: rule for rule in found["rules"]}
        self.fill(rule_rows(self._rules.values(), self.face.clock()))
        if found["findings"]:
            self.tell_below([line(("! ", "warn"), words) for words in found["findings"]])

    @work(group="act")
    async def action_add(self) -> None:
        await self._add({})

    async def _add(self, begin: Json) -> None:
        rule = await self.app.push_screen_wait(RuleDialog(self.face.talk, begin))
        if rule is None:
            return
        try:
            made = await self.face.talk.post("/rules", rule)
        except QuarterdeckError as error:
            self.face.say(f"Not made: {error}", "error")
            return
        also = f", and settled {len(made['also_decided'])} that waited" if made["also_decided"] else ""
        self.face.say(f"Made: {made['effect']} {made['pattern']}{also}")
        self.action_reload()

    @work(group="act")
    async def action_remove(self) -> None:
        rule = self._rules.get(self.table.pointed or "")
        if rule is None:
            return
        if not await self.app.push_screen_wait(
            SureDialog(f"Take back: {rule['effect']} {rule['pattern']} ({where(rule)})?")
        ):
            return
        try:
            await self.face.talk.delete(f"/rules/{quote(rule['rule_id'], safe='')}")
        except QuarterdeckError as error:
            self.face.say(f"Not removed: {error}", "error")
            return
        self._removed = rule
        self.face.say(f"Removed: {rule['effect']} {rule['pattern']}; u restores it")
        self.action_reload()

    @work(exclusive=True, group="act")
    async def action_undo(self) -> None:
        """Make the rule again that was removed last, as it was."""
        rule, self._removed = self._removed, None
        if rule is None:
            return
        try:
            made = await self.face.talk.post("/rules", as_it_was(rule))
        except QuarterdeckError as error:
            self._removed = rule
            self.face.say(f"Not restored: {error}", "error")
            return
        self.face.say(f"Restored: {made['effect']} {made['pattern']} ({where(made)})")
        self.action_reload()

    @work(group="act")
    async def action_explain(self) -> None:
        sessions = self.face.model.shown_sessions()
        latest = next((view for view in reversed(self.face.model.decided) if view["kind"] == "permission"), None)
        question = await self.app.push_screen_wait(ExplainDialog(sessions[0]["cwd"] if sessions else "", latest))
        if question is not None:
            try:
                self.tell_below(explained_lines(await self.face.talk.post("/rules/explain", question)))
            except QuarterdeckError as error:
                self.face.say(str(error), "error")

    @work(exclusive=True, group="simulate")
    async def action_simulate(self) -> None:
        """Try the rule on everything that was asked, page by page; x stops it."""
        rule = self._rules.get(self.table.pointed or "") or self._offered.get(self.table.pointed or "")
        if rule is None:
            return
        fields = ("effect", "pattern", "scope", "scope_id", "scope_path")
        wanted = {name: rule[name] for name in fields if rule.get(name) is not None}
        seen, decided, surprises, before = 0, 0, list[Json](), None
        examples: list[Json] = []
        try:
            while True:
                page = await self.face.talk.post(
                    "/rules/simulate", {**wanted, **({"before": before} if before else {})}
                )
                seen, decided = seen + page["seen"], decided + page["decided"]
                surprises += page["surprises"]
                examples += page["examples"]
                self.name_it(f"trying … {seen:,} of {seen + page['left']:,}; x stops")
                before = page["next"]
                if before is None:
                    break
        except QuarterdeckError as error:
            self.face.say(str(error), "error")
        self.name_it(str(self.table.count))
        self.tell_below(simulated_lines(rule, seen, decided, examples, surprises))

    def action_stop(self) -> None:
        self.workers.cancel_group(self, "simulate")
        self.detail.display = False
        self.action_reload()

    @work(exclusive=True, group="rules")
    async def action_suggest(self) -> None:
        """Rules that your own decisions imply; Enter makes one of them."""
        try:
            found = await self.face.talk.get("/rules/suggestions")
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        self._rules, self._shows_offers = {}, True
        self._offered = {f"s{n}": one for n, one in enumerate(found["suggestions"])}
        self.fill(_offered_rows(self._offered))
        how = "Enter makes one, esc goes back" if self._offered else "none; esc goes back"
        self.name_it(f"implied by {found['seen']:,} past requests: {how}")
        self.tell_below([] if self._offered else NO_OFFERS)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if message.key in self._offered:
            self.make(self._offered[message.key])
        elif message.key in self._rules:
            self.tell_below(rule_lines(self._rules[message.key], self.face.clock()))

    @work(group="act")
    async def make(self, offered: Json) -> None:
        """Make a rule of what is offered, after another look at it."""
        await self._add(offered)


def _offered_rows(offered: dict[str, Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    for key, one in offered.items():
        times = f"{one['times']} times"
        effect = (one["effect"], EFFECT_STYLES.get(one["effect"], ""))
        yield key, (effect, (one["pattern"], "strong"), where(one), times, ago(one["last_at"]), "", "", "you")
