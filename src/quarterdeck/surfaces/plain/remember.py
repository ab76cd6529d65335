"""Decide with a rule: its effect is described first, and it is saved only after a yes to exactly that."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.forms.rule_form import (
    CLAUDE_SCOPES,
    REMEMBER_EFFECTS,
    REMEMBER_SCOPES,
    RULE_LENGTHS,
    rule_sentence,
    simulation_sentence,
    trust_warning,
)
from quarterdeck.surfaces.terminal.request_item import RequestItem

Json = dict[str, Any]
SCOPE_WORDS = tuple(word for word, _ in REMEMBER_SCOPES)
FOREVER = "forever"
LENGTH_WORDS = {word or FOREVER: words for word, words in RULE_LENGTHS}
DURATIONS = " or ".join(word for word in LENGTH_WORDS if word != FOREVER)
CLAUDE_WORDS = tuple(word or "no" for word, _ in CLAUDE_SCOPES)
NOT_A_RULE = "This is not yet a rule"
CHANGE_HINT = (
    "yes decides and saves it. Or type another pattern, the number of one above, "
    f"{', '.join(SCOPE_WORDS)}, {' or '.join(REMEMBER_EFFECTS)}, {FOREVER} or for {DURATIONS}, "
    f"claude {' or '.join(CLAUDE_WORDS)}; cancel leaves it."
)


class RuleDraft(Struct, frozen=True):
    """The rule to save. It starts as the narrowest one that covers the request."""

    pattern: str
    scope: str = "session"
    effect: str = "allow"
    length: str = FOREVER
    claude: str = "no"

    @property
    def sentence(self) -> str:
        kept = f" Claude Code keeps it too ({self.claude})." if self.claude != "no" and self.effect == "allow" else ""
        return rule_sentence(self.effect, self.pattern, self.scope, LENGTH_WORDS[self.length]) + kept

    @property
    def body(self) -> Json:
        """The rule as the API takes it in a decision."""
        rule: Json = {"pattern": self.pattern, "scope": self.scope}
        rule |= {} if self.length == FOREVER else {"expires": self.length}
        return rule | ({"claude": self.claude} if self.claude != "no" and self.effect == "allow" else {})


def changed_rule(rule: RuleDraft, typed: str, offered: list[str]) -> RuleDraft | str:
    """The rule with the typed change; or the reason why there is none, in words."""
    word, _, rest = typed.partition(" ")
    if typed in SCOPE_WORDS:
        return replace(rule, scope=typed)
    if typed in REMEMBER_EFFECTS:
        return replace(rule, effect=typed)
    if word == "for" or typed == FOREVER:
        length = FOREVER if typed == FOREVER else rest
        return replace(rule, length=length) if length in LENGTH_WORDS else f"Type {FOREVER}, or for {DURATIONS}"
    if word == "claude":
        return replace(rule, claude=rest) if rest in CLAUDE_WORDS else f"Type claude {' or '.join(CLAUDE_WORDS)}"
    if typed.isdigit():
        number = read_number(typed, len(offered))
        return replace(rule, pattern=offered[number - 1]) if number else "No pattern has this number"
    return replace(rule, pattern=typed) if typed else "A rule needs a pattern, like Bash(git log:*)"


async def prompt_rule(app: PlainApp, item: RequestItem, scope: str) -> Json:
    """The decision with the rule that the person has confirmed."""
    if scope and scope not in SCOPE_WORDS:
        raise CommandEnded(f"Nothing was decided: the scope must be {', '.join(SCOPE_WORDS)}")
    item.accept_details(await app.daemon.request(item.request_id))
    offered = list(item.patterns)
    for number, pattern in enumerate(offered, 1):
        app.say(f"{number}: {pattern}")
    if not offered:
        app.say("No pattern covers exactly this; type one, or cancel and decide without a rule.")
    draft = RuleDraft(offered[0] if offered else "", scope or "session")
    rule = await app.confirm(
        draft, CHANGE_HINT, lambda one: _describe(app, item, one), lambda one, typed: changed_rule(one, typed, offered)
    )
    return {"decision": rule.effect, "remember": rule.body}


async def _describe(app: PlainApp, item: RequestItem, rule: RuleDraft) -> str:
    """Describe what the rule covers and what saving it also does. Returns why it is not a valid rule, if it is none."""
    if not rule.pattern:
        return NOT_A_RULE
    session = app.model.session_of(item.view)
    cwd = session.cwd if session else ""
    app.say(rule.sentence)
    if warning := trust_warning(rule.scope, rule.effect, item.trust, cwd):
        app.say(warning)
    places = {"session": {"scope_id": item.view["session_id"]}, "project": {"scope_path": cwd}}
    body = {"effect": rule.effect, "pattern": rule.pattern, "scope": rule.scope, **places.get(rule.scope, {})}
    try:
        app.say(simulation_sentence(await app.daemon.post("/rules/simulate", body)))
    except QuarterdeckError as error:
        app.say(f"Not yet a rule: {error}")
        return NOT_A_RULE
    return ""
