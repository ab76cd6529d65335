"""One step of `reduce`: the draft of the next state, the events it records and the effects it orders."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.fold import apply
from quarterdeck.core.engine.messages import Answer, Effect, Unwatch
from quarterdeck.core.model.decisions import Allow, Ask, Block, Decision, Deny, NoOpinion, Source, decision_type
from quarterdeck.core.model.decisions import Answer as Answered
from quarterdeck.core.model.event_data import (
    DecisionData,
    PermissionDecisionData,
    QuestionDecisionData,
    StopDecisionData,
)
from quarterdeck.core.model.events import OWN, SYSTEM, USER, Cause, FeedEvent
from quarterdeck.core.model.payload import sha256_of
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Request, Session, State

DECISION_DATA: dict[str, type[DecisionData]] = {
    "permission": PermissionDecisionData,
    "question": QuestionDecisionData,
    "stop": StopDecisionData,
}


class Step:
    """What one input does. Events are applied as they are emitted, so later ones see the earlier."""

    __slots__ = ("at", "context", "draft", "effects", "events", "hook_request_id", "session_id")

    def __init__(self, state: State, session_id: str, at: float, hook_request_id: str | None = None) -> None:
        self.draft = Draft(state)
        self.session_id = session_id
        self.at = at
        self.hook_request_id = hook_request_id
        self.context: Context | None = None
        self.events: list[FeedEvent] = []
        self.effects: list[Effect] = []

    @property
    def session(self) -> Session:
        return self.draft.session(self.session_id, self.at)

    def emit(
        self,
        kind: str,
        data: Any,
        *,
        actor: str = SYSTEM,
        level: str = "info",
        parent: str | None = None,
        tool_use_id: str | None = None,
        outside: bool = False,
        of_last_run: bool = False,
    ) -> FeedEvent:
        """Record an event in the session's open run, or in R0 when there is none; on wish in the run that ended last,
        where there is one."""
        session = self.session
        run = session.run
        if kind == "run.start":
            run_id, seq = f"{self.session_id}:R{session.runs + 1}", 1
        elif of_last_run and session.last_run_id:
            run_id, seq = session.last_run_id, session.last_run_seq + 1
        elif run is None or outside or of_last_run:
            run_id, seq = f"{self.session_id}:R0", session.seq_outside + 1
        else:
            run_id, seq = run.run_id, run.seq + 1
        cause = Cause(parent_event_id=parent, hook_request_id=self.hook_request_id, tool_use_id=tool_use_id)
        event = FeedEvent(
            seq_no=self.draft.seq_no + 1,
            event_id=f"{run_id}:E{seq}",
            seq=seq,
            run_id=run_id,
            session_id=self.session_id,
            runner_id=self.draft.state.runner_id,
            at=self.at,
            kind=kind,
            level=level,
            actor_id=actor,
            cause=cause,
            data=data,
            context=self.context,
        )
        self.context = None
        self.events.append(event)
        apply(self.draft, event)
        return event

    def emit_own(self, kind: str, data: Any, *, actor: str = SYSTEM, level: str = "info") -> FeedEvent:
        """Record what concerns this runner and no session."""
        seq = self.draft.own_seq + 1
        event = FeedEvent(
            seq_no=self.draft.seq_no + 1,
            event_id=f"{OWN}:R0:E{seq}",
            seq=seq,
            run_id=f"{OWN}:R0",
            session_id=OWN,
            runner_id=self.draft.state.runner_id,
            at=self.at,
            kind=kind,
            level=level,
            actor_id=actor,
            data=data,
        )
        self.events.append(event)
        apply(self.draft, event)
        return event

    def record(self, request: Request, decision: Decision, source: Source, by: str, **more: Any) -> FeedEvent:
        """Record how a request was decided, as an event of its own."""
        data = decision_data(request, decision, source, by, **more)
        refused = data.decision_type in ("deny", "block") or data.status == "expired"
        return self.emit(
            f"{request.kind}.decision",
            data,
            actor=USER if source is Source.USER else SYSTEM,
            level="warn" if refused or data.late or data.overrides else "info",
            parent=request.event_id,
            tool_use_id=request.tool_use_id,
        )

    def close(self, request: Request, decision: Decision, source: Source, by: str, **more: Any) -> None:
        """Record the decision, tell the agent and stop watching."""
        self.record(request, decision, source, by, **more)
        settled = self.draft.requests.get(request.request_id, request)
        self.effects.append(Answer(event_id=request.request_id, decision=decision, request=settled))
        self.effects.append(Unwatch(request_id=request.request_id))

    def withdraw(self, request: Request, reason: str, *, still_asks: bool = False) -> None:
        """The agent no longer needs us for this request."""
        more = {"status": "withdrawn", "still_asks": still_asks}
        self.close(request, unanswered(request, reason), Source.ELSEWHERE, "terminal", **more)


def unanswered(request: Request, reason: str) -> Decision:
    """What an agent is told about which nobody decides: nothing, or no where nothing would let the tool run."""
    return Deny(f"Blocked: {reason}.") if request.enforced else NoOpinion(reason=reason)


def handed_back(request: Request, reason: str | None) -> Decision:
    """What an agent is told that shall ask by itself: nothing, or just that where nothing would let the tool run."""
    return Ask(reason) if request.enforced else NoOpinion(reason)


def decision_data(request: Request, decision: Decision, source: Source, by: str, **more: Any) -> DecisionData:
    """A decision in the words of the feed."""
    fields: dict[str, Any] = {}
    match decision:
        case Allow(updated_input=updated, updated_permissions=permissions, grant=grant, mode=mode):
            fields = {"updated_input": updated, "updated_permissions": permissions, "grant": grant, "mode": mode}
            if updated is not None:
                fields["updated_digest"] = input_digest(updated)
        case Deny(message=message, interrupt=interrupt):
            fields = {"message": message, "interrupt": interrupt or None}
        case Answered(answers=answers, notes=notes):
            fields = {"answers": answers, "notes": notes}
        case Block(reason=reason):
            fields = {"reason": reason}
        case _:
            fields = {"reason": decision.reason}
    return DECISION_DATA[request.kind](
        request_id=request.request_id,
        decision_type=decision_type(decision),
        source=source,
        by=by,
        digest=request.digest,
        **fields,
        **more,
    )


def input_digest(tool_input: dict[str, Any]) -> str:
    """The digest of an edited input, so that what the agent got can be proved."""
    return sha256_of(tool_input).hex()


def decision_told(request: Request | None) -> Decision:
    """What the agent was told about a request that is over."""
    data = request.decision if request else None
    if data is None or data.source is Source.ELSEWHERE:
        return NoOpinion()
    match data.decision_type:
        case "allow":
            return Allow(
                updated_input=data.updated_input,
                updated_permissions=data.updated_permissions,
                grant=data.grant,
                mode=data.mode,
            )
        case "deny":
            return Deny(data.message or "", bool(data.interrupt))
        case "answer":
            return Answered(data.answers or {}, data.notes)
        case "block":
            return Block(data.reason or "")
        case "ask":
            return Ask(data.reason)
        case _:
            return NoOpinion()
