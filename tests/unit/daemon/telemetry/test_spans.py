"""Feed events become spans: stories of runs, and properties of every story."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.daemon.telemetry.spans import MAX_RUNS, Span, SpanBuilder, span_id_of, trace_id_of
from tests.support.other_agent import FERRET
from tests.support.scene import Scene, bash


def spans_of(scene: Scene, **options: Any) -> list[Span]:
    spans = SpanBuilder(**options)
    return [span for event in scene.events for span in spans.take(event)]


def named(found: list[Span], name: str) -> Span:
    [span] = [span for span in found if span.name == name]
    return span


def a_run() -> Scene:
    scene = Scene(hold="always")
    scene.receives("SessionStart", source="startup", model="opus")
    scene.receives("UserPromptSubmit", prompt="remove the secret file")
    scene.receives("PreToolUse", **bash("rm secret.txt", "t1"))
    scene.receives("PermissionRequest", id="r1", **bash("rm secret.txt", "t1"))
    scene.decides("r1", Allow())
    scene.receives("PostToolUse", **bash("rm secret.txt", "t1"), tool_response={"stdout": "gone"}, duration_ms=1500)
    return scene.receives("Stop")


def test_a_run_with_a_tool_call_and_its_permission_is_one_trace() -> None:
    scene = a_run()
    found = spans_of(scene)
    run, tool = named(found, "invoke_agent claude-code"), named(found, "execute_tool Bash")
    request = named(found, "permission Bash")
    assert {s.trace_id for s in found} == {trace_id_of("s1:R1")}
    assert (run.parent_id, tool.parent_id, request.parent_id) == (None, run.span_id, tool.span_id)
    assert (run.span_id, run.error) == (span_id_of("s1:R1"), None)
    assert (request.ended_at - request.started_at, tool.ended_at - tool.started_at) == (1.0, 3.0)
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "claude-code",
        "gen_ai.conversation.id": "s1",
        "gen_ai.request.model": "opus",
        "quarterdeck.run.id": "s1:R1",
        "quarterdeck.run.trigger": "user_prompt_submit",
        "quarterdeck.run.status": "completed",
        "quarterdeck.project.path": "/w/app",
        "quarterdeck.run.tool_uses": 1,
        "quarterdeck.run.tool_failures": 0,
        "quarterdeck.run.permission_requests": 1,
        "quarterdeck.run.blocks": 0,
    }
    assert request.attributes["quarterdeck.decision"] == "allow"
    assert request.attributes["quarterdeck.decision.source"] == "user"
    assert request.attributes["quarterdeck.decision.by"] == "ann"
    assert tool.attributes["gen_ai.tool.call.id"] == "t1"
    assert tool.attributes["quarterdeck.tool.duration_ms"] == 1500


def test_content_is_not_sent_unless_it_is_configured() -> None:
    quiet, open_ = spans_of(a_run()), spans_of(a_run(), include_content=True)
    assert "secret" not in repr(quiet)
    assert "gone" not in repr(quiet)
    tool = named(open_, "execute_tool Bash")
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"command":"rm secret.txt"}'
    assert tool.attributes["gen_ai.tool.call.result"] == '{"stdout":"gone"}'
    assert named(open_, "invoke_agent claude-code").attributes["quarterdeck.run.prompt"] == "remove the secret file"


def test_a_failure_differs_from_a_refusal() -> None:
    scene = Scene(hold="always")
    scene.receives("UserPromptSubmit", prompt="go")
    scene.receives("PreToolUse", **bash("false", "t1"))
    scene.receives("PostToolUseFailure", **bash("false", "t1"), error="exit 1")
    scene.receives("PreToolUse", **bash("rm -rf /", "t2"))
    scene.receives("PermissionRequest", id="r2", **bash("rm -rf /", "t2"))
    scene.decides("r2", Deny("no"))
    scene.receives("StopFailure", error="rate_limit")
    failed, denied, unfinished, run = spans_of(scene)
    assert (failed.error, failed.attributes["error.type"]) == ("tool_error", "tool_error")
    assert (denied.error, denied.attributes["quarterdeck.decision"]) == (None, "deny")
    assert (unfinished.name, unfinished.attributes["quarterdeck.unfinished"]) == ("execute_tool Bash", True)
    assert (run.error, run.attributes["quarterdeck.run.status"]) == ("failed", "failed")


def test_the_calls_of_a_sub_agent_are_its_children() -> None:
    scene = Scene()
    scene.receives("UserPromptSubmit", prompt="go")
    scene.receives("SubagentStart", agent_id="a1", agent_type="explorer")
    scene.receives("PreToolUse", **bash("ls", "t1", agent="a1"))
    scene.receives("PostToolUse", **bash("ls", "t1", agent="a1"))
    scene.receives("SubagentStop", agent_id="a1", agent_type="explorer")
    scene.receives("Stop")
    found = spans_of(scene)
    agent = named(found, "invoke_agent explorer")
    assert named(found, "execute_tool Bash").parent_id == agent.span_id
    assert agent.parent_id == named(found, "invoke_agent claude-code").span_id


def test_a_run_that_was_open_at_the_start_goes_on() -> None:
    scene = Scene()
    scene.receives("UserPromptSubmit", prompt="go").receives("PreToolUse", **bash("ls", "t1"))
    spans = SpanBuilder()
    spans.resume(scene.state)
    before = len(scene.events)
    scene.receives("PostToolUse", **bash("ls", "t1"), duration_ms=500).receives("Stop")
    tool, run = [span for event in scene.events[before:] for span in spans.take(event)]
    assert tool.ended_at - tool.started_at == 0.5
    assert (run.started_at, run.span_id, tool.parent_id) == (1001.0, span_id_of("s1:R1"), run.span_id)


TOOL_HOOKS = ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"]
REST = ["SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "StopFailure", "SessionEnd"]
HOOKS = st.sampled_from([*TOOL_HOOKS, *REST])


@given(st.lists(st.tuples(HOOKS, st.sampled_from("ab"), st.sampled_from(["t1", "t2"]), st.booleans()), max_size=40))
def test_spans_are_complete_in_every_story(steps: list[tuple[str, str, str, bool]]) -> None:
    scene = Scene(hold="always")
    for hook, session, use, by_helper in steps:
        agent = "a1" if by_helper else None
        scene.receives(hook, session=session, prompt="x", agent_id=agent, agent_type="x", **bash("ls", use))
    found = spans_of(scene)
    assert len({span.span_id for span in found}) == len(found)
    known = {span.span_id for span in found} | {span_id_of(e.run_id) for e in scene.events}
    known |= {span_id_of(e.event_id) for e in scene.events}
    for span in found:
        assert span.started_at <= span.ended_at
        assert 0 < span.trace_id < 2**128
        assert 0 < span.span_id < 2**64
        assert span.parent_id is None or span.parent_id in known
    ended = sum(e.kind == "run.end" for e in scene.events)
    assert sum(span.parent_id is None for span in found) == ended


def test_the_open_spans_are_bounded() -> None:
    scene, spans = Scene(), SpanBuilder()
    for n in range(MAX_RUNS + 10):
        scene.receives("UserPromptSubmit", session=f"s{n}", prompt="x")
    for event in scene.events:
        spans.take(event)
    assert (len(spans._runs), len(spans._facts)) == (MAX_RUNS, MAX_RUNS)


def test_a_run_is_named_after_its_agent_and_the_provider_of_its_models() -> None:
    [start, *_] = [event for event in a_run().events if event.kind == "run.start"]
    began = replace(start, context=Context(agent="ferret"))
    for agents, name, provider in ({"ferret": FERRET}, "ferret-cli", "burrow"), ({}, "ferret", "ferret"):
        spans = SpanBuilder(agents=agents)
        spans.take(began)
        run = named(spans.take(a_run().events[-1]), f"invoke_agent {name}")
        assert run.attributes["gen_ai.provider.name"] == provider
