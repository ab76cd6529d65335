"""Deciding with a rule: what it covers is said first, and it is saved only after a yes to exactly that."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import YES, Plain
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.dialogs.decisions.remember import (
    EFFECTS,
    KEEPERS,
    LENGTHS,
    SCOPES,
    sentence,
    simulated,
    trusts,
)

Json = dict[str, Any]
SCOPE_WORDS = tuple(word for word, _ in SCOPES)
LENGTH_WORDS = {word or "ever": words for word, words in LENGTHS}
KEEPER_WORDS = tuple(word or "no" for word, _ in KEEPERS)
MAY_CHANGE = (
    "yes decides and saves it. Or type another pattern, the number of one above, "
    f"{', '.join(SCOPE_WORDS)}, {' or '.join(EFFECTS)}, for {' or '.join(LENGTH_WORDS)}, "
    f"claude {' or '.join(KEEPER_WORDS)}; cancel leaves it."
)


class Rule(Struct, frozen=True):
    """What is to be remembered. At first it is the narrowest that covers the request."""

    pattern: str
    scope: str = "session"
    effect: str = "allow"
    length: str = "ever"
    claude: str = "no"

    @property
    def said(self) -> str:
        kept = f" Claude Code keeps it too ({self.claude})." if self.claude != "no" and self.effect == "allow" else ""
        return sentence(self.effect, self.pattern, self.scope, LENGTH_WORDS[self.length]) + kept

    @property
    def body(self) -> Json:
        """As the daemon takes it beside a decision."""
        rule: Json = {"pattern": self.pattern, "scope": self.scope}
        rule |= {} if self.length == "ever" else {"expires": self.length}
        return rule | ({"claude": self.claude} if self.claude != "no" and self.effect == "allow" else {})


def changed(rule: Rule, typed: str, offered: list[str]) -> Rule | str:
    """The rule after what was typed; or why that changes nothing, in words."""
    word, _, rest = typed.partition(" ")
    if typed in SCOPE_WORDS:
        return replace(rule, scope=typed)
    if typed in EFFECTS:
        return replace(rule, effect=typed)
    if word == "for":
        return replace(rule, length=rest) if rest in LENGTH_WORDS else f"it holds for {' or '.join(LENGTH_WORDS)}"
    if word == "claude":
        return replace(rule, claude=rest) if rest in KEEPER_WORDS else f"claude {' or '.join(KEEPER_WORDS)}"
    if typed.isdigit():
        number = read_number(typed, len(offered))
        return replace(rule, pattern=offered[number - 1]) if number else "no pattern has this number"
    return replace(rule, pattern=typed) if typed else "a rule needs a pattern, like Bash(git log:*)"


async def remembered(face: Plain, asked: Asked, scope: str) -> Json | None:
    """The decision with its rule."""
    if scope and scope not in SCOPE_WORDS:
        face.say(f"Nothing was decided: say where to remember it: {', '.join(SCOPE_WORDS)}")
        return None
    asked.take_whole(await face.talk.request(asked.request_id))
    offered = list(asked.patterns)
    for number, pattern in enumerate(offered, 1):
        face.say(f"{number}: {pattern}")
    rule = Rule(offered[0] if offered else "", scope or "session")
    if not offered:
        face.say("No pattern covers exactly this; type one, or cancel and decide without a rule.")
    while True:
        is_rule = await _told(face, asked, rule)
        typed = await face.ask(MAY_CHANGE)
        if typed.lower() in YES and is_rule:
            return {"decision": rule.effect, "remember": rule.body}
        found = "this is not yet a rule" if typed.lower() in YES else changed(rule, typed, offered)
        if isinstance(found, str):
            face.say(found[:1].upper() + found[1:])
        else:
            rule = found


async def _told(face: Plain, asked: Asked, rule: Rule) -> bool:
    """Say what a rule covers and what saving it does beside; whether it is one."""
    if not rule.pattern:
        return False
    cwd = str((face.model.session_of(asked.view) or {}).get("cwd", ""))
    face.say(rule.said)
    if warning := trusts(rule.scope, rule.effect, asked.trust, cwd):
        face.say(warning)
    places = {"session": {"scope_id": asked.view["session_id"]}, "project": {"scope_path": cwd}}
    tried = {"effect": rule.effect, "pattern": rule.pattern, "scope": rule.scope, **places.get(rule.scope, {})}
    try:
        face.say(simulated(await face.talk.post("/rules/simulate", tried)))
    except QuarterdeckError as error:
        face.say(f"Not yet a rule: {error}")
        return False
    return True
