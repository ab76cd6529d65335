"""The gate before a tool call: what a rule says is done and recorded, and silence never lets a held tool run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.hooks import write_answer
from quarterdeck.core.engine.messages import Answer as Told
from quarterdeck.core.engine.messages import HolderGone, Restarted, StillWaiting, Stopping, Unattended
from quarterdeck.core.handlers.enforce_gate import UNJUDGED
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Ask, Deny, NoOpinion, Source
from quarterdeck.core.model.payload import TOO_LARGE
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.unattended_policy import Policy
from tests.support.scene import Scene, bash

DENIED = Deny("Denied by the rule Bash(rm:*) in Quarterdeck.")
ASKED = Ask("the rule Bash(rm:*) asks for a decision")


def ruled(effect: str, pattern: str = "Bash(rm:*)", **settings: Any) -> Scene:
    return Scene(**settings).rules(effect, pattern, id="r1").hears("UserPromptSubmit", prompt="go")


def gated(effect: str, **settings: Any) -> Scene:
    """A call that a rule is about, at the gate."""
    return ruled(effect, **settings).hears_at_the_gate(id="g1", **bash("rm x", "t1"))


def held(**settings: Any) -> Scene:
    return gated("ask", **settings).holds("g1")


@pytest.mark.parametrize("first", [True, False])
def test_a_call_is_recorded_once_whichever_way_comes_first(first: bool) -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="go")
    scene.hears_at_the_gate(enforced=first, **bash("ls", "t1")).records("tool.pre").stays_silent()
    scene.hears_at_the_gate(enforced=not first, **bash("ls", "t1")).records().stays_silent()
    assert scene.session.run is not None
    assert scene.session.run.counters.tool_uses == 1
    scene.folds()


def test_calls_without_an_id_and_calls_with_another_input_are_recorded_each() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="go").hears_at_the_gate(**bash("ls", "t1"))
    scene.hears_at_the_gate(**bash("ls -a", "t1")).records("tool.pre")
    scene.hears_at_the_gate(**bash("ls")).records("tool.pre")
    scene.hears_at_the_gate(**bash("ls")).records("tool.pre")


@pytest.mark.parametrize("enforced", [True, False])
def test_a_deny_rule_bites_at_the_gate_and_where_a_call_is_only_observed(enforced: bool) -> None:
    scene = ruled("deny").hears_at_the_gate(id="g1", enforced=enforced, **bash("rm x", "t1"))
    scene.records("tool.pre", "permission.request", "permission.decision").answers_with("g1", DENIED)
    request = scene.request("g1")
    assert request.decision is not None
    assert (request.decision.source, request.decision.by, request.held) == (Source.RULE, "r1", False)
    assert (request.status, request.delivery, request.tool_use_id) == ("decided", "sent", "t1")
    scene.is_now(AgentState.BLOCKED)
    scene.hears("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}])
    assert scene.request("g1").delivery == "confirmed"
    scene.folds()


@pytest.mark.parametrize("scope", ["user", "once"])
@pytest.mark.parametrize("first", [True, False])
def test_a_denied_call_that_comes_both_ways_is_denied_both_times_and_recorded_once(first: bool, scope: str) -> None:
    scene = Scene().rules("deny", "Bash(rm:*)", scope, id="r1").hears("UserPromptSubmit", prompt="go")
    scene.hears_at_the_gate(id="g1", enforced=first, **bash("rm x", "t1")).answers_with("g1", DENIED)
    scene.hears_at_the_gate(id="g2", enforced=not first, **bash("rm x", "t1")).records().answers_with("g2", DENIED)
    scene.folds()


def test_another_input_under_the_same_id_is_another_call() -> None:
    scene = ruled("allow", "Bash(ls:*)").hears_at_the_gate(id="g1", **bash("ls", "t1")).answers_with("g1", Allow())
    scene.hears_at_the_gate(id="g2", **bash("touch y", "t1")).records("tool.pre").stays_silent()


@pytest.mark.law("D1")
def test_an_allow_rule_runs_the_call_at_the_gate_and_is_recorded() -> None:
    scene = gated("allow").answers_with("g1", Allow())
    decision = scene.request("g1").decision
    assert decision is not None
    assert (decision.decision_type, decision.source, decision.by) == ("allow", Source.RULE, "r1")
    scene.hears("PostToolUse", **bash("rm x", "t1")).folds()
    assert scene.request("g1").delivery == "confirmed"


@pytest.mark.parametrize("effect", ["allow", "ask"])
def test_only_a_deny_is_told_to_one_who_observes(effect: str) -> None:
    scene = ruled(effect).rules("deny", "Bash(dd:*)")
    scene.hears_at_the_gate(enforced=False, **bash("rm x", "t1")).records("tool.pre").stays_silent()


def test_without_a_rule_about_it_the_agent_goes_its_own_way() -> None:
    ruled("deny").hears_at_the_gate(**bash("touch y", "t1")).records("tool.pre").stays_silent()


@pytest.mark.parametrize("effect", ["allow", "ask"])
@pytest.mark.parametrize("tool_name", ["AskUserQuestion", "ExitPlanMode"])
def test_what_asks_a_person_by_itself_is_left_to_do_so(effect: str, tool_name: str) -> None:
    call: dict[str, Any] = {"tool_name": tool_name, "tool_input": {"plan": "p"}, "tool_use_id": "t1"}
    ruled(effect, tool_name).hears_at_the_gate(**call).records("tool.pre").stays_silent()


def test_an_ask_rule_holds_a_headless_session_while_somebody_attends() -> None:
    edited = Allow(updated_input={"command": "ls"})
    scene = held().records("tool.pre", "permission.request").is_now(AgentState.WAITING_PERMISSION)
    scene.decides("g1", edited).answers_with("g1", edited).folds()


def test_a_rule_made_meanwhile_settles_what_is_held_at_the_gate() -> None:
    held().rules("deny", "Bash(rm x)", id="r2").answers_with(
        "g1", Deny("Denied by the rule Bash(rm x) in Quarterdeck.")
    )


def test_an_ask_rule_sends_a_session_with_a_dialog_to_it() -> None:
    scene = ruled("ask").hears_at_the_gate(id="g1", entrypoint="cli", **bash("rm x", "t1"))
    scene.answers_with("g1", ASKED).is_now(AgentState.WAITING_PERMISSION)
    scene.hears("PermissionRequest", id="p1", entrypoint="cli", **bash("rm x")).holds("p1")
    assert scene.request("p1").tool_use_id == "t1"


def test_an_ask_rule_holds_a_sub_agent_whose_dialog_waits_for_us() -> None:
    scene = ruled("ask")
    scene.hears_at_the_gate(id="g1", entrypoint="cli", **bash("rm x", "t1", agent="a1")).holds("g1")


@pytest.mark.parametrize("setting", [{"attended": False}, {"hold": "never"}])
def test_an_ask_rule_never_waits_for_nobody(setting: dict[str, Any]) -> None:
    gated("ask", **setting).answers_with("g1", ASKED).is_now(AgentState.RUNNING).folds()


def test_what_touches_us_is_asked_about_at_the_gate_whatever_rules_allow() -> None:
    scene = ruled("allow", "Bash(qd:*)").hears_at_the_gate(id="g1", **bash("qd rules clear", "t1")).holds("g1")
    scene = ruled("allow", "Bash(qd:*)", attended=False)
    scene.hears_at_the_gate(id="g1", **bash("qd rules clear", "t1"))
    (told,) = scene.answers["g1"]
    assert isinstance(told, Ask)


@pytest.mark.law("D2")
@pytest.mark.parametrize(
    ("end", "decision"),
    [
        (Stopping(at=2000.0), Deny("Blocked: Quarterdeck stopped: answer at the terminal.")),
        (Restarted(at=2000.0), Deny("Blocked: Quarterdeck restarted: answer at the terminal.")),
        (Unattended(at=2000.0), Ask("nobody attends any more")),
        (HolderGone(request_id="g1", at=2000.0), Deny("Blocked: answered or cancelled at the terminal.")),
    ],
)
def test_a_gate_that_lets_go_never_does_so_in_silence(end: Any, decision: Any) -> None:
    held().tells(end).answers_with("g1", decision).folds()


@pytest.mark.law("D2")
def test_a_gate_that_nobody_answers_in_time_blocks() -> None:
    scene = held().waits_too_long("g1").answers_with("g1", Deny("Blocked: nobody answered in time."))
    assert scene.request("g1").status == "expired"
    scene.is_now(AgentState.RUNNING).folds()


@pytest.mark.law("D2")
def test_who_passes_at_the_gate_has_the_agent_ask() -> None:
    held().decides("g1", NoOpinion("passed by ann")).replies("applied").answers_with("g1", Ask("passed by ann"))


@pytest.mark.law("D2")
def test_a_policy_that_passes_has_the_agent_ask() -> None:
    scene = held(unattended=Policy(after_seconds=5.0, by_risk=dict.fromkeys(LEVELS, "pass")))
    scene.tells(StillWaiting(request_id="g1", at=2000.0, waited=6.0, minute=0))
    (told,) = scene.answers["g1"]
    assert isinstance(told, Ask)


@pytest.mark.law("D2")
def test_what_cannot_be_judged_is_blocked() -> None:
    huge: dict[str, Any] = {"tool_name": "Bash", "tool_input": {TOO_LARGE: 1 << 30}, "tool_use_id": "t1"}
    Scene().hears_at_the_gate(id="g1", **huge).answers_with("g1", Deny(UNJUDGED))
    ruled("allow", "Bash").hears_at_the_gate(id="g1", **huge).answers_with("g1", Deny(UNJUDGED))
    Scene().hears_at_the_gate(enforced=False, **huge).stays_silent()


WAYS = st.sampled_from(["stop", "restart", "unattended", "gone", "deadline", "pass", "deny", "end", "batch"])


@pytest.mark.law("D2")
@pytest.mark.law("D12")
@given(st.lists(WAYS, min_size=1, max_size=4), st.sampled_from(["auto", "always"]))
def test_however_a_gate_ends_without_an_allow_the_tool_is_not_let_run(ways: list[str], hold: str) -> None:
    scene = held(hold=hold)
    digest = scene.request("g1").digest
    deeds = {
        "stop": lambda: scene.tells(Stopping(at=2000.0)),
        "restart": lambda: scene.tells(Restarted(at=2000.0)),
        "unattended": lambda: scene.tells(Unattended(at=2000.0)),
        "gone": lambda: scene.tells(HolderGone(request_id="g1", at=2000.0)),
        "deadline": lambda: scene.waits_too_long("g1"),
        "pass": lambda: scene.decides("g1", NoOpinion(), digest=digest),
        "deny": lambda: scene.decides("g1", Deny("no"), digest=digest),
        "end": lambda: scene.hears("SessionEnd", reason="other"),
        "batch": lambda: scene.hears("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}]),
    }
    for way in ways:
        deeds[way]()
        for effect in scene.last.effects:
            _never_lets_it_run(effect)
    scene.folds()


def _never_lets_it_run(effect: object) -> None:
    if isinstance(effect, Told) and effect.event_id == "g1" and effect.request is not None:
        said = write_answer("PreToolUse", "Bash", {}, effect.decision)
        assert said is not None
        assert said["hookSpecificOutput"]["permissionDecision"] in ("deny", "ask")
