"""The counts of some events, in order. Counting a log in parts gives the same sums as counting it at once, as long as
the ledger is kept between the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from quarterdeck.core.model.event_data.notice_data import CwdChangedData
from quarterdeck.core.model.event_data.owned_session_data import SessionLaunchData
from quarterdeck.core.model.event_data.request_data import (
    DecisionData,
    PermissionDeniedData,
    PermissionRequestData,
    QuestionRequestData,
    StopRequestData,
)
from quarterdeck.core.model.event_data.session_data import MessageUsage, SessionUsageData, UserPromptData
from quarterdeck.core.model.event_data.tool_data import ToolFailureData, ToolPostData
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.core.model.runtime_event import FIRST_AGENT, Context
from quarterdeck.views.counts.metrics import METRICS, wait_group

HOUR = 3600
LAST_TIME = 32_503_680_000.0
"""The year 3000."""
MOST_CHARACTERS = 100
"""Of a name that an agent gave: a tool's, a model's, a pattern's."""

MOST_TOKENS, MOST_USD = 10**12, 1e6
"""Of one message: a transcript that claims more is wrong, and sums must stay whole numbers of 64 bits."""

TOKEN_TYPES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
}

COUNTED_KINDS = (
    "tool.post",
    "tool.failure",
    "permission.denied",
    "permission.request",
    "permission.decision",
    "question.request",
    "question.decision",
    "stop.request",
    "stop.decision",
    "user.prompt",
    "session.usage",
    "session.launch",
    "cwd.changed",
)
"""The kinds whose data is counted or remembered. Of the others only the first of a session and those with a context
matter: they say where a session is."""


MessageKey = tuple[str, str]
"""A session id and the id of a message in it."""


class SessionPlace(Struct, frozen=True):
    """Where a session works, and its agent."""

    cwd: str
    agent: str


class OpenedRequest(Struct, frozen=True):
    """A request without a decision."""

    session_id: str
    kind: str
    opened_at: float


class CountLedger(Struct):
    """What is remembered between two parts of the log. Counting a part changes it."""

    sessions: dict[str, SessionPlace] = field(default_factory=dict)
    requests: dict[str, OpenedRequest] = field(default_factory=dict)
    messages: dict[MessageKey, MessageUsage] = field(default_factory=dict)


class CountKey(Struct, frozen=True, gc=False):
    """One count: of a metric, in one hour or day, of a folder, with the values of the metric's other groups."""

    metric: str
    bucket: int
    cwd: str
    labels: tuple[str, ...]


class CountTally(Struct):
    """Amounts by hour and by day."""

    hours: dict[CountKey, int] = field(default_factory=dict)
    days: dict[CountKey, int] = field(default_factory=dict)


def plausible(message: MessageUsage) -> MessageUsage:
    """The usage of a message, with every number within its bounds."""
    tokens = {name: min(max(0, getattr(message, name)), MOST_TOKENS) for name in TOKEN_TYPES.values()}
    cost = message.cost_usd
    return replace(message, cost_usd=None if cost is None else min(max(0.0, cost), MOST_USD), **tokens)


def hour_of(at: float) -> int:
    """The number of the hour since 1970."""
    return int(within(at) // HOUR)


def within(at: float) -> float:
    """The time, or the nearest one that has a date everywhere: others come only from a broken clock."""
    return min(max(at, 0.0), LAST_TIME)


def count_events(events: Iterable[FeedEvent], ledger: CountLedger, day_of: Callable[[float], int]) -> CountTally:
    """Count events, which follow those that the ledger knows. `day_of` gives the number of the day of a time, by the
    calendar of the machine."""
    counting = _Counting(ledger, day_of)
    for event in events:
        if event.session_id != OWN:
            counting.count(event)
    return counting.tally


def place_after(known: SessionPlace | None, event: FeedEvent) -> SessionPlace:
    """Where the session of this event is now."""
    context = Context(cwd=known.cwd, agent=known.agent) if known else Context()
    match event.data:
        case SessionLaunchData(cwd=cwd):
            context = Context(cwd=cwd).merged(context)
        case CwdChangedData(new_cwd=cwd):
            context = context.merged(Context(cwd=cwd))
        case _:
            pass
    context = context.merged(event.context) if event.context else context
    return SessionPlace(context.cwd, context.agent or FIRST_AGENT)


class _Counting:
    def __init__(self, ledger: CountLedger, day_of: Callable[[float], int]) -> None:
        self.tally = CountTally()
        self._ledger = ledger
        self._day_of = day_of
        self._at = 0.0
        self._place = SessionPlace("", FIRST_AGENT)

    def count(self, event: FeedEvent) -> None:
        self._at = event.at
        known = self._ledger.sessions.get(event.session_id)
        self._place = place_after(known, event)
        if self._place != known:
            self._ledger.sessions[event.session_id] = self._place
        if known is None:
            self._add("sessions", 1)
        match event.data:
            case ToolPostData(tool_name=tool):
                self._add("tools", 1, tool, "ok")
            case ToolFailureData(tool_name=tool, is_interrupt=is_interrupt):
                self._add("tools", 1, tool, "interrupted" if is_interrupt else "failed")
            case PermissionDeniedData(tool_name=tool):
                self._add("tools", 1, tool, "denied")
            case PermissionRequestData(request_id=request_id):
                self._open(event, request_id, "permission")
            case QuestionRequestData(request_id=request_id):
                self._open(event, request_id, "question")
            case StopRequestData(request_id=str() as request_id, held=True):
                self._open(event, request_id, "stop")
            case DecisionData() as decision:
                self._decide(decision)
            case UserPromptData():
                self._add("prompts", 1)
            case SessionUsageData(spent=spent):
                for message in spent:
                    self._spend(event.session_id, message)
            case _:
                pass

    def _open(self, event: FeedEvent, request_id: str, kind: str) -> None:
        self._ledger.requests[request_id] = OpenedRequest(event.session_id, kind, event.at)

    def _decide(self, decision: DecisionData) -> None:
        """Count the decision that ended a request: later ones change nothing."""
        if decision.late or decision.overrides:
            return
        request = self._ledger.requests.pop(decision.request_id, None)
        if request is None:
            return
        waited = max(0.0, self._at - request.opened_at)
        named = "pass" if decision.decision_type == "no_opinion" else decision.decision_type
        outcome = named if decision.status == "decided" else decision.status
        labels = (request.kind, outcome, str(decision.source), wait_group(waited))
        self._add("requests", 1, *labels)
        self._add("wait_seconds", round(waited * METRICS["wait_seconds"].scale), *labels)
        for rule_id in decision.rule_ids:
            self._add("rule_hits", 1, rule_id, decision.pattern or "")

    def _spend(self, session_id: str, reported: MessageUsage) -> None:
        """Count a message of a model; a later report of the same message replaces the earlier one."""
        key, message = (session_id, reported.message_id), plausible(reported)
        before = self._ledger.messages.get(key)
        if before == message:
            return
        if before is not None:
            self._add_usage(before, -1)
        self._add_usage(message, 1)
        self._ledger.messages[key] = message

    def _add_usage(self, message: MessageUsage, sign: int) -> None:
        for name, field_name in TOKEN_TYPES.items():
            self._add("tokens", sign * getattr(message, field_name), name, message.model)
        if message.cost_usd is None:
            self._add("unpriced_messages", sign, message.model)
        else:
            self._add("cost_usd", sign * round(message.cost_usd * METRICS["cost_usd"].scale), message.model)

    def _add(self, metric: str, amount: int, *labels: str) -> None:
        if not amount:
            return
        cut = tuple(label[:MOST_CHARACTERS] for label in (*labels, self._place.agent))
        tally, cwd = self.tally, self._place.cwd
        for counts, bucket in ((tally.hours, hour_of(self._at)), (tally.days, self._day_of(self._at))):
            key = CountKey(metric, bucket, cwd, cut)
            counts[key] = counts.get(key, 0) + amount
