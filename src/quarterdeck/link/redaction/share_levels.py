"""How much of an event or a view leaves the machine, by the level of its project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quarterdeck.core.model.events import OWN
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.link.messages import GAP, LEVELS

EVERYTHING, NO_OUTPUT, TITLES, NOTHING = LEVELS
WITHHELD = "link.withheld"
"""The kind of the event that stands for one that stays on the machine."""

OUTPUT_FIELDS = frozenset({"tool_response", "error", "output", "stdout", "stderr", "content", "result", "diff"})
"""What a tool gave back."""

TITLE_FIELDS = frozenset(
    {"request_id", "digest", "hook_name", "held", "enforced", "holder", "reconnects", "expires_at", "agent_id"}
    | {"agent_type", "tool_name", "tool_kind", "tool_use_id", "form", "decision_type", "source", "by", "rule_ids"}
    | {"status", "late", "delivery", "overrides", "still_asks", "risk", "level", "duration_ms", "is_interrupt", "model"}
    | {"permission_mode", "mode", "stop_hook_active", "scope", "background", "reason", "trigger", "outcome", "note"}
    | {"message_id", "todo_id", "rule_id", "effect", "agent", "launched_at", "pid", "usage", "counters", "cost_usd"}
)
"""The fields of an event's data that name, count or decide, and hold nothing that an agent wrote or read."""

VIEW_CONTENT = frozenset(
    {
        "tool_input",
        "updated_input",
        "answers",
        "notes",
        "suggestions",
        "suggested",
        "diff",
        "breakdown",
        "todos",
        "resume",
    }
    | {"last_error", "where", "hides", "file", "current", "patterns", "reasons", "body", "data", "message"}
)
"""The fields of a session or a request as the API shows it that hold more than its title."""

EMPTY: Mapping[type, Any] = {str: "", list: [], dict: {}}


def strictest(levels: Iterable[str]) -> str:
    """The level that lets the least leave; an unknown level lets nothing leave."""
    return max(levels, key=lambda level: LEVELS.index(level) if level in LEVELS else len(LEVELS), default=EVERYTHING)


class ShareLevels:
    """The level of each folder: that of the nearest folder above it that has one, and never more than `most`."""

    def __init__(self, default: str, folders: Mapping[str, str], most: str = EVERYTHING) -> None:
        self._default, self._most = default, most if most in LEVELS else NOTHING
        self._folders = sorted(folders.items(), key=lambda item: -len(item[0]))

    @property
    def shares_all(self) -> bool:
        """True when nothing is withheld anywhere."""
        return self.strictest() == EVERYTHING

    def strictest(self) -> str:
        """The level of whatever is least shared."""
        return strictest([self._default, self._most, *(level for _, level in self._folders)])

    def of(self, folder: str) -> str:
        """The level of a folder. One that is not known may be any, so it has the strictest."""
        if not folder:
            return strictest([self._default, self._most]) if not self._folders else self.strictest()
        nearest = next((level for path, level in self._folders if is_within(folder, path)), self._default)
        return strictest([nearest, self._most])

    def own(self) -> str:
        """The level of what is about no project."""
        return strictest([self._default, self._most])


def shared_event(event: dict[str, Any], level: str, title: str = "") -> dict[str, Any]:
    """An event as it may leave. At `titles` its `title` goes along, since it cannot be made from what is left."""
    if level == EVERYTHING:
        return event
    data = event.get("data")
    if level == NO_OUTPUT and isinstance(data, dict):
        return {**event, "data": {key: value for key, value in data.items() if key not in OUTPUT_FIELDS}}
    if level == TITLES and isinstance(data, dict):
        kept = {key: value for key, value in data.items() if key in TITLE_FIELDS}
        empty: dict[str, Any] = {"tool_input": {}} if "tool_input" in data else {}
        cause = {k: v for k, v in (event.get("cause") or {}).items() if k != "transcript_path"}
        rest = {key: value for key, value in event.items() if key not in ("context", "data", "cause")}
        return {**rest, **({"cause": cause} if cause else {}), "data": {**kept, **empty}, "title": title}
    return placeholder(WITHHELD, event["seq_no"], event["runner_id"], event["at"], {"level": NOTHING})


def placeholder(kind: str, seq_no: int, runner_id: str, at: float, data: dict[str, Any]) -> dict[str, Any]:
    """An event of the link itself, in the place of another."""
    return {
        "seq_no": seq_no,
        "event_id": f"{OWN}:R0:L{seq_no}",
        "seq": 0,
        "run_id": f"{OWN}:R0",
        "session_id": OWN,
        "runner_id": runner_id,
        "at": at,
        "kind": kind,
        "level": "info",
        "actor_id": "system",
        "data": data,
    }


def gap_event(first: int, last: int, runner_id: str, at: float) -> dict[str, Any]:
    """The event that stands for those that the runner no longer has."""
    return placeholder(GAP, last, runner_id, at, {"first": first, "last": last, "events": last - first + 1})


def shared_view(view: Any, level: str) -> Any:
    """A session, a request or an answer as it may leave; None when nothing of it may."""
    if level in (EVERYTHING, NO_OUTPUT):
        return view
    return _without_content(view) if level == TITLES else None


def _without_content(view: Any) -> Any:
    if isinstance(view, dict):
        return {
            key: EMPTY.get(type(value)) if key in VIEW_CONTENT else _without_content(value)
            for key, value in view.items()
        }
    return [_without_content(one) for one in view] if isinstance(view, list) else view
