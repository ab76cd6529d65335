"""An agent that plays a script: a replay that waits for decisions where it must, and one that tests inject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.runtime_event import RuntimeEvent


class Line(Struct, frozen=True, kw_only=True):
    """One line of a script: after `delay` seconds the agent says `payload`.

    With `awaits` the script goes on only when that event has a decision. `unless_denied` names an event whose
    denial makes this line unsaid, as a tool that may not run reports no result.
    """

    payload: dict[str, Any]
    delay: float = 0.0
    id: str = ""
    awaits: str | None = None
    unless_denied: str | None = None


class Replay:
    """Plays a script on a clock that is handed in: ask `due(now)` for what the agent says by then."""

    def __init__(self, script: Sequence[Line], *, session_id: str, started_at: float = 0.0, cwd: str = "") -> None:
        self._lines = [fill_defaults(line, n, session_id, cwd) for n, line in enumerate(script)]
        self._next = 0
        self._ready_at = started_at
        self.decisions: dict[str, Decision | None] = {}

    @property
    def done(self) -> bool:
        return self._next >= len(self._lines)

    @property
    def waits_for(self) -> str | None:
        """The event whose decision the script waits for, if it does."""
        line = None if self.done else self._lines[self._next]
        return line.awaits if line is not None and line.awaits not in (None, *self.decisions) else None

    def next_at(self) -> float | None:
        """When the next line is due; None when the script is over or waits for a decision."""
        if self.done or self.waits_for:
            return None
        return self._ready_at + self._lines[self._next].delay

    def due(self, now: float) -> list[Line]:
        """The lines the agent says by now."""
        said = []
        while (at := self.next_at()) is not None and at <= now:
            line = self._lines[self._next]
            self._next += 1
            if line.unless_denied is None or not self._denied(line.unless_denied):
                said.append(line)
                self._ready_at = at
        return said

    def _denied(self, event_id: str) -> bool:
        decision = self.decisions.get(event_id)
        return decision is not None and decision.__struct_config__.tag in ("deny", "block")

    def decide(self, event_id: str, decision: Decision | None, now: float) -> None:
        """The agent is answered; None is an answer given at its own terminal."""
        if self.waits_for == event_id:
            self._ready_at = max(self._ready_at, now)
        self.decisions.setdefault(event_id, decision)


def fill_defaults(line: Line, number: int, session_id: str, cwd: str) -> Line:
    """The line with everything a payload always has."""
    base = {"session_id": session_id, "cwd": cwd, "transcript_path": "", "permission_mode": "default"}
    return Line(
        payload={**base, **line.payload},
        delay=line.delay,
        id=line.id or f"{session_id}-{number}",
        awaits=line.awaits,
        unless_denied=line.unless_denied,
    )


class Injected(Struct):
    """An agent for tests: what is emitted goes to every subscriber, what is decided is kept."""

    decisions: dict[str, Decision] = field(default_factory=dict)
    _subscribers: list[Callable[[RuntimeEvent], None]] = field(default_factory=list)

    def subscribe(self, subscriber: Callable[[RuntimeEvent], None]) -> Callable[[], None]:
        """Hear every event from now on; gives the way to stop."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def emit(self, payload: dict[str, Any], *, event_id: str, at: float) -> RuntimeEvent:
        """Say something."""
        event = read_hook(payload, event_id=event_id, at=at)
        for subscriber in list(self._subscribers):
            subscriber(event)
        return event

    def decide(self, event_id: str, decision: Decision) -> bool:
        """Be answered. Only the first answer counts."""
        first = event_id not in self.decisions
        self.decisions.setdefault(event_id, decision)
        return first
