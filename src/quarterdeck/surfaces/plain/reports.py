"""The feed, rules, the audit, what was used, and the daemon's health."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import Handler, PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded, help_lines
from quarterdeck.surfaces.plain.feed import MOST
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.actions.session_lookup import find_session
from quarterdeck.surfaces.terminal.forms.project_choice import typed_folder
from quarterdeck.surfaces.terminal.forms.rule_form import RULE_EFFECTS, RULE_LENGTHS, rule_place, simulation_sentence
from quarterdeck.surfaces.terminal.lines.health_lines import health_lines
from quarterdeck.surfaces.text.audit_labels import audit_action, audit_actor
from quarterdeck.surfaces.text.labels import date_and_time
from quarterdeck.surfaces.text.usage_table import UsageTable, usage_queries, usage_table, usage_words

Json = dict[str, Any]
LAST = 10
FAR = 2**53
USAGE_DAYS, MOST_DAYS, DAY_SECONDS = 7, 365, 86400.0
LENGTH_WORDS = tuple(word for word, _ in RULE_LENGTHS if word)


async def _feed(app: PlainApp, rest: str) -> None:
    """Run `feed`: `on`, `off`, or the latest events; a session and a number narrow them."""
    words = rest.split()
    if words[:1] == ["off"]:
        app.feed.switch(on=False)
        app.say("The feed is off.")
        return
    follows = words[:1] == ["on"]
    count = None if follows or not words else read_number(words[-1], MOST)
    name = " ".join(words[1:] if follows else words[:-1] if count else words)
    session_id = find_session(app.model, name).session_id if name else None
    if follows:
        app.feed.switch(on=True, session_id=session_id)
        app.say(f"The feed{f' of {name}' if name else ''} is on; feed off ends it.")
        return
    page = await app.daemon.get("/feed", before=FAR, limit=count or LAST, session_id=session_id)
    app.feed.print_events(page["events"])
    if not page["events"]:
        app.say("Nothing has happened yet.")


async def _rules(app: PlainApp, rest: str) -> None:
    word, _, more = rest.partition(" ")
    if word == "add":
        await _add_rule(app, more.strip())
    elif word == "remove":
        await _remove_rule(app, more.strip())
    elif word:
        raise CommandEnded("rules, rules add EFFECT PATTERN, or rules remove R")
    else:
        await _list_rules(app)


async def _list_rules(app: PlainApp) -> None:
    listing = await app.daemon.get("/rules")
    app.rules |= {rule["rule_id"]: rule for rule in listing["rules"]}
    for rule in listing["rules"]:
        app.say(f"{list(app.rules).index(rule['rule_id']) + 1}: {_rule_line(rule)}")
    if not listing["rules"]:
        app.say("There are no rules yet: remember N makes one, rules add makes one.")
    for finding in listing["findings"]:
        app.say(finding)


def _rule_line(rule: Json) -> str:
    ends = rule["expires_at"]
    until = f"until {date_and_time(ends)}" if ends else "forever"
    note = f", {rule['note']}" if rule["note"] else ""
    return f"{rule['effect']} {rule['pattern']}, {rule_place(rule)}, {until}, has decided {rule['hits']:,} times{note}"


async def _add_rule(app: PlainApp, text: str) -> None:
    """Say what the rule would have decided in the past, and make it after a yes."""
    effect, _, pattern = text.partition(" ")
    if effect not in RULE_EFFECTS or not pattern.strip():
        raise CommandEnded(f"rules add {'|'.join(RULE_EFFECTS)} PATTERN, like rules add allow Bash(git log:*)")
    rule: Json = {"effect": effect, "pattern": pattern.strip(), **await _prompt_place(app)}
    length = await app.ask(f"How long? {', '.join(LENGTH_WORDS)}; an empty line means forever.")
    if length and length not in LENGTH_WORDS:
        raise CommandEnded(f"Not made: the length must be {', '.join(LENGTH_WORDS)} or empty.")
    rule |= {"expires": length} if length else {}
    try:
        app.say(simulation_sentence(await app.daemon.post("/rules/simulate", rule)))
    except QuarterdeckError as error:
        raise CommandEnded(f"Not a rule: {error}") from None
    place = f"in {rule['scope_path']}" if "scope_path" in rule else "everywhere"
    duration = f"for {length}" if length else "forever"
    if await app.is_sure(f"Always {effect} {rule['pattern']} {place}, {duration}?"):
        made = await app.daemon.post("/rules", rule)
        also = f"; it also decided {len(made['also_decided'])} waiting" if made["also_decided"] else ""
        app.say(f"Made: {made['effect']} {made['pattern']}{also}")


async def _prompt_place(app: PlainApp) -> Json:
    """Prompt for the rule's scope: a folder, or everywhere."""
    while True:
        typed = await app.ask(
            "Where? A folder that starts with / or ~/ (its first rule also trusts it), or everywhere."
        )
        if typed == "everywhere":
            return {"scope": "user"}
        if folder := typed_folder(typed):
            return {"scope": "project", "scope_path": folder}


async def _remove_rule(app: PlainApp, text: str) -> None:
    number = read_number(text, len(app.rules))
    if not number:
        raise CommandEnded("Name a rule by its number; rules lists them")
    rule = list(app.rules.values())[number - 1]
    if await app.is_sure(f"Remove: {rule['effect']} {rule['pattern']} ({rule_place(rule)})?"):
        await app.daemon.delete(f"/rules/{quote(rule['rule_id'], safe='')}")
        app.say(f"Removed: {rule['pattern']}")


async def _audit(app: PlainApp, rest: str) -> None:
    rows = (await app.daemon.get("/audit", before=FAR, limit=read_number(rest, MOST) or LAST))["audit"]
    for row in rows:
        app.say(
            f"{date_and_time(row['at'])}: {audit_action(row)} by {audit_actor(row)}: {row['about']}".removesuffix(": ")
        )
    if not rows:
        app.say("Nothing was decided or changed yet.")


async def _usage(app: PlainApp, rest: str) -> None:
    """Say the totals, then the cost of each project and each model."""
    days = read_number(rest, MOST_DAYS) or USAGE_DAYS
    now = time.time()
    tables: dict[str, UsageTable] = {}
    for by in ("day", "project", "model"):
        queries = usage_queries(by, now - days * DAY_SECONDS, now)
        answers = {metric: await app.daemon.get("/stats/series", **query) for metric, query in queries.items()}
        tables[by] = usage_table(by, answers)
    for words in usage_words(tables, days):
        app.say(words)


async def _health(app: PlainApp, rest: str) -> None:
    with suppress(QuarterdeckError):  # the lines show what is known of a daemon that is down
        app.model.set_stats(await app.daemon.get("/stats"), app.clock())
    lines = health_lines(app.model, app.daemon.place, app.clock())
    await app.read_out(one for one in lines if one.spans)


async def _help(app: PlainApp, rest: str) -> None:
    for words in help_lines(rest):
        app.say(words)


async def _bell(app: PlainApp, rest: str) -> None:
    if rest not in ("on", "off"):
        raise CommandEnded("bell on, or bell off")
    app.rings = rest == "on"
    app.say(f"The bell is {rest}")


COMMANDS: dict[str, Handler] = {
    "feed": _feed,
    "rules": _rules,
    "audit": _audit,
    "usage": _usage,
    "health": _health,
    "help": _help,
    "bell": _bell,
}
