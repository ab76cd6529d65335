"""An agent without a program: it replays a script and waits for decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.runtime_event import FIRST_AGENT, EventName


class ScriptLine(Struct, frozen=True, kw_only=True):
    """One line of a script: after `delay` seconds the agent sends `payload`.

    With `awaits` the script continues only when that event has a decision. `unless_denied` names an event: if it is
    denied, this line is skipped, as a tool that may not run reports no result.
    """

    payload: dict[str, Any]
    delay: float = 0.0
    id: str = ""
    awaits: str | None = None
    unless_denied: str | None = None


def waits(line: ScriptLine) -> bool:
    """True if the agent waits for a decision on this line."""
    event = AGENTS[FIRST_AGENT].read_event(line.payload, event_id=line.id, at=0.0)
    return event.event == EventName.PERMISSION_ASKED


class ScriptReplay:
    """Plays a script by the caller's clock: `due(now)` returns the lines that the agent sends by then."""

    def __init__(
        self, script: Sequence[ScriptLine], *, session_id: str, started_at: float = 0.0, cwd: str = ""
    ) -> None:
        self._lines = [fill_defaults(line, n, session_id, cwd) for n, line in enumerate(script)]
        self._next = 0
        self._ready_at = started_at
        self.decisions: dict[str, Decision | None] = {}

    @property
    def done(self) -> bool:
        return self._next >= len(self._lines)

    @property
    def waits_for(self) -> str | None:
        """The event whose decision the script waits for, if any."""
        line = None if self.done else self._lines[self._next]
        return line.awaits if line is not None and line.awaits not in (None, *self.decisions) else None

    def next_at(self) -> float | None:
        """The time of the next line; None when the script is over or waits for a decision."""
        if self.done or self.waits_for:
            return None
        return self._ready_at + self._lines[self._next].delay

    def due(self, now: float) -> list[ScriptLine]:
        """The lines that the agent sends by now."""
        lines = []
        while (at := self.next_at()) is not None and at <= now:
            line = self._lines[self._next]
            self._next += 1
            if line.unless_denied is None or not self._is_denied(line.unless_denied):
                lines.append(line)
                self._ready_at = at
        return lines

    def _is_denied(self, event_id: str) -> bool:
        decision = self.decisions.get(event_id)
        return decision is not None and decision.__struct_config__.tag in ("deny", "block")

    def decide(self, event_id: str, decision: Decision | None, now: float) -> None:
        """Answer the agent; None means that it was answered at its own terminal."""
        if self.waits_for == event_id:
            self._ready_at = max(self._ready_at, now)
        self.decisions.setdefault(event_id, decision)


def fill_defaults(line: ScriptLine, number: int, session_id: str, cwd: str) -> ScriptLine:
    """The line with everything a payload always has."""
    base = {"session_id": session_id, "cwd": cwd, "transcript_path": "", "permission_mode": "default"}
    return ScriptLine(
        payload={**base, **line.payload},
        delay=line.delay,
        id=line.id or f"{session_id}-{number}",
        awaits=line.awaits,
        unless_denied=line.unless_denied,
    )
