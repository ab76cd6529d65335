"""The gate before a tool call: rules are enforced and recorded, and silence never lets a held tool run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.hooks import write_answer
from quarterdeck.core.engine.messages import (
    DaemonRestarted,
    DaemonStopping,
    SendAnswer,
    Unattended,
    WaiterGone,
)
from quarterdeck.core.handlers.hooks.enforce_gate import TOO_LARGE_MESSAGE
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Ask, Deny, NoOpinion, Source
from quarterdeck.core.model.payload import TOO_LARGE
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.unattended_policy import UnattendedPolicy
from tests.support.scene import Scene, bash

DENIED = Deny("Denied by the rule Bash(rm:*) in Quarterdeck.")
ASK_BY_RULE = Ask("the rule Bash(rm:*) asks for a decision")


def with_rule(effect: str, pattern: str = "Bash(rm:*)", **settings: Any) -> Scene:
    return Scene(**settings).rules(effect, pattern, id="r1").receives("UserPromptSubmit", prompt="go")


def gated(effect: str, **settings: Any) -> Scene:
    """A call at the gate that matches a rule."""
    return with_rule(effect, **settings).receives_at_the_gate(id="g1", **bash("rm x", "t1"))


def held(**settings: Any) -> Scene:
    return gated("ask", **settings).holds("g1")


@pytest.mark.parametrize("first", [True, False])
def test_a_call_is_recorded_once_whichever_hook_comes_first(first: bool) -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.receives_at_the_gate(enforced=first, **bash("ls", "t1")).records("tool.pre").stays_silent()
    scene.receives_at_the_gate(enforced=not first, **bash("ls", "t1")).records().stays_silent()
    assert scene.session.run is not None
    assert scene.session.run.counters.tool_uses == 1
    scene.folds()


def test_calls_without_an_id_and_calls_with_another_input_are_recorded_each() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go").receives_at_the_gate(**bash("ls", "t1"))
    scene.receives_at_the_gate(**bash("ls -a", "t1")).records("tool.pre")
    scene.receives_at_the_gate(**bash("ls")).records("tool.pre")
    scene.receives_at_the_gate(**bash("ls")).records("tool.pre")


@pytest.mark.parametrize("enforced", [True, False])
def test_a_deny_rule_applies_at_the_gate_and_to_an_observed_call(enforced: bool) -> None:
    scene = with_rule("deny").receives_at_the_gate(id="g1", enforced=enforced, **bash("rm x", "t1"))
    scene.records("tool.pre", "permission.request", "permission.decision").answers_with("g1", DENIED)
    request = scene.request("g1")
    assert request.decision is not None
    assert (request.decision.source, request.decision.by, request.held) == (Source.RULE, "r1", False)
    assert (request.status, request.delivery, request.tool_use_id) == ("decided", "sent", "t1")
    scene.is_now(AgentState.BLOCKED)
    scene.receives("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}])
    assert scene.request("g1").delivery == "confirmed"
    scene.folds()


@pytest.mark.parametrize("scope", ["user", "once"])
@pytest.mark.parametrize("first", [True, False])
def test_a_denied_call_from_both_hooks_is_denied_twice_and_recorded_once(first: bool, scope: str) -> None:
    scene = Scene().rules("deny", "Bash(rm:*)", scope, id="r1").receives("UserPromptSubmit", prompt="go")
    scene.receives_at_the_gate(id="g1", enforced=first, **bash("rm x", "t1")).answers_with("g1", DENIED)
    scene.receives_at_the_gate(id="g2", enforced=not first, **bash("rm x", "t1")).records().answers_with("g2", DENIED)
    scene.folds()


def test_another_input_under_the_same_id_is_another_call() -> None:
    scene = (
        with_rule("allow", "Bash(ls:*)").receives_at_the_gate(id="g1", **bash("ls", "t1")).answers_with("g1", Allow())
    )
    scene.receives_at_the_gate(id="g2", **bash("touch y", "t1")).records("tool.pre").stays_silent()


@pytest.mark.law("D1")
def test_an_allow_rule_runs_the_call_at_the_gate_and_is_recorded() -> None:
    scene = gated("allow").answers_with("g1", Allow())
    decision = scene.request("g1").decision
    assert decision is not None
    assert (decision.decision_type, decision.source, decision.by) == ("allow", Source.RULE, "r1")
    scene.receives("PostToolUse", **bash("rm x", "t1")).folds()
    assert scene.request("g1").delivery == "confirmed"


@pytest.mark.parametrize("effect", ["allow", "ask"])
def test_the_observing_hook_answers_only_a_deny(effect: str) -> None:
    scene = with_rule(effect).rules("deny", "Bash(dd:*)")
    scene.receives_at_the_gate(enforced=False, **bash("rm x", "t1")).records("tool.pre").stays_silent()


def test_without_a_matching_rule_the_gate_has_no_opinion() -> None:
    with_rule("deny").receives_at_the_gate(**bash("touch y", "t1")).records("tool.pre").stays_silent()


@pytest.mark.parametrize("effect", ["allow", "ask"])
@pytest.mark.parametrize("tool_name", ["AskUserQuestion", "ExitPlanMode"])
def test_the_gate_leaves_questions_and_plans_to_the_agent(effect: str, tool_name: str) -> None:
    call: dict[str, Any] = {"tool_name": tool_name, "tool_input": {"plan": "p"}, "tool_use_id": "t1"}
    with_rule(effect, tool_name).receives_at_the_gate(**call).records("tool.pre").stays_silent()


def test_an_ask_rule_holds_a_headless_session_while_a_person_is_near() -> None:
    edited = Allow(updated_input={"command": "ls"})
    scene = held().records("tool.pre", "permission.request").is_now(AgentState.WAITING_PERMISSION)
    scene.decides("g1", edited).answers_with("g1", edited).folds()


def test_a_new_rule_decides_a_request_held_at_the_gate() -> None:
    held().rules("deny", "Bash(rm x)", id="r2").answers_with(
        "g1", Deny("Denied by the rule Bash(rm x) in Quarterdeck.")
    )


def test_an_ask_rule_sends_a_session_with_a_dialog_to_its_dialog() -> None:
    scene = with_rule("ask").receives_at_the_gate(id="g1", entrypoint="cli", **bash("rm x", "t1"))
    scene.answers_with("g1", ASK_BY_RULE).is_now(AgentState.WAITING_PERMISSION)
    scene.receives("PermissionRequest", id="p1", entrypoint="cli", **bash("rm x")).holds("p1")
    assert scene.request("p1").tool_use_id == "t1"


def test_an_ask_rule_holds_a_sub_agent_whose_dialog_waits_for_the_answer() -> None:
    scene = with_rule("ask")
    scene.receives_at_the_gate(id="g1", entrypoint="cli", **bash("rm x", "t1", agent="a1")).holds("g1")


@pytest.mark.parametrize("setting", [{"attended": False}, {"hold": "never"}])
def test_an_ask_rule_never_holds_when_nobody_is_watching(setting: dict[str, Any]) -> None:
    gated("ask", **setting).answers_with("g1", ASK_BY_RULE).is_now(AgentState.RUNNING).folds()


def test_a_call_on_quarterdecks_own_files_is_asked_about_whatever_rules_allow() -> None:
    scene = with_rule("allow", "Bash(qd:*)").receives_at_the_gate(id="g1", **bash("qd rules clear", "t1")).holds("g1")
    scene = with_rule("allow", "Bash(qd:*)", attended=False)
    scene.receives_at_the_gate(id="g1", **bash("qd rules clear", "t1"))
    (answer,) = scene.answers["g1"]
    assert isinstance(answer, Ask)


@pytest.mark.law("D2")
@pytest.mark.parametrize(
    ("end", "decision"),
    [
        (DaemonStopping(at=2000.0), Deny("Blocked: Quarterdeck stopped.")),
        (DaemonRestarted(at=2000.0), Deny("Blocked: Quarterdeck restarted.")),
        (Unattended(at=2000.0), Ask("nobody is watching any more")),
        (WaiterGone(request_id="g1", at=2000.0), Deny("Blocked: answered or cancelled at the terminal.")),
    ],
)
def test_the_gate_never_releases_a_request_in_silence(end: Any, decision: Any) -> None:
    held().submits(end).answers_with("g1", decision).folds()


@pytest.mark.law("D2")
def test_the_gate_blocks_when_nobody_answers_in_time() -> None:
    scene = held().expires("g1").answers_with("g1", Deny("Blocked: nobody answered in time."))
    assert scene.request("g1").status == "expired"
    scene.is_now(AgentState.RUNNING).folds()


@pytest.mark.law("D2")
def test_a_pass_at_the_gate_makes_the_agent_ask() -> None:
    held().decides("g1", NoOpinion("passed by ann")).replies("applied").answers_with("g1", Ask("passed by ann"))


@pytest.mark.law("D2")
def test_a_policy_that_passes_makes_the_agent_ask() -> None:
    scene = held(unattended=UnattendedPolicy(after_seconds=5.0, by_risk=dict.fromkeys(LEVELS, "pass")))
    scene.still_waits("g1", 6.0)
    (answer,) = scene.answers["g1"]
    assert isinstance(answer, Ask)


@pytest.mark.law("D2")
def test_an_input_too_large_to_check_is_blocked() -> None:
    huge: dict[str, Any] = {"tool_name": "Bash", "tool_input": {TOO_LARGE: 1 << 30}, "tool_use_id": "t1"}
    Scene().receives_at_the_gate(id="g1", **huge).answers_with("g1", Deny(TOO_LARGE_MESSAGE))
    with_rule("allow", "Bash").receives_at_the_gate(id="g1", **huge).answers_with("g1", Deny(TOO_LARGE_MESSAGE))
    Scene().receives_at_the_gate(enforced=False, **huge).stays_silent()


ENDINGS = st.sampled_from(["stop", "restart", "unattended", "gone", "deadline", "pass", "deny", "end", "batch"])


@pytest.mark.law("D2")
@pytest.mark.law("D12")
@given(st.lists(ENDINGS, min_size=1, max_size=4), st.sampled_from(["auto", "always"]))
def test_a_gate_that_ends_without_an_allow_never_lets_the_tool_run(endings: list[str], hold: str) -> None:
    scene = held(hold=hold)
    digest = scene.request("g1").digest
    actions = {
        "stop": lambda: scene.submits(DaemonStopping(at=2000.0)),
        "restart": lambda: scene.submits(DaemonRestarted(at=2000.0)),
        "unattended": lambda: scene.submits(Unattended(at=2000.0)),
        "gone": lambda: scene.submits(WaiterGone(request_id="g1", at=2000.0)),
        "deadline": lambda: scene.expires("g1"),
        "pass": lambda: scene.decides("g1", NoOpinion(), digest=digest),
        "deny": lambda: scene.decides("g1", Deny("no"), digest=digest),
        "end": lambda: scene.receives("SessionEnd", reason="other"),
        "batch": lambda: scene.receives("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}]),
    }
    for ending in endings:
        actions[ending]()
        for effect in scene.last.effects:
            _never_lets_it_run(effect)
    scene.folds()


def _never_lets_it_run(effect: object) -> None:
    if isinstance(effect, SendAnswer) and effect.event_id == "g1" and effect.request is not None:
        answer = write_answer("PreToolUse", "Bash", {}, effect.decision)
        assert answer is not None
        assert answer["hookSpecificOutput"]["permissionDecision"] in ("deny", "ask")
