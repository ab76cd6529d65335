"""Standing decisions, what was decided and changed, and how the daemon does."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import Do, Plain
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.text.audit_labels import deed, doer
from quarterdeck.surfaces.tui.dialogs.decisions.remember import LENGTHS, simulated
from quarterdeck.surfaces.tui.dialogs.manage.rules import EFFECTS
from quarterdeck.surfaces.tui.dialogs.manage.start_session import typed_folder
from quarterdeck.surfaces.tui.screens.health import health_lines
from quarterdeck.surfaces.tui.screens.rules import where

Json = dict[str, Any]
LAST = 10
MOST = 1000
FAR = 2**53
LENGTH_WORDS = tuple(word for word, _ in LENGTHS if word)


class Records:
    """Reads them out, and makes and takes back rules. A rule's number is never used again for another."""

    def __init__(self, face: Plain) -> None:
        self._face = face
        self._numbers: dict[str, int] = {}
        self._rules: dict[int, Json] = {}

    @property
    def orders(self) -> dict[str, Do]:
        return {"rules": self._order, "audit": self._audit, "health": self._health}

    async def _order(self, rest: str) -> None:
        word, _, more = rest.partition(" ")
        if word == "add":
            await self._add(more.strip())
        elif word == "remove":
            await self._remove(more.strip())
        elif word:
            self._face.say("rules, rules add EFFECT PATTERN, or rules remove R")
        else:
            await self._list()

    async def _list(self) -> None:
        found = await self._face.talk.get("/rules")
        for rule in found["rules"]:
            number = self._numbers.setdefault(rule["rule_id"], len(self._numbers) + 1)
            self._rules[number] = rule
            self._face.say(f"{number}: {_said(rule)}")
        if not found["rules"]:
            self._face.say("There are no rules yet: remember N makes one, rules add makes one.")
        for words in found["findings"]:
            self._face.say(words)

    async def _add(self, text: str) -> None:
        """Says what it would have decided, and makes it after a yes."""
        effect, _, pattern = text.partition(" ")
        if effect not in EFFECTS or not pattern.strip():
            self._face.say(f"rules add {'|'.join(EFFECTS)} PATTERN, like rules add allow Bash(git log:*)")
            return
        rule: Json = {"effect": effect, "pattern": pattern.strip(), **await self._place()}
        length = await self._face.ask(f"How long? {', '.join(LENGTH_WORDS)}, or an empty line for ever.")
        if length and length not in LENGTH_WORDS:
            self._face.say("Not made: that is no length of time.")
            return
        rule |= {"expires": length} if length else {}
        try:
            self._face.say(simulated(await self._face.talk.post("/rules/simulate", rule)))
        except QuarterdeckError as error:
            self._face.say(f"Not a rule: {error}")
            return
        place = f"in {rule['scope_path']}" if "scope_path" in rule else "everywhere"
        if await self._face.is_sure(f"Always {effect} {rule['pattern']} {place}, for {length or 'ever'}?"):
            made = await self._face.talk.post("/rules", rule)
            also = f", and settled {len(made['also_decided'])} that waited" if made["also_decided"] else ""
            self._face.say(f"Made: {made['effect']} {made['pattern']}{also}")

    async def _place(self) -> Json:
        """Where it shall hold; a folder unless everywhere is said."""
        while True:
            typed = await self._face.ask(
                "Where? A folder, from / or ~/, whose first rule also trusts it; or everywhere."
            )
            if typed == "everywhere":
                return {"scope": "user"}
            if folder := typed_folder(typed):
                return {"scope": "project", "scope_path": folder}

    async def _remove(self, text: str) -> None:
        rule = self._rules.get(read_number(text) or 0)
        if rule is None:
            self._face.say("Name a rule by its number; rules lists them")
        elif await self._face.is_sure(f"Take back: {rule['effect']} {rule['pattern']} ({where(rule)})?"):
            await self._face.talk.delete(f"/rules/{quote(rule['rule_id'], safe='')}")
            self._face.say(f"Taken back: {rule['pattern']}")

    async def _audit(self, rest: str) -> None:
        rows = (await self._face.talk.get("/audit", before=FAR, limit=read_number(rest, MOST) or LAST))["audit"]
        for row in rows:
            clock = time.strftime("%d %b %H:%M", time.localtime(row["at"]))
            self._face.say(f"{clock}: {deed(row)} by {doer(row)}: {row['about']}".removesuffix(": "))
        if not rows:
            self._face.say("Nothing was decided or changed yet.")

    async def _health(self, rest: str) -> None:
        lines = health_lines(self._face.model, str(self._face.talk.home), self._face.clock())
        await self._face.read_out(one for one in lines if one.spans)


def _said(rule: Json) -> str:
    ends = rule["expires_at"]
    until = time.strftime("until %d %b %H:%M", time.localtime(ends)) if ends else "for ever"
    note = f", {rule['note']}" if rule["note"] else ""
    return f"{rule['effect']} {rule['pattern']}, {where(rule)}, {until}, has decided {rule['hits']:,} times{note}"
