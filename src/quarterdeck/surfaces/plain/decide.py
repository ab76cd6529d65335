"""Commands that decide. Each names a request by its number; nothing is allowed before all of it was read out."""

from __future__ import annotations

import time
from typing import Any

from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.plain.announcements import waiting_elsewhere_sentence
from quarterdeck.surfaces.plain.answer import prompt_answers
from quarterdeck.surfaces.plain.app import Handler, PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.plain.remember import prompt_rule
from quarterdeck.surfaces.plain.request_numbers import NumberedRequest
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.actions.send_decision import send_decision, send_decisions
from quarterdeck.surfaces.terminal.forms.answers import PLAN_MODES
from quarterdeck.surfaces.terminal.forms.tool_input import (
    allow_decision,
    command_field,
    edit_in_editor,
    editable_text,
    read_edited_input,
)
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.model import CONFIRMED, REFUSING
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.text.labels import about

Json = dict[str, Any]
DECISIONS = ("allow", "edit", "approve", "deny", "interrupt", "answer", "go-on", "remember", "pass")
SEVERAL = ("allow", "deny", "pass")
"""Commands that may name several requests."""


async def _list(app: PlainApp, rest: str) -> None:
    model, waiting = app.model, app.numbers.waiting
    if not waiting and not model.waiting_elsewhere:
        app.say("Nothing waits for you." if model.has_snapshot else "Not connected to the daemon yet.")
    for request in waiting:
        name, risk = model.name_of(request.item.view["session_id"]), card.risk_mark(request.item.view)
        app.say(f"{request.number}: {name}: {about(request.item.view, 80)} {risk}".rstrip())
    for session in model.waiting_elsewhere:
        app.say(waiting_elsewhere_sentence(session, str(model.name_of(session.session_id))))


async def _show(app: PlainApp, rest: str) -> None:
    for request in app.numbers.find_named(rest):
        await _read_out(app, request.item, request.number)


async def _read_out(app: PlainApp, item: RequestItem, number: int) -> None:
    """Print everything about a request. Only after the last line does it count as read out."""
    try:
        details = await app.daemon.request(item.request_id)
    except QuarterdeckError as error:
        app.say(f"It cannot be shown: {error}")
        return
    if not item.accept_details(details) or details["truncated"] is not None:
        app.say(f"Request {number} has changed: list names the waiting ones")
        return
    lines = await run_in_thread(lambda: [*body(details), *card.tail(details)])
    app.say(f"Request {number}: {app.announcer.head(item, time.time())}")
    await app.read_out(lines)
    item.seen = True
    app.say(f"End of request {number}.")


def blocked_reason(app: PlainApp, request: NumberedRequest, verb: str) -> str:
    """The reason why this decision may not be made now, in words; empty when it may."""
    item, verbs = request.item, card.decisions_for(request.item.view)
    # "deny", since the model's own test for unseen parts speaks of the screen; plain mode has its own below.
    if why := app.model.blocked_reason(item, app.clock(), request.announced_at, True, verb="deny"):
        return why
    if verb not in verbs:
        return f"it takes {', '.join(verbs).replace('_', '-')}"
    if verb not in REFUSING and item.hides:
        return f"not all of it was read out ({', '.join(item.hides)}): show {request.number} first"
    return ""


def _deciding(name: str) -> Handler:
    """The command that makes a decision."""
    verb = name.replace("-", "_")

    async def decide(app: PlainApp, rest: str) -> None:
        numbers, _, words = rest.partition(" ")
        if name == "interrupt" and numbers and not numbers[0].isdigit():
            raise CommandEnded("interrupt needs the number of a request; to stop a session use stop-turn")
        requests = app.numbers.find_named(numbers)
        if len(requests) > 1 and name not in SEVERAL:
            raise CommandEnded(f"{name} takes one request; name it by its number")
        allowed = [request for request in requests if not _is_blocked(app, request, verb)]
        for request in allowed if verb in CONFIRMED else ():
            await _confirm_risk(app, request)
        if len(allowed) > 1:
            more = {"message": words.strip()} if words.strip() and verb == "deny" else {}
            await send_decisions(app, verb, [request.item for request in allowed], **more)
        for request in allowed if len(allowed) == 1 else ():
            body = await _body(app, request.item, verb, words.strip())
            if not _is_blocked(app, request, verb):  # it may have ended while the person was asked
                await send_decision(app, request.item, body)

    return decide


async def _confirm_risk(app: PlainApp, request: NumberedRequest) -> None:
    """Ask again where the risk asks for it; anything but a yes ends the command."""
    view = request.item.view
    if view["needs_second_key"]:
        risk = f"{view['risk']['level']}: {' · '.join(view['risk']['reasons']) or 'no reason given'}"
        if not await app.is_sure(f"Request {request.number} is {risk}. Allow it all the same?"):
            raise CommandEnded("Nothing was decided.")


def _is_blocked(app: PlainApp, request: NumberedRequest, verb: str) -> bool:
    why = blocked_reason(app, request, verb)
    if why:
        app.say(f"Request {request.number} is not decided: {why}")
    return bool(why)


async def _body(app: PlainApp, item: RequestItem, verb: str, words: str) -> Json:
    """Ask for what else a decision needs."""
    match verb:
        case "deny" | "interrupt":
            return {"decision": "deny", "message": words or None, "interrupt": verb == "interrupt" or None}
        case "go_on":
            message = words or await app.ask("What should it do?")
            return {"decision": "block", "message": message or None}
        case "approve":
            return await _approve_body(app, words)
        case "edit":
            return await _edit_body(app, item, words)
        case "remember":
            return await prompt_rule(app, item, words)
        case "answer":
            return await prompt_answers(app, item, words)
        case _:
            return {"decision": verb}


async def _approve_body(app: PlainApp, words: str) -> Json:
    """Approve a plan, with the mode in which the agent works on it."""
    modes = list(PLAN_MODES)
    if not words:
        for number, (does, more) in enumerate(PLAN_MODES.values(), 1):
            app.say(f"{number}: {does}; {more}")
        words = await app.ask("How should the agent work? A number approves the plan.")
    known = {str(number): mode for number, mode in enumerate(modes, 1)} | {mode.value: mode for mode in PlanMode}
    if words not in known:
        raise CommandEnded(f"Nothing was decided: the modes are 1 to {len(modes)}")
    return {"decision": "allow", "mode": known[words].value}


async def _edit_body(app: PlainApp, item: RequestItem, words: str) -> Json:
    """Allow an edited input, once it was read back and confirmed."""
    tool_input = item.shown["tool_input"]
    try:
        edited = _read_typed_input(words, tool_input) if words else await _type_input(app, tool_input)
    except (OSError, ValueError) as error:
        edited = f"the editor did not start: {error}"
    if isinstance(edited, str):
        raise CommandEnded(f"Nothing was decided: {edited}")
    app.say("It would run as:")
    await app.read_out(body({**item.shown, "tool_input": edited, "diff": None, "change": None}))
    if not await app.is_sure("Allow exactly this?"):
        raise CommandEnded("Nothing was decided.")
    return allow_decision(tool_input, edited)


async def _type_input(app: PlainApp, tool_input: Json) -> Json | str:
    """The input after editing in the person's editor; without a terminal, as typed."""
    if app.can_edit:
        with app.quiet():
            suffix = "json" if command_field(tool_input) is None else "sh"
            return read_edited_input(
                await run_in_thread(lambda: edit_in_editor(editable_text(tool_input), suffix)), tool_input
            )
    return _read_typed_input(await app.ask("Type the command, or the whole input as a JSON object."), tool_input)


def _read_typed_input(text: str, tool_input: Json) -> Json | str:
    """The input that a line means: the whole of it as a JSON object, or the command."""
    return read_edited_input(text, {} if text.startswith("{") else tool_input)


COMMANDS: dict[str, Handler] = {"list": _list, "show": _show} | {name: _deciding(name) for name in DECISIONS}
