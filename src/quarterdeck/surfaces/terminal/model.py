"""The state of a terminal surface: sessions, requests, the connection. Pure: messages and times go in."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict, replace

from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.client.view_reader import read_view, read_views
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.session_names import SessionName, session_names
from quarterdeck.surfaces.terminal.usage_totals import UsageTotal, total_usage
from quarterdeck.surfaces.text.labels import delivery, has_failed, link_label, outcome
from quarterdeck.surfaces.text.session_order import in_order
from quarterdeck.surfaces.text.waiting_elsewhere import waits_elsewhere
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.versions import RESTART_UI, version_fix

Json = dict[str, Any]

LINGER_SECONDS = 1.0
"""How long a request that was resolved elsewhere stays on the desk, greyed, with who resolved it."""
SETTLE_SECONDS = 0.3
"""How long a card must have been on screen before a decision key acts."""
STALE_SECONDS = 15.0
"""Silence of the daemon after which what is shown counts as old."""
DECIDED_KEPT = 50
CONFIRMED = frozenset(("allow", "approve"))
"""Decisions that let something run at once: where the risk asks for it, they are confirmed. An edit and a rule take two
steps anyway."""
REFUSING = frozenset(("deny", "interrupt", "pass"))
"""Decisions that let nothing run, so they do not need the whole request to have been on screen."""


class Metrics(UsageTotal, frozen=True, kw_only=True):
    """The numbers in the header."""

    sessions: int = 0
    running: int = 0
    failed: int = 0
    waiting: int = 0
    waiting_elsewhere: int = 0
    overhead_seconds: float | None = None
    link: str | None = None


class Model:
    """The state of one surface."""

    def __init__(self, version: str = "", way_to_start: str = "Start it with: qd up") -> None:
        self.version = version
        self.way_to_start = way_to_start
        """What to do when the daemon does not answer."""
        self.daemon_version = ""
        self.runner_id = ""
        self.link = "connecting"
        self.reason = ""
        self.last_message_at = 0.0
        self.has_snapshot = False
        self.sessions: dict[str, SessionView] = {}
        self.items: dict[str, RequestItem] = {}
        self._desk: list[RequestItem] | None = None
        self.decided: deque[Json] = deque(maxlen=DECIDED_KEPT)
        self.events: list[Json] = []
        self.events_start: int | None = None
        """The sequence number after which events arrived without a gap."""
        self.log_count = 1
        """How many logs were followed: a restarted daemon may have another one."""
        self._last = 0
        self.stats: Json | None = None
        self.notices: list[str] = []
        self.terminal_commands: dict[str, str] = {}
        """For each session that waits at its own terminal, the command that shows it; empty where none is known."""
        self._names: dict[str, SessionName] | None = None
        self._past: UsageTotal | None = None

    def receive(self, message: Connected | Lost | LiveMessage, at: float) -> None:
        """Apply one message of the daemon, or a change of the connection to it."""
        match message:
            case Connected():
                self.link, self.reason, self.last_message_at = "live", "", at
                if self.runner_id and (message.runner_id != self.runner_id or message.seq_no < self._last):
                    self._start_new_log()
                self._last = message.seq_no
                self.daemon_version, self.runner_id = message.daemon_version, message.runner_id
                if self.events_start is None or not message.resumed:
                    self.events_start = message.seq_no
                if not message.resumed:
                    self.notices.append("some events are no longer kept: the feed has a gap")
            case Lost(reason=reason):
                self.link, self.reason = "lost", reason
            case LiveMessage(kind=kind, body=body):
                self.last_message_at = at
                self._apply_message(kind, body, at)

    def _start_new_log(self) -> None:
        """Forget everything: the daemon has another log, and nothing received so far is in it."""
        self.log_count += 1
        self.events_start, self._names, self._desk = None, None, None
        for known in (self.sessions, self.items, self.decided, self.events, self.terminal_commands):
            known.clear()
        self.notices.append("the daemon has another log: what was shown before is not in it")

    def _apply_message(self, kind: str, body: Json, at: float) -> None:
        if kind in ("snapshot", "session"):
            self._names = None
        match kind:
            case "snapshot":
                self._apply_snapshot(body, at)
            case "session":
                self._apply_session(read_view(SessionView, body["session"]))
            case "request":
                self._apply_request(body["request"], at)
            case "event":
                self._last = body["event"]["seq_no"]
                self.events.append(body["event"])
            case "notice":
                self.notices.append(str(body.get("message", "")))
            case _:
                pass

    def _apply_session(self, session: SessionView) -> None:
        before = self.sessions.get(session.session_id, session)
        if (session.ended_at, before.ended_at) != (None, None):
            self._past = None
        self.sessions[session.session_id] = session

    def _apply_snapshot(self, body: Json, at: float) -> None:
        """Apply the current state. Live sessions it does not name have ended, requests it does not name are over."""
        self.has_snapshot = True
        live = {one.session_id: one for one in read_views(SessionView, body.get("sessions", ()))}
        kept = {key: s for key, s in self.sessions.items() if s.ended_at is not None and key not in live}
        self.sessions, self._past = live | kept, None
        waiting = {request["request_id"]: request for request in body.get("requests", ())}
        for request in waiting.values():
            self._apply_request(request, at)
        for item in self.items.values():
            if item.request_id not in waiting and item.is_pending:
                item.view = {**item.view, "status": "withdrawn"}
                item.over_at = at

    def _apply_request(self, view: Json, at: float) -> None:
        item = self.items.get(view["request_id"])
        if view["status"] == "pending":
            if item is None or item.view["digest"] != view["digest"]:
                self.items[view["request_id"]] = RequestItem(view)
                self._desk = None
            else:
                item.view, item.over_at = view, None
            return
        self._record_decision(view)
        if item is not None:
            if item.is_pending:
                item.over_at = at
            item.view = view
            item.sending = ""

    def update_request(self, view: Json, at: float) -> None:
        """Apply the state of a request that was fetched, not pushed."""
        self._apply_request(view, at)

    def renew(self, item: RequestItem) -> None:
        """Update an item that has left the desk, if the same request was asked again."""
        again = self.items.get(item.request_id)
        if again is not None and again.view["digest"] == item.view["digest"]:
            item.view = again.view

    def _record_decision(self, view: Json) -> None:
        """Keep decisions of people and rules, newest last; a later view of a request replaces the earlier one."""
        made = view.get("decision") or {}
        for place, known in enumerate(self.decided):
            if known["request_id"] == view["request_id"]:
                if delivery(view) == "overridden at the terminal" != delivery(known):
                    self.notices.append(f"overridden at the terminal: {outcome(known)}")
                self.decided[place] = view
                return
        if made.get("source") in ("user", "rule"):
            self.decided.append(view)

    def add_sessions(self, sessions: Sequence[Json]) -> None:
        """Add the sessions of a list, ended ones too. A live session that is already known is newer, so it stays."""
        for session in read_views(SessionView, sessions):
            known = self.sessions.get(session.session_id)
            if known is None or known.ended_at is not None:
                self.sessions[session.session_id] = session
        self._names = self._past = None

    def set_stats(self, stats: Json, at: float) -> None:
        """Keep the daemon's stats."""
        self.stats, self.last_message_at = stats, at

    def set_refused(self, reason: str) -> None:
        """Note that the daemon rejects this client, so that retrying is useless."""
        self.link, self.reason = "refused", reason

    def remove_expired(self, at: float) -> bool:
        """Remove requests that were resolved a while ago. True if there were any."""
        expired = [k for k, a in self.items.items() if a.over_at is not None and at - a.over_at >= LINGER_SECONDS]
        for key in expired:
            self.remove_request(key)
        return bool(expired)

    def remove_request(self, request_id: str) -> None:
        """Remove a request at once: one that was decided here need not linger."""
        if self.items.pop(request_id, None):
            self._desk = None

    def take_events(self, count: int) -> list[Json]:
        """Take the next events for the feed."""
        taken, self.events = self.events[:count], self.events[count:]
        return taken

    def take_notices(self) -> list[str]:
        taken, self.notices = self.notices, []
        return taken

    @property
    def desk(self) -> list[RequestItem]:
        """The requests on the desk, oldest first. A resolved one keeps its place while it lingers."""
        if self._desk is None:
            self._desk = sorted(self.items.values(), key=lambda item: (item.view["opened_at"], item.request_id))
        return self._desk

    @property
    def pending(self) -> list[RequestItem]:
        return [item for item in self.desk if item.is_pending]

    @property
    def waiting_elsewhere(self) -> list[SessionView]:
        """Sessions that wait at their own terminal with no request held here, longest wait first."""
        waiting = [session for session in self.sessions.values() if waits_elsewhere(session)]
        waiting.sort(key=lambda s: (s.state_at or s.last_event_at, s.session_id))
        return [self.with_terminal_command(session) for session in waiting]

    def with_terminal_command(self, session: SessionView) -> SessionView:
        """The session with the command that shows its terminal, where that was found."""
        command = self.terminal_commands.get(session.session_id)
        return replace(session, where=command) if command else session

    def take_unlocated(self) -> list[str]:
        """The observed sessions whose terminal is still to be found, each named once per wait."""
        observed = [s.session_id for s in self.waiting_elsewhere if s.owned is None]
        unlocated = [one for one in observed if one not in self.terminal_commands]
        self.terminal_commands = {one: self.terminal_commands.get(one, "") for one in observed}
        return unlocated

    @property
    def names(self) -> dict[str, SessionName]:
        """The names of all sessions, by id."""
        if self._names is None:
            self._names = session_names(self.sessions.values())
        return self._names

    def name_of(self, session_id: str) -> SessionName:
        """The name of a session; for an unknown one, the start of its id."""
        return self.names.get(session_id) or SessionName(session_id[:8])

    def session_of(self, view: Mapping[str, Any]) -> SessionView | None:
        return self.sessions.get(view["session_id"])

    def shown_sessions(self, ended: bool = False, kept: Collection[str | None] = ()) -> list[SessionView]:
        """The sessions to list, in order. Ended ones are listed with `ended`, or when their id is in `kept`."""
        chosen = [s for s in self.sessions.values() if ended or s.ended_at is None or s.session_id in kept]
        return in_order(chosen)

    def is_stale(self, at: float) -> bool:
        """True when what is shown may be old."""
        return self.link != "live" or at - self.last_message_at > STALE_SECONDS

    def connection_problem(self, at: float) -> str:
        """The problem with the connection, in words; empty when there is none."""
        if self.link == "refused":
            return f"The daemon refuses this connection: {self.reason}"
        if self.link == "lost":
            return f"The daemon is not responding: what you see is old. {self.way_to_start}"
        if self.link == "connecting":
            return "Connecting to the daemon …"
        if self.is_stale(at):
            return f"The daemon has been silent for {at - self.last_message_at:.0f} s; what you see may be old"
        daemon = self.daemon_version
        if self.version and daemon and (fix := version_fix(daemon, self.version, RESTART_UI)):
            return f"The daemon is {daemon}, this is {self.version}: {fix}"
        return ""

    def disabled_reason(self, item: RequestItem, at: float) -> str:
        """The reason why this request cannot be decided now by anyone, in words; empty when it can."""
        if self.is_stale(at):
            return "what you see may be old: not connected to the daemon"
        if not item.is_pending:
            return outcome(item.view)
        if item.sending:
            return f"{item.sending} is on its way"
        session = self.session_of(item.view)
        if session is None or session.agent_state == "unknown":
            return "the state of this session is unknown: decide at its terminal"
        return ""

    def blocked_reason(
        self,
        item: RequestItem | None,
        at: float,
        shown_at: float | None,
        focused: bool,
        *,
        verb: str = "",
        expanded: bool = False,
    ) -> str:
        """The reason why this decision may not be made on this card now, in words; empty when it may.

        A decision needs a card that has the focus, has been on screen for a moment and, if it lets something run,
        hides nothing: a key pressed for another card must not decide this one."""
        if item is None:
            return "nothing waits"
        if why := self.disabled_reason(item, at):
            return why
        if not focused:
            return "the card does not have the focus"
        if shown_at is None or at - shown_at < SETTLE_SECONDS:
            return "the card has only just appeared"
        if verb in REFUSING or not item.hides:
            return ""
        if expanded:
            return "not all of it has been on screen: go down to its end first"
        return f"not all of it shows ({', '.join(item.hides)}): press x to see everything first"

    @property
    def metrics(self) -> Metrics:
        """The numbers in the header."""
        live = [s for s in self.sessions.values() if s.ended_at is None]
        if self._past is None:  # kept: there may be thousands of ended sessions, and this runs at every redraw
            self._past = total_usage(s for s in self.sessions.values() if s.ended_at is not None)
        usage = self._past.plus(total_usage(live))
        return Metrics(
            sessions=len(live),
            running=sum(s.agent_state == "running" for s in live),
            failed=sum(has_failed(s) for s in live),
            waiting=len(self.pending),
            waiting_elsewhere=len(self.waiting_elsewhere),
            overhead_seconds=_overhead(self.stats),
            link=link_label(self.stats["hub"]) if self.stats and self.stats.get("hub") else None,
            **asdict(usage),
        )


def _overhead(stats: Json | None) -> float | None:
    """The mean cost of a hook call, in seconds."""
    rows = stats["hook_overhead"] if stats else []
    calls = sum(row["calls"] for row in rows)
    return sum(row["seconds"] for row in rows) / calls if calls else None
