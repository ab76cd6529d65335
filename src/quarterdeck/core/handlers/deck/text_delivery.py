"""A text of the deck on its way to a session, and its outcome. What did not arrive stays armed and says why."""

from __future__ import annotations

from quarterdeck.core.deck.routes import NOT_KNOWN, DeckRoute, route_to
from quarterdeck.core.deck.shown_session import shown_session
from quarterdeck.core.engine.deck_messages import DeckInput, DispatchEnded, EditorCommand, FollowDispatch
from quarterdeck.core.engine.session_messages import InterruptSession, SendPrompt
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.session_commands import CommandRefusal, deliver_prompt, interrupt_turn
from quarterdeck.core.model.event_data.deck_data import OperatorDispatchData
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.state import DeckDispatch, EditorTerminal, Session

ESCAPE, INTERRUPT = "\x1b", "\x03"
SENDING = "the last text is still on its way"


def deck_route(step: Step, command: DeckInput) -> DeckRoute:
    """The way to the shown session; `CommandRefusal` when there is none."""
    state = step.draft.finish()
    route = route_to(state, shown_session(state, command.at))
    if isinstance(route, str):
        raise CommandRefusal("not_possible", route)
    return route


def send_text(
    step: Step, command: DeckInput, text: str, prompt_id: str | None = None, *, with_enter: bool = True
) -> None:
    """Send a text to the shown session. It counts as delivered once it was acknowledged."""
    deck = step.draft.deck
    if deck.dispatch is not None and deck.dispatch.outcome == "sending":
        raise CommandRefusal("deck_busy", SENDING)
    route = _route_or_record(step, command, prompt_id)
    session_id = route.session.session_id
    if route.terminal is not None:
        _record(step, command, prompt_id, session_id, route.name, "sending")
        step.effects.append(typed(route.terminal, text, with_enter=with_enter, message_id=command.message_id))
        return
    own_session_id, step.session_id = step.session_id, session_id
    send = SendPrompt(session_id=session_id, message_id=command.message_id, prompt=text, by=command.by, at=command.at)
    try:
        deliver_prompt(step, send)
    except CommandRefusal as refusal:
        _record(step, command, prompt_id, session_id, route.name, "undelivered", str(refusal))
        raise
    finally:
        step.session_id = own_session_id
    _record(step, command, prompt_id, session_id, route.name, "sending")
    step.effects.append(FollowDispatch(message_id=command.message_id))


def _route_or_record(step: Step, command: DeckInput, prompt_id: str | None) -> DeckRoute:
    """The way to the session; a text that has none is recorded as undelivered."""
    try:
        return deck_route(step, command)
    except CommandRefusal as refusal:
        session = shown_session(step.draft.finish(), command.at)
        where = session.session_id if session is not None else None
        _record(step, command, prompt_id, where, None, "undelivered", str(refusal))
        raise


def _record(
    step: Step,
    command: DeckInput,
    prompt_id: str | None,
    session_id: str | None,
    route: str | None,
    outcome: str,
    reason: str | None = None,
) -> None:
    data = OperatorDispatchData(
        prompt_id=prompt_id,
        session_id=session_id,
        route=route,
        message_id=command.message_id,
        outcome=outcome,
        reason=reason,
        by=command.by,
    )
    step.emit_own("operator.dispatch", data, actor=USER, level="warn" if outcome == "undelivered" else "info")


def typed(
    terminal: EditorTerminal, text: str, *, with_enter: bool = False, message_id: str | None = None
) -> EditorCommand:
    """The command that types into a terminal of an editor. It names the process and the tag, so that the editor finds
    the very terminal, wherever it is in its list."""
    payload = {"text": text, "newline": with_enter, "pid": terminal.pid, "tag": terminal.tag}
    return EditorCommand(
        client_id=terminal.client_id,
        kind="send_text",
        target=terminal.terminal_id,
        payload=payload,
        message_id=message_id,
    )


def interrupt_shown(step: Step, command: DeckInput, key: str = ESCAPE) -> None:
    """Interrupt the shown session: over its SDK or in its terminal, or by a key in that of an editor."""
    state = step.draft.finish()
    session: Session | None = shown_session(state, command.at)
    if session is None:
        raise CommandRefusal("not_possible", NOT_KNOWN)
    route = route_to(state, session)
    if isinstance(route, DeckRoute) and route.terminal is not None:
        step.effects.append(typed(route.terminal, key))
        return
    own_session_id, step.session_id = step.session_id, session.session_id
    try:
        interrupt_turn(step, InterruptSession(session_id=session.session_id, by=command.by, at=command.at))
    finally:
        step.session_id = own_session_id


def end_dispatch(step: Step, ended: DispatchEnded) -> None:
    """Record the outcome of the text that is on its way."""
    last = step.draft.deck.dispatch
    if last is not None and last.message_id == ended.message_id and last.outcome == "sending":
        record_end(step, last, ended.error)


def record_end(step: Step, last: DeckDispatch, error: str | None) -> None:
    """Record that a text was delivered, or that it was not, with the reason."""
    data = OperatorDispatchData(
        prompt_id=last.prompt_id,
        session_id=last.session_id,
        route=last.route,
        message_id=last.message_id,
        delivered=error is None,
        outcome="delivered" if error is None else "undelivered",
        reason=error,
    )
    step.emit_own("operator.dispatch", data, level="info" if error is None else "warn")
