"""Rules: one row for each, all of one, what they say about a tool use, and what one would have decided."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.surfaces.terminal.forms.rule_form import rule_place
from quarterdeck.surfaces.terminal.styled_text import Cell, StyledLine, TableRows, line
from quarterdeck.surfaces.text.labels import ago, date_and_time

Json = dict[str, Any]
NO_OFFERS = (
    line(("Your decisions imply no rule yet.", "strong")),
    line(("One is offered once you have decided the same way three times, and never otherwise.", "dim")),
)
EFFECT_STYLES = {"allow": "good", "deny": "removed", "ask": "asks"}


def restorable_rule(rule: Json) -> Json:
    """The body that makes a removed rule again: the same effect, pattern, scope, end and note. A project is named by
    its folder."""
    names = ("effect", "pattern", "scope", "scope_id", "scope_path", "expires_at", "note")
    fields = {name: rule[name] for name in names}
    if fields["scope_path"] is not None:
        fields["scope_id"] = None
    return {name: value for name, value in fields.items() if value is not None}


def rule_rows(rules: Iterable[Json], now: float) -> TableRows:
    """One row for each rule."""
    for rule in rules:
        ends = rule["expires_at"]
        cells: tuple[Cell, ...] = (
            (rule["effect"], EFFECT_STYLES.get(rule["effect"], "")),
            (rule["pattern"], "strong"),
            rule_place(rule),
            f"{rule['hits']:,}",
            ago(rule["last_hit_at"], now) if rule["last_hit_at"] else "never",
            date_and_time(ends) if ends else "forever",
            (rule["note"] or "", "dim"),
            (rule["created_by"], "dim"),
        )
        yield rule["rule_id"], cells


def suggestion_rows(offers: Iterable[Json]) -> TableRows:
    """One row for each rule that your decisions suggest."""
    for place, one in enumerate(offers):
        effect, pattern = (one["effect"], EFFECT_STYLES.get(one["effect"], "")), (one["pattern"], "strong")
        times, last = f"{one['times']} times", ago(one["last_at"])
        yield f"s{place}", (effect, pattern, rule_place(one), times, last, "", "", "you")


def rule_lines(rule: Json, now: float) -> Iterator[StyledLine]:
    """All of one rule."""
    yield line((f"{rule['effect']} ", EFFECT_STYLES.get(rule["effect"], "")), (rule["pattern"], "strong"))
    ends = rule["expires_at"]
    until = time.strftime("until %d %b %Y %H:%M", time.localtime(ends)) if ends else "forever"
    yield line(rule["scope_path"] or rule_place(rule), f", {until}")
    last = f", last {ago(rule['last_hit_at'], now)}" if rule["last_hit_at"] else ""
    yield line(f"has decided {rule['hits']:,} times{last}")
    yield line(("made by ", "dim"), rule["created_by"])
    if rule["note"]:
        yield line(("note: ", "dim"), rule["note"])


def explanation_lines(explanation: Json) -> Iterator[StyledLine]:
    """The rules' verdict on a tool use, and every rule that was considered."""
    if explanation["effect"] is None:
        yield line(("A person is asked: ", "strong"), " · ".join(explanation["reasons"]) or "no rule is about this")
    else:
        patterns = ", ".join(rule["pattern"] for rule in explanation["rules"])
        yield line((f"{explanation['effect']}: ", EFFECT_STYLES.get(explanation["effect"], "strong")), patterns)
    for one in explanation["considered"]:
        mark = "✓" if one["matched"] else "·"
        yield line(f" {mark} ", (f"{one['rule']['effect']} {one['rule']['pattern']}", ""), (f"  {one['why']}", "dim"))
    if explanation["patterns"]:
        yield line(("could be remembered as: ", "dim"), " or ".join(explanation["patterns"]))


def simulation_lines(
    rule: Json, seen: int, decided: int, examples: list[Json], surprises: list[Json]
) -> Iterator[StyledLine]:
    """The past requests that a rule would have decided."""
    words = f" would have decided {decided:,} of {seen:,} past requests"
    yield line((f"{rule['effect']} {rule['pattern']}", "strong"), words, f", {len(surprises)} of them differently")
    for past in surprises[:5]:
        yield line((f" ! {past['subject']}", "warn"), (f"  {past['surprise']}", "dim"))
    for past in examples[:5]:
        by = f"  {past['decision'] or 'not decided'}{' by ' + past['by'] if past['by'] else ''}"
        yield line(f" · {past['subject']}", (by, "dim"))
