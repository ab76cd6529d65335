"""Presses of keys and buttons. A key does what it showed, or nothing: the press names what it showed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from quarterdeck.core.deck.keys import ABOUT_REQUESTS, DECIDING, KeyView, is_current, key_views, prompt_key
from quarterdeck.core.deck.render_model import BARE_ENTER, armed_prompt, is_first_agent
from quarterdeck.core.deck.routes import DeckRoute, route_to
from quarterdeck.core.deck.shown_request import key_decision, next_request
from quarterdeck.core.deck.shown_session import shown_session
from quarterdeck.core.engine.deck_layout import SLOTS, KeyAction
from quarterdeck.core.engine.deck_messages import DeckInput, PressButton, PressKey
from quarterdeck.core.engine.input_bases import SignedInput
from quarterdeck.core.engine.messages import Decide, Remember
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.decisions import decide
from quarterdeck.core.handlers.deck.text_delivery import INTERRUPT, deck_route, interrupt_shown, send_text, typed
from quarterdeck.core.handlers.session_commands import CommandRefusal
from quarterdeck.core.model.decisions import Allow
from quarterdeck.core.model.event_data.deck_data import OperatorArmData, OperatorSelectData
from quarterdeck.core.model.events import USER

D = TypeVar("D", bound=SignedInput)
DECK = "deck"
"""The subject of a reply to a movement that decided nothing."""
EXPORT = "/export"


def replied(handle: Callable[[Step, D], bool]) -> Callable[[Step, D], None]:
    """A handler that also replies, unless it has: that the movement was applied, or why it was refused."""

    def handler(step: Step, command: D) -> None:
        try:
            has_replied = handle(step, command)
        except CommandRefusal as refusal:
            step.reply(DECK, refusal.kind, str(refusal))
        else:
            if not has_replied:
                step.reply(DECK, "applied")

    return handler


@replied
def press_key(step: Step, press: PressKey) -> bool:
    key = _pressed_key(step, press)
    if key.prompt_id is not None:
        _arm(step, press, key.prompt_id)
        return False
    action = KeyAction(key.action or "")
    if action not in ABOUT_REQUESTS:
        _act(step, press, action)
        return False
    if press.revision is None:
        raise CommandRefusal("stale_key", f"{key.label}: send the revision that the key showed")
    if action in DECIDING:
        _decide(step, press, key, action)
        return True
    if action is KeyAction.ALWAYS:
        _select(step, press, "always", None if key.armed else key.request_id)
    else:
        following = next_request(step.draft.finish())
        _select(step, press, "request", following.request_id if following is not None else None)
    return False


def _pressed_key(step: Step, press: PressKey) -> KeyView:
    """The key that was pressed; `CommandRefusal` when there is none, it has changed since, or it does nothing now."""
    state = step.draft.finish()
    keys = key_views(state, press.layout, press.at)
    if press.prompt_id is not None and press.slot is None:
        if press.prompt_id not in press.layout.prompts:
            raise CommandRefusal("not_found", f"no such prompt: {press.prompt_id}; see: qd deck show")
        found = [key for key in keys if key.prompt_id == press.prompt_id]
        key = found[0] if found else prompt_key(state, press.layout, 0, press.prompt_id)
    elif press.slot is not None and 0 <= press.slot < SLOTS:
        key = keys[press.slot]
    else:
        raise CommandRefusal("invalid", f"slot: 0 to {SLOTS - 1}, or name a prompt_id")
    if press.prompt_id not in (None, key.prompt_id):
        raise CommandRefusal("stale_key", f"key {key.slot} is not the prompt {press.prompt_id} any more; look again")
    if press.revision is not None and not is_current(key, press.revision):
        raise CommandRefusal("stale_key", f"key {key.slot} has changed since you saw it; look again")
    if key.kind == "empty":
        raise CommandRefusal("not_possible", f"key {key.slot} is empty")
    if not key.enabled:
        raise CommandRefusal("not_possible", f"{key.label}: {key.reason}")
    if key.hold and not press.held:
        raise CommandRefusal("hold_to_confirm", f"{key.label}: the risk is high; hold the key down to confirm")
    return key


def _decide(step: Step, press: PressKey, key: KeyView, action: KeyAction) -> None:
    """Decide the request that the key showed, by its digest."""
    request = step.draft.requests[key.request_id or ""]
    decision = key_decision(step.draft.finish(), request, action, press.by).decision
    assert decision is not None  # the key was enabled
    makes_rule = isinstance(decision, Allow) and step.draft.deck.always_for == request.request_id
    command = Decide(
        request_id=request.request_id,
        decision=decision,
        digest=key.digest or "",
        by=press.by,
        at=press.at,
        is_waiter_away=request.request_id in press.away,
        remember=Remember(rule_id=press.rule_id, scope="project") if makes_rule else None,
    )
    step.session_id = request.session_id
    decide(step, command)


def _arm(step: Step, press: PressKey, prompt_id: str) -> None:
    """Arm a prompt, or disarm it when it is armed. One of the style prefill is typed at once, where there is a line to
    type it on; an agent without a terminal gets it with Enter."""
    _require_prompts(press)
    prompt, armed = press.layout.prompts[prompt_id], step.draft.deck.armed
    if armed is not None and armed.prompt_id == prompt_id:
        _disarm(step, press)
        return
    is_typed = False
    if prompt.style == "prefill":
        state = step.draft.finish()
        text = prompt.effective_command(is_claude=is_first_agent(shown_session(state, press.at)))
        route = route_to(state, shown_session(state, press.at))
        if isinstance(route, DeckRoute) and route.terminal is not None:
            step.effects.append(typed(route.terminal, text))
            is_typed = True
    data = OperatorArmData(prompt_id=prompt_id, style=prompt.style, typed=is_typed, by=press.by)
    step.emit_own("operator.arm", data, actor=USER)


def _disarm(step: Step, command: DeckInput) -> None:
    step.emit_own("operator.arm", OperatorArmData(by=command.by), actor=USER)


def _select(step: Step, command: DeckInput, what: str, id: str | None) -> None:
    step.emit_own("operator.select", OperatorSelectData(what=what, id=id, by=command.by), actor=USER)


@replied
def press_button(step: Step, press: PressButton) -> bool:
    _act(step, press, press.button)
    return False


def _act(step: Step, command: DeckInput, action: KeyAction) -> None:
    """Press a key of the shown session, or send it what is armed."""
    match action:
        case KeyAction.ENTER:
            _require_prompts(command)
            _enter(step, command)
        case KeyAction.EXPORT:
            _require_prompts(command)
            send_text(step, command, EXPORT)
        case KeyAction.ESC if step.draft.deck.armed is not None:
            _require_prompts(command)
            _disarm(step, command)
            if command.layout.esc_when_pending == "cancel_and_passthrough":
                _interrupt(step, command)
        case KeyAction.ESC | KeyAction.INTERRUPT:
            _interrupt(step, command)
        case KeyAction.CTRL_C:
            _interrupt(step, command, INTERRUPT)
        case _:
            raise CommandRefusal("invalid", f"button: enter, esc, ctrl_c or export, not {action.value}")


def _enter(step: Step, command: DeckInput) -> None:
    """Send the armed prompt. One that was typed before only takes its Enter."""
    state = step.draft.finish()
    found = armed_prompt(state, command.layout)
    if found is None:
        route = deck_route(step, command)
        if route.terminal is None:
            raise CommandRefusal("not_possible", f"{BARE_ENTER}: press a prompt first")
        send_text(step, command, "")
        return
    prompt_id, prompt = found
    text = prompt.effective_command(is_claude=is_first_agent(shown_session(state, command.at)))
    is_typed = state.deck.armed is not None and state.deck.armed.is_typed
    send_text(step, command, "" if is_typed else text, prompt_id)


def _interrupt(step: Step, command: DeckInput, key: str | None = None) -> None:
    if not command.may_interrupt:
        raise CommandRefusal("forbidden", "this token may not interrupt; pair a deck, or use one with control")
    if key is None:
        interrupt_shown(step, command)
    else:
        interrupt_shown(step, command, key)


def _require_prompts(command: DeckInput) -> None:
    if not command.may_prompt:
        raise CommandRefusal("forbidden", "this token may not send prompts; pair a deck, or use one with prompt")
