"""One step of `reduce`: the draft of the next state, the events it records, and its effects."""

from __future__ import annotations

from typing import Any, get_args

from msgspec.structs import asdict

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.fold import apply
from quarterdeck.core.engine.messages import CheckAfter, CommandReply, Effect, SendAnswer, Unwatch
from quarterdeck.core.model.decisions import Answer, Ask, Block, Decision, Deny, NoOpinion, Source, decision_type
from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.event_data.session_data import RunEndData
from quarterdeck.core.model.events import OWN, SYSTEM, USER, Cause, FeedEvent
from quarterdeck.core.model.payload import sha256_of
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Request, Session, State


class Step:
    """The work on one input. Each event is applied when it is emitted, so that later ones see its change."""

    __slots__ = ("at", "context", "draft", "effects", "events", "hook_request_id", "session_id", "transcript_path")

    def __init__(self, state: State, session_id: str, at: float, hook_request_id: str | None = None) -> None:
        self.draft = Draft(state)
        self.session_id = session_id
        self.at = at
        self.hook_request_id = hook_request_id
        self.context: Context | None = None
        self.transcript_path = ""
        self.events: list[FeedEvent] = []
        self.effects: list[Effect] = []

    @property
    def session(self) -> Session:
        return self.draft.session(self.session_id, self.at)

    def pending_request(self, request_id: str) -> Request | None:
        """The request, if it still waits for a decision."""
        request = self.draft.requests.get(request_id)
        return request if request is not None and request.status == "pending" else None

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
        """Record an event in the session's open run, or in R0 when there is none. `outside` puts it in R0 anyway,
        `of_last_run` in the run that ended last, if there is one."""
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
        cause = Cause(
            parent_event_id=parent,
            hook_request_id=self.hook_request_id,
            tool_use_id=tool_use_id,
            transcript_path=self._transcript_path(kind, session) or None,
        )
        context, self.context = self.context, None  # only the first event of a hook carries what changed around it
        return self._record(kind, data, actor, level, run_id, seq, self.session_id, cause, context)

    def _transcript_path(self, kind: str, session: Session) -> str:
        """The transcript that an event was read from. Of those of hooks only the first in a session or run names it:
        the others have the same, and it would be a large part of their size."""
        if self.transcript_path or kind not in ("session.start", "run.start"):
            return self.transcript_path
        return (self.context or session.context).transcript_path

    def emit_own(self, kind: str, data: Any, *, actor: str = SYSTEM, level: str = "info") -> FeedEvent:
        """Record an event that concerns this runner and no session."""
        return self._record(kind, data, actor, level, f"{OWN}:R0", self.draft.own_seq + 1, OWN)

    def _record(
        self,
        kind: str,
        data: Any,
        actor: str,
        level: str,
        run_id: str,
        seq: int,
        session_id: str,
        cause: Cause | None = None,
        context: Context | None = None,
    ) -> FeedEvent:
        event = FeedEvent(
            seq_no=self.draft.seq_no + 1,
            event_id=f"{run_id}:E{seq}",
            seq=seq,
            run_id=run_id,
            session_id=session_id,
            runner_id=self.draft.state.runner_id,
            at=self.at,
            kind=kind,
            level=level,
            actor_id=actor,
            cause=cause,
            data=data,
            context=context,
        )
        self.events.append(event)
        apply(self.draft, event)
        return event

    def reply(self, request_id: str, outcome: str, message: str = "", **more: Any) -> None:
        """Report the outcome of a command to the client that waits for it."""
        self.effects.append(CommandReply(request_id=request_id, outcome=outcome, message=message, **more))

    def check_after(self, request_id: str, seconds: float | None) -> None:
        """Look at a waiting request again after this time; None when nothing can come of it."""
        if seconds is not None:
            self.effects.append(CheckAfter(request_id=request_id, seconds=seconds))

    def record_decision(self, request: Request, decision: Decision, source: Source, by: str, **more: Any) -> FeedEvent:
        """Record the decision of a request as an event, without an answer to the agent."""
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

    def resolve(self, request: Request, decision: Decision, source: Source, by: str, **more: Any) -> None:
        """Record the decision, answer the agent and stop watching the request; a stop that goes through ends its
        run."""
        self.record_decision(request, decision, source, by, **more)
        if request.kind == "stop" and not isinstance(decision, Block):
            self.end_run("completed")
        closed = self.draft.requests.get(request.request_id, request)
        self.effects.append(SendAnswer(event_id=request.request_id, decision=decision, request=closed))
        self.effects.append(Unwatch(request_id=request.request_id))

    def end_run(self, status: str) -> None:
        """Close the session's open run, if there is one."""
        run = self.session.run
        if run is not None:
            level = "info" if status == "completed" else "warn"
            self.emit("run.end", RunEndData(status=status, counters=run.counters), level=level)

    def withdraw(self, request: Request, reason: str, *, still_asks: bool = False) -> None:
        """Resolve a request that was answered or cancelled at the agent."""
        more = {"status": "withdrawn", "still_asks": still_asks}
        self.resolve(request, silent_decision(request, reason), Source.ELSEWHERE, "terminal", **more)


def silent_decision(request: Request, reason: str) -> Decision:
    """The answer when nobody decides: no opinion, or a deny where silence would let the tool run."""
    return Deny(f"Blocked: {reason}.") if request.enforced else NoOpinion(reason=reason)


def handed_back_decision(request: Request, reason: str | None) -> Decision:
    """The answer that returns the request to the agent: no opinion, or an explicit *ask* where silence would let the
    tool run."""
    return Ask(reason) if request.enforced else NoOpinion(reason)


def decision_data(request: Request, decision: Decision, source: Source, by: str, **more: Any) -> DecisionData:
    """A decision as the data of its feed event, which has a field for each field of every decision."""
    fields = {name: value for name, value in asdict(decision).items() if value is not False}
    if (edited := fields.get("updated_input")) is not None:
        fields["updated_digest"] = input_digest(edited)
    return DecisionData(
        request_id=request.request_id,
        decision_type=decision_type(decision),
        source=source,
        by=by,
        digest=request.digest,
        **fields,
        **more,
    )


def input_digest(tool_input: dict[str, Any]) -> str:
    """The digest of an edited input, as proof of what the agent received."""
    return sha256_of(tool_input).hex()


def sent_decision(request: Request | None) -> Decision:
    """The decision that the agent received for a resolved request."""
    data = request.decision if request else None
    kind = _DECISIONS.get(data.decision_type) if data and data.source is not Source.ELSEWHERE else None
    if kind is None or kind is NoOpinion:
        return NoOpinion()
    fields = {name: value for name in kind.__struct_fields__ if (value := getattr(data, name)) is not None}
    return kind(**(_REQUIRED_FIELDS.get(kind, {}) | fields))


_DECISIONS: dict[str, type[Decision]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Decision)}
_REQUIRED_FIELDS: dict[type[Decision], dict[str, Any]] = {
    Deny: {"message": ""},
    Answer: {"answers": {}},
    Block: {"reason": ""},
}
"""What stands in for a field that a damaged log lacks: `reduce` raises on no log."""
