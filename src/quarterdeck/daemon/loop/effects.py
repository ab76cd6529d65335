"""Performs the effects of a recorded input: a table from the type of an effect to its performer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from quarterdeck.core.engine.deck_messages import DeckEffect
from quarterdeck.core.engine.messages import (
    CheckAfter,
    Command,
    CommandReply,
    DaemonRestarted,
    DaemonStopping,
    Deadline,
    Effect,
    HookReceived,
    Notify,
    SendAnswer,
    Unwatch,
    WakeAfter,
)
from quarterdeck.core.engine.session_messages import SessionEffect
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.reduce import Result
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.input_traits import subject_id
from quarterdeck.daemon.loop.queued_input import QueuedInput
from quarterdeck.daemon.loop.waiters import NO_OPINION, HookAnswer, Waiters, resolve

RETURN_SECONDS = 60.0
"""How long an agent that waited before a restart may take to come back: as long as the forwarder tries."""

DECK_EFFECTS: tuple[type[DeckEffect], ...] = get_args(DeckEffect)
SESSION_EFFECTS: tuple[type[SessionEffect], ...] = get_args(SessionEffect)


class EffectPerformer:
    """Answers connections and watches deadlines itself. Notifications and session commands belong to other parts of
    the daemon, which `assign` themselves. `on_hold` is called when a connection begins to wait."""

    def __init__(self, waiters: Waiters, deadlines: Deadlines, on_hold: Callable[[], None]) -> None:
        self._waiters = waiters
        self._deadlines = deadlines
        self._on_hold = on_hold
        self._performers: dict[type[Effect], Callable[[Any, QueuedInput, Result], None]] = {
            SendAnswer: self._send_answer,
            CommandReply: self._reply,
            WakeAfter: self._hold,
            CheckAfter: lambda effect, *_: deadlines.check_after(effect.request_id, effect.seconds),
            Unwatch: lambda effect, *_: deadlines.forget(effect.request_id),
        }
        self.assign(lambda effect: None, Notify, *SESSION_EFFECTS, *DECK_EFFECTS)

    def assign(self, perform: Callable[[Any], None], *kinds: type[Effect]) -> None:
        """Perform effects of these types by this function, which must return at once."""
        self._performers |= dict.fromkeys(kinds, lambda effect, *_: perform(effect))

    def perform(self, queued: QueuedInput, result: Result) -> None:
        """Perform the effects of an input that is in the log."""
        # The shortcut is for nearly every hook call: its only effect is to answer its own connection with silence.
        if queued.answer is not None and result.is_silent and not self._waiters:
            resolve(queued.answer, NO_OPINION)
            return
        for effect in result.effects:
            self._performers[type(effect)](effect, queued, result)

    def _send_answer(self, effect: SendAnswer, queued: QueuedInput, result: Result) -> None:
        answer = NO_OPINION if effect.request is None else HookAnswer(effect.decision, effect.request)
        own_id = queued.input.event.id if isinstance(queued.input, HookReceived) else None
        if effect.event_id == own_id and queued.answer is not None:
            resolve(queued.answer, answer)
        self._waiters.answer(effect.event_id, answer)

    def _reply(self, effect: CommandReply, queued: QueuedInput, result: Result) -> None:
        if queued.reply is not None:
            resolve(queued.reply, effect)

    def _hold(self, effect: WakeAfter, queued: QueuedInput, result: Result) -> None:
        request = result.state.requests[effect.request_id]
        if queued.answer is not None:
            resolve(queued.answer, self._waiters.join(request.request_id))
        pid = queued.input.event.context.pid if isinstance(queued.input, HookReceived) else 0
        self._deadlines.watch(request, effect.seconds, pid)
        if isinstance(queued.input, DaemonRestarted):
            self._waiters.expect(request.request_id)
            self._deadlines.expect(request, RETURN_SECONDS, self._waiters.is_away)
        self._on_hold()

    def release(self, queued: QueuedInput, error: str) -> None:
        """Answer everything that waits for an input that is not in the log: an agent then asks at its own prompt."""
        answer = HookAnswer(NoOpinion(), recorded=False, error=error)
        if queued.answer is not None:
            resolve(queued.answer, answer)
        if queued.reply is not None and isinstance(queued.input, Command):
            reply = CommandReply(request_id=subject_id(queued.input), outcome="not_recorded", message=error)
            resolve(queued.reply, reply)
        if isinstance(queued.input, DaemonStopping):
            self._waiters.answer_all(answer)
        if isinstance(queued.input, Deadline):
            self._waiters.answer(queued.input.request_id, answer)
