"""Envelopes that a client sends again: the second connection joins the first, or gets the recorded answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from quarterdeck.core.engine.messages import HookReceived, Input, InputRefused
from quarterdeck.core.engine.step import sent_decision
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.state import Request
from quarterdeck.daemon.loop.queued_input import Envelope, QueuedInput
from quarterdeck.daemon.loop.waiters import HookAnswer, HookPending, Waiters, resolve
from quarterdeck.store.log import Log

PendingAnswer = asyncio.Future[HookAnswer | HookPending]


@dataclass(frozen=True)
class Envelopes:
    """Recognizes repeated envelopes. `find` gives a request by its id, `submit` puts an input in the queue, `returned`
    is called for a request whose agent came back."""

    log: Log
    waiters: Waiters
    find: Callable[[str], Request | None]
    submit: Callable[[Input], None]
    returned: Callable[[Request], None]

    def answer_repeat(
        self, hook: HookReceived, envelope: Envelope, queue: Iterable[QueuedInput], future: PendingAnswer
    ) -> bool:
        """Answer a repeated envelope. False for a new one, which the loop must take."""
        request_id = envelope.request_id
        queued = next((q for q in queue if q.envelope and q.envelope.request_id == request_id), None)
        digest = queued.envelope.digest if queued and queued.envelope else self.log.envelope(request_id)
        if digest is None and self.find(request_id) is None:
            return False
        if digest != envelope.digest:
            error = f"request_id {request_id} was used for another payload"
            self.submit(InputRefused(event=hook.event, error=error))
            future.set_result(HookAnswer(NoOpinion(), recorded=False, error=error))
        elif queued is not None and queued.answer is not None:
            queued.answer.add_done_callback(lambda done: self._pass_on(done.result(), request_id, future))
        else:
            return self._answer_from_record(request_id, future)
        return True

    def _answer_from_record(self, request_id: str, future: PendingAnswer) -> bool:
        """Answer from the record. False after a request that the restart itself withdrew: its client is back, so it is
        decided again. One that would have been kept was withdrawn for another reason, and is over."""
        request = self.find(request_id)
        if request is not None and request.status == "withdrawn" and not request.reconnects:
            return False
        if request is not None and request.status == "pending":
            was_away = self.waiters.is_away(request_id)
            future.set_result(self.waiters.join(request_id))
            if was_away:
                self.returned(request)
        else:
            future.set_result(HookAnswer(sent_decision(request), request))
        return True

    def _pass_on(self, answer: HookAnswer | HookPending, request_id: str, future: PendingAnswer) -> None:
        """Give the second connection the answer of the first."""
        resolve(future, self.waiters.join(request_id) if isinstance(answer, HookPending) else answer)
