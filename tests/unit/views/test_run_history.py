"""The runs of a session as its events tell them."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.decisions import Allow
from quarterdeck.views.run_history import RUN_KINDS, RunRecord, actor_record, run_records
from tests.support.scene import Scene, bash

TODO: dict[str, Any] = {
    "tool_name": "TodoWrite",
    "tool_input": {"todos": [{"content": "tests", "status": "pending", "priority": "high"}]},
}


def runs(scene: Scene) -> list[RunRecord]:
    events = [e for e in scene.events if e.kind in RUN_KINDS and e.session_id == scene.session_id]
    return run_records(events, scene.session)


def prompted() -> Scene:
    return Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="fix the login")


def test_a_run_is_running_then_blocked_then_completed() -> None:
    scene = prompted()
    [run] = runs(scene)
    assert (run.status, run.trigger, run.prompt) == ("running", "user_prompt_submit", "fix the login")
    scene.receives("PermissionRequest", id="r1", **bash("make", "t1"))
    assert [r.status for r in runs(scene)] == ["blocked"]
    scene.decides("r1", Allow()).receives("Stop")
    [run] = runs(scene)
    assert (run.status, run.ended_at, run.number) == ("completed", scene.clock, 1)
    assert run.counters.permission_requests == 1


def test_a_run_that_fails_or_is_left_says_so() -> None:
    scene = prompted().receives("StopFailure", error="overloaded")
    scene.receives("UserPromptSubmit", prompt="again").receives("SessionEnd", reason="other")
    assert [r.status for r in runs(scene)] == ["failed", "aborted"]


def test_a_run_has_its_agents_and_its_to_dos_with_priority() -> None:
    scene = prompted().receives("SubagentStart", agent_id="a1", agent_type="Explore")
    scene.receives("PostToolUse", **TODO, tool_response={})
    [run] = runs(scene)
    assert run.actors == ("agent:root", "subagent:a1")
    assert [(t.text, t.status, t.priority) for t in run.todos] == [("tests", "open", "p0")]
    assert scene.session.todos["tests"].priority == "p0"


def test_an_actor_says_what_it_is_and_whether_it_runs() -> None:
    scene = prompted().receives("SubagentStart", agent_id="a1", agent_type="Explore")
    running = actor_record("subagent:a1", scene.session, {"tool.pre": 2, "question.request": 1}, 1.0, 2.0)
    assert (running.kind, running.agent_type, running.parent_actor_id) == ("subagent", "Explore", "agent:root")
    assert (running.status, running.events, running.tool_uses, running.requests) == ("running", 3, 2, 1)
    assert actor_record("subagent:a1", scene.session, {"subagent.stop": 1}, 1.0, 2.0).status == "ended"
    assert actor_record("user", scene.session, {}, 1.0, 2.0).status is None
