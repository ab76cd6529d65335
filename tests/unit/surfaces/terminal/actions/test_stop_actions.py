"""Stopping several sessions: what was listed is what stops."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.terminal.actions.stop_actions import plan_stop, stop_sessions
from quarterdeck.surfaces.text.stop_labels import END

Json = dict[str, Any]


class Recorder:
    """A daemon with one session, which writes down what it is asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Json | None]] = []

    async def long_call(self, method: str, path: str, body: Json | None = None) -> Json:
        self.calls.append((path, body))
        return {"sessions": [{"session_id": "s1", "ok": True}]}


async def test_a_plan_changes_nothing_and_only_what_it_lists_is_stopped() -> None:
    daemon = Recorder()
    plan = await plan_stop(daemon)
    assert daemon.calls == [(f"/sessions/{route}", {"all": True, "dry_run": True}) for route in ("interrupt", "end")]
    assert await stop_sessions(daemon, plan["end"], END) == "Ended 1 of 1"
    assert daemon.calls[-1] == ("/sessions/end", {"session_ids": ["s1"]})
