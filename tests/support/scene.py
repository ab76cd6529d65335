"""A scene for story tests of the core: inputs, then checks of the events, the answers and the state."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.fold import fold
from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    CheckAfter,
    CommandReply,
    Deadline,
    Decide,
    HookReceived,
    Input,
    Notify,
    Remember,
    ResolvedPaths,
    RiskAssessed,
    SendAnswer,
    StillWaiting,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, Session, Settings, State
from quarterdeck.core.reduce import Result, reduce
from quarterdeck.core.risk.quick_risk import quick_risk

T = TypeVar("T")


class Scene:
    """One state that receives inputs; each check is about the last input. With `assesses`, the full risk of every
    request is there before the next look at whether it still waits, and is the quick one."""

    def __init__(
        self, *, session_id: str = "s1", attended: bool = True, assesses: bool = True, **settings: Any
    ) -> None:
        self.state = State(runner_id="otter", settings=Settings(**settings))
        self.session_id = session_id
        self.attended = attended
        self.assesses = assesses
        self.events: list[FeedEvent] = []
        self.answers: dict[str, list[Decision]] = {}
        self.clock = 1000.0
        self.paths: ResolvedPaths | None = None
        self._n = 0
        self._last: Result | None = None

    @property
    def last(self) -> Result:
        assert self._last is not None
        return self._last

    @property
    def session(self) -> Session:
        return self.state.sessions.get(self.session_id) or self.state.ended[self.session_id]

    def submits(self, message: Input) -> Self:
        self._last = reduce(self.state, message)
        self.state = self._last.state
        self.events += self._last.events
        for effect in self._last.effects:
            if isinstance(effect, SendAnswer):
                self.answers.setdefault(effect.event_id, []).append(effect.decision)
        return self

    def effects(self, kind: type[T]) -> list[T]:
        """The last step's effects of one type."""
        return [effect for effect in self.last.effects if isinstance(effect, kind)]

    def receives(self, hook: str, *, id: str = "", session: str = "", entrypoint: str = "", **payload: Any) -> Self:
        """An agent's hook, one second after the last."""
        return self.submits(self.hook_received(hook, id, session, entrypoint, payload))

    def receives_at_the_gate(
        self, *, id: str = "", entrypoint: str = "", enforced: bool = True, **payload: Any
    ) -> Self:
        """A tool call before it runs."""
        received = replace(self.hook_received("PreToolUse", id, "", entrypoint, payload), enforced=enforced)
        return self.submits(received)

    def hook_received(self, hook: str, id: str, session: str, entrypoint: str, payload: dict[str, Any]) -> HookReceived:
        self.clock += 1
        self._n += 1
        body = {"session_id": session or self.session_id, "hook_event_name": hook, "cwd": "/w/app", **payload}
        event = read_hook(body, event_id=id or f"e{self._n}", at=self.clock, entrypoint=entrypoint)
        return HookReceived(event=event, attended=self.attended, paths=self.paths)

    def decides(
        self,
        request_id: str,
        decision: Decision,
        *,
        digest: str = "",
        by: str = "ann",
        remember: Remember | None = None,
    ) -> Self:
        """A person decides the request they were shown, or names another digest."""
        self.clock += 1
        shown = digest or self.request(request_id).digest
        return self.submits(
            Decide(request_id=request_id, decision=decision, digest=shown, by=by, at=self.clock, remember=remember)
        )

    def rules(self, effect: str, pattern: str, scope: str = "user", *, id: str = "", **more: Any) -> Self:
        """A person makes a rule."""
        self.clock += 1
        rule = Rule(
            rule_id=id or f"r{len(self.state.rules) + 1}",
            effect=effect,
            pattern=pattern,
            scope=scope,
            created_at=self.clock,
            created_by="ann",
            **more,
        )
        return self.submits(AddRule(rule=rule, by="ann", at=self.clock))

    def imports(self, *rules: Rule, is_trial: bool = False) -> Self:
        """A person makes several rules at once."""
        self.clock += 1
        return self.submits(AddRules(rules=rules, by="ann", at=self.clock, is_trial=is_trial))

    def expires(self, request_id: str) -> Self:
        self.clock += 1
        return self.submits(Deadline(request_id=request_id, at=self.clock))

    def still_waits(self, request_id: str, waited: float, clock: str = "12:00") -> Self:
        """The request is unanswered for this many seconds, at this time of day."""
        for request in self.state.requests.values() if self.assesses else ():
            if request.status == "pending" and request.risk is None:
                risk = quick_risk(request, "/w/app", self.state.settings.home)
                self.assessed(request.request_id, risk.level, *risk.reasons)
        self.clock += 1
        hour, _, minute = clock.partition(":")
        of_day = int(hour) * 60 + int(minute)
        return self.submits(StillWaiting(request_id=request_id, waited=waited, minute=of_day, at=self.clock))

    def assessed(self, request_id: str, level: str, *reasons: str, digest: str = "") -> Self:
        """The full risk of the request is assessed, or that of another digest."""
        of_digest = digest or self.request(request_id).digest
        risk = Risk(level, list(reasons))
        return self.submits(RiskAssessed(request_id=request_id, digest=of_digest, risk=risk, at=self.clock))

    def checks_after(self, *seconds: float) -> Self:
        assert [e.seconds for e in self.last.effects if isinstance(e, CheckAfter)] == list(seconds)
        return self

    def notifies(self, *request_ids: str) -> Self:
        """The notifications of this step are about these requests."""
        notified = [one.request_id for e in self.last.effects if isinstance(e, Notify) for one in e.notice.requests]
        assert notified == list(request_ids)
        return self

    def request(self, request_id: str) -> Request:
        return self.state.requests[request_id]

    def records(self, *kinds: str) -> Self:
        assert [e.kind for e in self.last.events] == list(kinds)
        return self

    def answers_with(self, event_id: str, decision: Decision) -> Self:
        answers = [e.decision for e in self.last.effects if isinstance(e, SendAnswer) and e.event_id == event_id]
        assert answers == [decision]
        return self

    def stays_silent(self) -> Self:
        answers = [e.decision for e in self.last.effects if isinstance(e, SendAnswer)]
        assert all(isinstance(d, NoOpinion) for d in answers)
        assert answers
        return self

    def holds(self, request_id: str) -> Self:
        assert not any(isinstance(e, SendAnswer) and e.event_id == request_id for e in self.last.effects)
        assert self.request(request_id).status == "pending"
        return self

    def replies(self, outcome: str) -> Self:
        assert [e.outcome for e in self.last.effects if isinstance(e, CommandReply)] == [outcome]
        return self

    def does_nothing(self) -> Self:
        assert (self.last.events, self.last.effects) == ([], [])
        return self

    def is_now(self, state: AgentState) -> Self:
        assert self.session.agent_state is state
        return self

    def folds(self) -> Self:
        """Folding the whole log gives the same state."""
        again = fold(State(runner_id="otter", settings=self.state.settings), self.events)
        assert again == self.state
        return self


def bash(command: str, use: str | None = None, agent: str | None = None) -> dict[str, Any]:
    """The fields of a Bash call."""
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}}
    if use:
        call["tool_use_id"] = use
    if agent:
        call |= {"agent_id": agent, "agent_type": "general-purpose"}
    return call


def with_request(**settings: Any) -> Scene:
    """A session with one open request, `r1`: to run `rm x`."""
    scene = Scene(**settings)
    scene.receives("UserPromptSubmit", prompt="go").receives("PreToolUse", **bash("rm x", "t1"))
    return scene.receives("PermissionRequest", id="r1", **bash("rm x"))
