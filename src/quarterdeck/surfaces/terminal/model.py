"""What the terminal face knows: sessions, what waits, the connection. Pure: it is told what was heard, and when."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.titles import cut
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.terminal.request_card import concealed
from quarterdeck.surfaces.terminal.session_names import Name, names_of
from quarterdeck.surfaces.terminal.usage_totals import Spent, spent_by
from quarterdeck.surfaces.text.labels import delivery, outcome

Json = dict[str, Any]

LINGER_SECONDS = 2.0
"""How long a request that was resolved elsewhere stays, greyed, with a word who did."""
SETTLE_SECONDS = 0.3
"""How long a card must have been on screen before a decision key acts."""
STALE_SECONDS = 15.0
"""How long nothing may be heard of the daemon before what is shown counts as old."""
DECIDED_KEPT = 50
REFUSING = frozenset(("deny", "interrupt", "pass"))
"""Decisions by which nothing is let through: nobody need have seen all of it."""


class Asked:
    """A request on the desk."""

    def __init__(self, view: Json) -> None:
        self.view = view
        self.whole: Json | None = None
        self.looked_into = False
        self.looked_after = False
        self.why = ""
        self.patterns: list[str] = []
        self.trust: str | None = None
        self.seen = False
        self.overflow = ""
        self.sending = ""
        self.drafts: dict[str, str] = {}
        """What was typed about it, by what for: it is there again when it could not be sent."""
        self.over_at: float | None = None
        self._concealed: tuple[bool, list[str]] | None = None

    @property
    def request_id(self) -> str:
        return str(self.view["request_id"])

    @property
    def shown(self) -> Json:
        """The view with everything that is known; what changes comes from the latest word."""
        if self.whole is None:
            return self.view
        return {**self.whole, **{key: self.view[key] for key in ("status", "decision")}}

    @property
    def is_pending(self) -> bool:
        return bool(self.view["status"] == "pending")

    @property
    def is_unexplained(self) -> bool:
        """Whether it is over and nobody said how."""
        return not self.is_pending and self.view["decision"] is None

    def take_whole(self, whole: Json) -> bool:
        """All of it, with what the rules say; whether it is what was shown before."""
        if whole["digest"] != self.view["digest"]:
            return False
        self.whole = whole
        rule = whole["rule"]
        if rule is not None and whole["kind"] == "permission":
            self.patterns = list(rule["patterns"])
            self.trust = rule.get("trust")
            self.why = _what_rules_say(rule)
        return True

    @property
    def hides(self) -> list[str]:
        """What must be expanded before a decision; nothing once it was."""
        if self.seen:
            return []
        is_whole = self.whole is not None
        if self._concealed is None or self._concealed[0] != is_whole:
            self._concealed = is_whole, concealed(self.shown)
        return [*self._concealed[1], *([self.overflow] if self.overflow else [])]


class Metrics(Struct, frozen=True, kw_only=True):
    """The figures of the header. A cost is None where no price is known."""

    sessions: int = 0
    running: int = 0
    waiting: int = 0
    standing: int = 0
    tools: int = 0
    failures: int = 0
    tokens: int = 0
    cost: float | None = None
    overhead_seconds: float | None = None


class Model:
    """The state of one surface."""

    def __init__(self, version: str = "") -> None:
        self.version = version
        self.daemon_version = ""
        self.runner_id = ""
        self.link = "connecting"
        self.reason = ""
        self.heard_at = 0.0
        self.is_told = False
        self.sessions: dict[str, Json] = {}
        self.asked: dict[str, Asked] = {}
        self._desk: list[Asked] | None = None
        self.decided: deque[Json] = deque(maxlen=DECIDED_KEPT)
        self.events: list[Json] = []
        self.begins: int | None = None
        """After which event the events began to be heard without a gap."""
        self.logs = 1
        """How many logs were followed; a daemon may come back with another."""
        self._last = 0
        self.stats: Json | None = None
        self.news: list[str] = []
        self.places: dict[str, str] = {}
        """Of sessions that wait at a terminal of their own, the command that shows it; empty where none is known."""
        self._names: dict[str, Name] | None = None
        self._past: Spent | None = None

    def hear(self, said: Connected | Lost | Message, at: float) -> None:
        """Take in one thing the daemon, or the way to it, said."""
        match said:
            case Connected():
                self.link, self.reason, self.heard_at = "live", "", at
                if self.runner_id and (said.runner_id != self.runner_id or said.seq_no < self._last):
                    self._begin_anew()
                self._last = said.seq_no
                self.daemon_version, self.runner_id = said.daemon_version, said.runner_id
                if self.begins is None or not said.resumed:
                    self.begins = said.seq_no
                if not said.resumed:
                    self.news.append("some events are no longer kept: the feed has a gap")
            case Lost(reason=reason):
                self.link, self.reason = "lost", reason
            case Message(kind=kind, body=body):
                self.heard_at = at
                self._message(kind, body, at)

    def _begin_anew(self) -> None:
        """It is another log: nothing of what was heard is in it."""
        self.logs += 1
        self.begins, self._names, self._desk = None, None, None
        for heard in (self.sessions, self.asked, self.decided, self.events, self.places):
            heard.clear()
        self.news.append("the daemon has another log: what was shown before is not in it")

    def _message(self, kind: str, body: Json, at: float) -> None:
        if kind in ("snapshot", "session"):
            self._names = None
        match kind:
            case "snapshot":
                self._snapshot(body, at)
            case "session":
                self._session(body["session"])
            case "request":
                self._request(body["request"], at)
            case "event":
                self._last = body["event"]["seq_no"]
                self.events.append(body["event"])
            case "notice":
                self.news.append(str(body.get("message", "")))
            case _:
                pass

    def _session(self, session: Json) -> None:
        before = self.sessions.get(session["session_id"], session)
        if (session["ended_at"], before["ended_at"]) != (None, None):
            self._past = None
        self.sessions[session["session_id"]] = session

    def _snapshot(self, body: Json, at: float) -> None:
        """How things stand. Live sessions it does not name have ended, requests it does not name are over."""
        self.is_told = True
        live = {session["session_id"]: session for session in body.get("sessions", ())}
        kept = {key: s for key, s in self.sessions.items() if s["ended_at"] is not None and key not in live}
        self.sessions, self._past = live | kept, None
        waiting = {request["request_id"]: request for request in body.get("requests", ())}
        for request in waiting.values():
            self._request(request, at)
        for asked in self.asked.values():
            if asked.request_id not in waiting and asked.is_pending:
                asked.view = {**asked.view, "status": "withdrawn"}
                asked.over_at = at

    def _request(self, view: Json, at: float) -> None:
        asked = self.asked.get(view["request_id"])
        if view["status"] == "pending":
            if asked is None or asked.view["digest"] != view["digest"]:
                self.asked[view["request_id"]] = Asked(view)
                self._desk = None
            else:
                asked.view, asked.over_at = view, None
            return
        self._note_decided(view)
        if asked is not None:
            if asked.is_pending:
                asked.over_at = at
            asked.view = view
            asked.sending = ""

    def learned(self, view: Json, at: float) -> None:
        """How a request stands that was asked after."""
        self._request(view, at)

    def _note_decided(self, view: Json) -> None:
        """Decisions of people, newest last; a later word about one takes the place of the earlier."""
        made = view.get("decision") or {}
        for place, known in enumerate(self.decided):
            if known["request_id"] == view["request_id"]:
                if delivery(view) == "overridden at the terminal" != delivery(known):
                    self.news.append(f"overridden at the terminal: {outcome(known)}")
                self.decided[place] = view
                return
        if made.get("source") in ("user", "rule"):
            self.decided.append(view)

    def listed(self, sessions: Iterable[Json]) -> None:
        """Sessions of a list, ended ones too; what is followed live is newer."""
        for session in sessions:
            known = self.sessions.get(session["session_id"])
            if known is None or known["ended_at"] is not None:
                self.sessions[session["session_id"]] = session
        self._names = self._past = None

    def measured(self, stats: Json, at: float) -> None:
        """The daemon's figures."""
        self.stats, self.heard_at = stats, at

    def refused(self, reason: str) -> None:
        """The daemon will not have us, however often we ask."""
        self.link, self.reason = "refused", reason

    def forget_over(self, at: float) -> bool:
        """Let go of what was resolved a while ago; whether anything left."""
        gone = [k for k, a in self.asked.items() if a.over_at is not None and at - a.over_at >= LINGER_SECONDS]
        for key in gone:
            self.let_go(key)
        return bool(gone)

    def let_go(self, request_id: str) -> None:
        """A request we decided ourselves needs no lingering."""
        if self.asked.pop(request_id, None):
            self._desk = None

    def take_events(self, count: int) -> list[Json]:
        """The next events for the feed."""
        taken, self.events = self.events[:count], self.events[count:]
        return taken

    def take_news(self) -> list[str]:
        taken, self.news = self.news, []
        return taken

    @property
    def desk(self) -> list[Asked]:
        """What is on the desk, oldest first; what is over stays in its place while it lingers."""
        if self._desk is None:
            self._desk = sorted(self.asked.values(), key=lambda asked: (asked.view["opened_at"], asked.request_id))
        return self._desk

    @property
    def pending(self) -> list[Asked]:
        return [asked for asked in self.desk if asked.is_pending]

    @property
    def standing(self) -> list[Json]:
        """Sessions that wait at a terminal of their own, since no request of theirs is held here; the longest first."""
        waiting = [s for s in self.sessions.values() if s["ended_at"] is None and _rank(s) == 0 and not s["pending"]]
        waiting.sort(key=lambda s: (s["state_at"] or s["last_event_at"], s["session_id"]))
        return [self.placed(session) for session in waiting]

    def placed(self, session: Json) -> Json:
        """A session with the way to its terminal, where that was found."""
        place = self.places.get(session["session_id"])
        return {**session, "where": place} if place else session

    def take_unplaced(self) -> list[str]:
        """The sessions whose terminal is to be looked for, each once for as long as it waits there."""
        strangers = [s["session_id"] for s in self.standing if s.get("owned") is None]
        unplaced = [one for one in strangers if one not in self.places]
        self.places = {one: self.places.get(one, "") for one in strangers}
        return unplaced

    @property
    def names(self) -> dict[str, Name]:
        """What each session is called."""
        if self._names is None:
            self._names = names_of(self.sessions.values())
        return self._names

    def name_of(self, session_id: str) -> Name:
        """What a session is called; one that nobody knows, by the start of its id."""
        return self.names.get(session_id) or Name(session_id[:8])

    def session_of(self, view: Mapping[str, Any]) -> Json | None:
        return self.sessions.get(view["session_id"])

    def shown_sessions(self, ended: bool = False, kept: Collection[str | None] = ()) -> list[Json]:
        """Who waits first, then the others in the order they began, which does not change; ended ones last, and only
        those that are kept unless all are wanted."""
        chosen = [s for s in self.sessions.values() if ended or s["ended_at"] is None or s["session_id"] in kept]
        return sorted(chosen, key=lambda s: (_rank(s), -s["started_at"], s["session_id"]))

    def is_stale(self, at: float) -> bool:
        """Whether what is shown may be old."""
        return self.link != "live" or at - self.heard_at > STALE_SECONDS

    def trouble(self, at: float) -> str:
        """What the person must know of the connection; empty when all is well."""
        if self.link == "refused":
            return f"The daemon refuses us: {self.reason}"
        if self.link == "lost":
            return f"The daemon is away: what is shown is old. qd up starts it. ({cut(self.reason, 60)})"
        if self.link == "connecting":
            return "Connecting to the daemon …"
        if self.is_stale(at):
            return f"Nothing heard of the daemon for {at - self.heard_at:.0f} s; what is shown may be old"
        if self.version and self.daemon_version and self.version != self.daemon_version:
            return f"The daemon is {self.daemon_version}, this is {self.version}: qd stop, then qd up"
        return ""

    def why_off(self, asked: Asked, at: float) -> str:
        """Why nobody may decide about a request now, however well it was seen, in words; empty when one may."""
        if self.is_stale(at):
            return "what is shown may be old: not connected to the daemon"
        if not asked.is_pending:
            return outcome(asked.view)
        if asked.sending:
            return f"{asked.sending} is on its way"
        session = self.session_of(asked.view)
        if session is None or session["agent_state"] == "unknown":
            return "the state of this session is unknown: decide at its terminal"
        return ""

    def why_not(
        self,
        asked: Asked | None,
        at: float,
        shown_at: float | None,
        focused: bool,
        *,
        verb: str = "",
        expanded: bool = False,
    ) -> str:
        """Why no decision, or not this one, may be made about a card now, in words; empty when it may."""
        if asked is None:
            return "nothing waits"
        if why := self.why_off(asked, at):
            return why
        if not focused:
            return "the card does not have the focus"
        if shown_at is None or at - shown_at < SETTLE_SECONDS:
            return "it has only just come on screen"
        if verb in REFUSING or not asked.hides:
            return ""
        if expanded:
            return "not all of it has been on screen: go down to its end first"
        return f"not all of it shows ({', '.join(asked.hides)}): press x to see everything first"

    @property
    def metrics(self) -> Metrics:
        """The figures of the header."""
        live = [s for s in self.sessions.values() if s["ended_at"] is None]
        if self._past is None:
            self._past = spent_by(s for s in self.sessions.values() if s["ended_at"] is not None)
        spent = self._past.plus(spent_by(live))
        return Metrics(
            sessions=len(live),
            running=sum(s["agent_state"] == "running" for s in live),
            waiting=len(self.pending),
            standing=len(self.standing),
            tools=spent.tools,
            failures=spent.failures,
            tokens=spent.tokens,
            cost=spent.cost,
            overhead_seconds=_overhead(self.stats),
        )


def _overhead(stats: Json | None) -> float | None:
    """Seconds a hook call costs on average."""
    found = stats["hook_overhead"] if stats else []
    calls = sum(one["calls"] for one in found)
    return sum(one["seconds"] for one in found) / calls if calls else None


def _what_rules_say(rule: Json) -> str:
    if rule["effect"] is not None:
        return f"The rules say {rule['effect']}: {', '.join(rule['rules'])}"
    words = " · ".join(rule["reasons"]) or "no rule is about this"
    return f"{words[:1].upper()}{words[1:]}."


def _rank(session: Json) -> int:
    if session["ended_at"] is not None:
        return 2
    return 0 if session["pending"] or session["agent_state"].startswith("waiting_") else 1
