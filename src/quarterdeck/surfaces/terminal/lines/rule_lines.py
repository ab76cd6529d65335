"""Rules: one row for each, all of one, what they say about a tool use, and what one would have decided."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.surfaces.terminal.forms.rule_form import rule_place
from quarterdeck.surfaces.terminal.styled_text import Cell, StyledLine, TableRows, line
from quarterdeck.surfaces.text.labels import ago, date_and_time, own_allows_sentence

Json = dict[str, Any]
NO_OFFERS = (
    line(("Your decisions imply no rule yet.", "strong")),
    line(("One is offered once you have decided the same way three times, and never otherwise.", "dim")),
)
EFFECT_STYLES = {"allow": "good", "deny": "removed", "ask": "asks"}
VERDICTS = {"allow": "Allowed", "deny": "Denied", "ask": "Asks you"}
WOULD_HAVE = {"allow": "allowed", "deny": "denied", "ask": "asked about"}
MOST_PAST = 50
"""Examples and surprises of a simulation that are kept."""
MOST_EXAMPLES = 5


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


def rule_line(rule: Json, about: str = "", mark: str = "") -> StyledLine:
    """A rule on one line, with more about it; a mark before it indents the line."""
    effect = (f"{rule['effect']} ", EFFECT_STYLES.get(rule["effect"], ""))
    return line(mark, effect, rule["pattern"], (f" · {about}" if about else "", "dim"), indent=2 if mark else 0)


def explanation_lines(explanation: Json, *, is_whole: bool = True) -> Iterator[StyledLine]:
    """The rules' verdict on a tool use; the whole of it also has every rule that was considered."""
    effect = explanation["effect"] or "ask"
    by = ", ".join(f"{rule['pattern']} · {rule_place(rule, whole_path=True)}" for rule in explanation["rules"])
    why = "; ".join(explanation["reasons"]) or ("" if by else "no rule is about this")
    verdict = (VERDICTS[effect], EFFECT_STYLES[effect])
    yield line(verdict, f" by rule {by}" if by else "", f": {why}" if why else "")
    if words := own_allows_sentence(explanation["own_allows"]):
        yield line((words, "dim"))
    if is_whole:
        for one in explanation["considered"]:
            about = f"{rule_place(one['rule'], whole_path=True)} · {one['why']}"
            yield rule_line(one["rule"], about, "✓ " if one["matched"] else "· ")
        if explanation["patterns"]:
            yield line((f"Possible patterns for a rule: {', '.join(explanation['patterns'])}", "dim"))


def add_simulated(result: Json, page: Json) -> Json:
    """The result of a simulation with one more page; it keeps the first examples and surprises."""
    counts = {name: result[name] + page[name] for name in ("seen", "decided")}
    return counts | {name: [*result[name], *page[name]][:MOST_PAST] for name in ("surprises", "examples")}


def simulation_lines(result: Json, effect: str) -> Iterator[StyledLine]:
    """The past requests that a rule with this effect would have decided."""
    if not result["seen"]:
        yield line("There are no past requests to try it on.")
        return
    past = f"{result['seen']:,} requests" if result["seen"] > 1 else "request"
    yield line(f"Of the last {past} it would have {WOULD_HAVE[effect]} {result['decided']:,}.")
    for one in result["surprises"]:
        yield line(("! ", "warn"), _past_use(one), (f" · {one['surprise']}", "warn"))
    examples = result["examples"][:MOST_EXAMPLES]
    for one in examples:
        yield line((_past_use(one), "dim"), indent=2)
    more = result["decided"] - len(result["surprises"]) - len(examples)
    if more > 0:
        yield line((f"… and {more:,} more", "dim"), indent=2)


def _past_use(one: Json) -> str:
    return f"{ago(one['at'])}  {one['tool_name']}  {one['subject']}"
