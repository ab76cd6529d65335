"""A state being written: each table is copied once, on its first change."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.state import Request, Session, State


class Draft:
    """A copy-on-write state: most steps change one or two tables, and copying all of them would cost far more."""

    __slots__ = (
        "changed_requests",
        "changed_sessions",
        "changed_settings",
        "deck",
        "ended",
        "own_seq",
        "requests",
        "rule_hits",
        "rules",
        "seq_no",
        "sessions",
        "state",
        "tokens",
        "trust",
    )

    def __init__(self, state: State) -> None:
        self.state = state
        self.seq_no = state.seq_no
        self.sessions = state.sessions
        self.ended = state.ended
        self.requests = state.requests
        self.tokens = state.tokens
        self.rules = state.rules
        self.rule_hits = state.rule_hits
        self.trust = state.trust
        self.changed_settings = state.changed_settings
        self.own_seq = state.own_seq
        self.deck = state.deck
        self.changed_requests: dict[str, Request] = {}
        self.changed_sessions: dict[str, Session] = {}

    def session(self, session_id: str, at: float) -> Session:
        session = self.sessions.get(session_id)
        if session is None:
            session = self.ended.get(session_id)
        return Session(session_id=session_id, started_at=at, last_event_at=at) if session is None else session

    def put_session(self, session: Session) -> None:
        if session.ended_at is None:
            if self.sessions is self.state.sessions:  # as `_writable`, but in place: every event comes here
                self.sessions = self.sessions.copy()
            self.sessions[session.session_id] = session
            if session.session_id in self.ended:
                del self._writable("ended")[session.session_id]
        else:
            self._writable("ended")[session.session_id] = session
            self.changed_sessions[session.session_id] = session
            if session.session_id in self.sessions:
                del self._writable("sessions")[session.session_id]

    def put_request(self, request: Request) -> None:
        self._writable("requests")[request.request_id] = request
        self.changed_requests[request.request_id] = request

    def forget_requests(self, session_id: str) -> None:
        """Drop the session's resolved requests; the store keeps them."""
        over = [r.request_id for r in self.requests.values() if r.session_id == session_id and r.status != "pending"]
        for request_id in over:
            del self._writable("requests")[request_id]

    def _writable(self, name: str) -> dict[str, Any]:
        """A table of the draft that may be changed: a copy of the state's own, from its first change on."""
        table: dict[str, Any] = getattr(self, name)
        if table is getattr(self.state, name):
            table = table.copy()
            setattr(self, name, table)
        return table

    def finish(self) -> State:
        return State(
            runner_id=self.state.runner_id,
            settings=self.state.settings,
            seq_no=self.seq_no,
            sessions=self.sessions,
            ended=self.ended,
            requests=self.requests,
            tokens=self.tokens,
            rules=self.rules,
            rule_hits=self.rule_hits,
            trust=self.trust,
            changed_settings=self.changed_settings,
            own_seq=self.own_seq,
            deck=self.deck,
        )
