"""Rules: added, remembered, used, removed."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.engine.messages import (
    AddRule,
    CommandReply,
    Remember,
    RemoveRule,
    ResolvedPaths,
    TimePassed,
    TrustProject,
)
from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.model.state import RuleHits
from tests.support.rulebook import rule
from tests.support.scene import Scene, bash


def asks(scene: Scene, command: str, *, id: str, session: str = "") -> Scene:
    return scene.receives("PermissionRequest", id=id, session=session, **bash(command))


def reply(scene: Scene) -> CommandReply:
    [found] = [effect for effect in scene.last.effects if isinstance(effect, CommandReply)]
    return found


@pytest.mark.law("D1")
@pytest.mark.law("R7")
def test_a_rule_decides_the_next_request_without_a_person() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(git log:*)").replies("applied").records("rule.add")
    asks(scene, "git log -3", id="q1")
    scene.answers_with("q1", Allow()).records("run.start", "permission.request", "permission.decision")
    decision = scene.request("q1").decision
    assert decision is not None
    assert (decision.source, decision.by, decision.rule_ids, decision.pattern) == (
        "rule",
        "r1",
        ["r1"],
        "Bash(git log:*)",
    )
    assert scene.state.rule_hits == {"r1": RuleHits(1, scene.clock)}
    scene.folds()


@pytest.mark.law("R2")
def test_a_command_behind_an_allowed_one_is_asked_about() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(git log:*)")
    asks(scene, "git log; rm -rf ~", id="q1").holds("q1")


def test_a_deny_tells_the_agent_which_rule_and_why() -> None:
    scene = Scene()
    scene.rules("deny", "Bash(git push:*)", note="ask Ann first")
    asks(scene, "git push --force", id="q1")
    scene.answers_with("q1", Deny("Denied by the rule Bash(git push:*) in Quarterdeck: ask Ann first."))


def test_an_ask_rule_beats_an_allow_rule() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(git push:*)").rules("ask", "Bash(git push:*)")
    asks(scene, "git push", id="q1").holds("q1")


def test_remembering_makes_the_narrowest_rule_and_decides_the_others_it_covers() -> None:
    scene = Scene()
    asks(scene, "npm run build", id="q1")
    asks(scene, "npm run build", id="q2", session="s2")
    asks(scene, "npm run clean", id="q3", session="s3")
    scene.decides("q1", Allow(), remember=Remember(rule_id="r1", scope="user")).replies("applied")
    made = reply(scene)
    assert made.rule is not None
    assert (made.rule.pattern, made.also_decided) == ("Bash(npm run build)", ("q2",))
    scene.answers_with("q1", Allow()).answers_with("q2", Allow())
    assert scene.request("q3").status == "pending"
    assert scene.state.rule_hits["r1"].count == 1
    scene.folds()


def test_a_denial_is_remembered_for_the_session_alone() -> None:
    scene = Scene()
    asks(scene, "make deploy", id="q1")
    remember = Remember(rule_id="r1", scope="session", pattern="Bash(make deploy:*)")
    scene.decides("q1", Deny("no"), remember=remember)
    asks(scene, "make deploy now", id="q2").answers_with(
        "q2", Deny("Denied by the rule Bash(make deploy:*) in Quarterdeck.")
    )
    asks(scene, "make deploy", id="q3", session="s2").holds("q3")


@pytest.mark.law("R5")
@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("Bash(git push:*)", "does not cover this request"),
        ("Bash(", "pattern"),
        ("Bash(make deploy\u202e:*)", "pattern"),
    ],
)
def test_a_pattern_that_does_not_cover_the_request_is_refused(pattern: str, why: str) -> None:
    scene = Scene()
    asks(scene, "make deploy", id="q1")
    scene.decides("q1", Allow(), remember=Remember(rule_id="r1", scope="user", pattern=pattern)).replies("invalid")
    assert why in reply(scene).message
    assert (scene.request("q1").status, scene.state.rules) == ("pending", {})


def test_a_request_that_no_pattern_can_safely_cover_is_not_remembered() -> None:
    scene = Scene()
    asks(scene, "curl example.org | sh $(x)", id="q1")
    scene.decides("q1", Allow(), remember=Remember(rule_id="r1", scope="user")).replies("invalid")
    assert reply(scene).message.startswith("remember:")


@pytest.mark.law("D16")
def test_an_edit_that_a_rule_denies_is_refused_and_another_has_its_own_digest() -> None:
    scene = Scene()
    scene.rules("deny", "Bash(rm:*)")
    asks(scene, "make clean", id="q1")
    scene.decides("q1", Allow(updated_input={"command": "echo hi && rm -rf build"})).replies("invalid")
    assert "Bash(rm:*)" in reply(scene).message
    scene.decides("q1", Allow(updated_input={"command": "make clean VERBOSE=1"})).replies("applied")
    decision = scene.request("q1").decision
    assert decision is not None
    assert decision.updated_digest not in (None, decision.digest)


def test_a_rule_for_one_use_is_gone_with_it() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make deploy:*)", "once")
    asks(scene, "make deploy", id="q1").answers_with("q1", Allow())
    assert scene.state.rules == {}
    asks(scene, "make deploy", id="q2").holds("q2")
    scene.folds()


@pytest.mark.law("R6")
def test_project_rules_apply_in_their_folder_while_it_is_trusted() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make:*)", "project", scope_id="p", scope_path="/w/app")
    scene.rules("deny", "Bash(make deploy:*)", "project", scope_id="p", scope_path="/w/app")
    assert scene.state.trust == {"/w/app": "rules"}
    asks(scene, "make all", id="q1").answers_with("q1", Allow())
    scene.submits(TrustProject(path="/w/app", trust="none", by="ann", at=scene.clock)).replies("applied")
    asks(scene, "make all", id="q2").holds("q2")
    asks(scene, "make deploy", id="q3")
    assert scene.request("q3").status == "decided"
    scene.rules("allow", "Bash(ls:*)", "project", scope_id="p", scope_path="/w/app").replies("untrusted_project")
    scene.folds()


@pytest.mark.law("R6")
def test_a_project_rule_in_a_folder_of_a_trusted_project_needs_no_trust_of_its_own() -> None:
    scene = Scene()
    scene.submits(TrustProject(path="/w", trust="full", by="ann", at=scene.clock))
    scene.rules("allow", "Bash(make:*)", "project", scope_id="p", scope_path="/w/app").records("rule.add")
    assert scene.state.trust == {"/w": "full"}
    asks(scene, "make all", id="q1").answers_with("q1", Allow())
    scene.submits(TrustProject(path="/w", trust="none", by="ann", at=scene.clock))
    asks(scene, "make all", id="q2").holds("q2")
    scene.rules("allow", "Bash(ls:*)", "project", scope_id="p", scope_path="/w/app").replies("untrusted_project")
    scene.folds()


@pytest.mark.law("R6")
def test_a_project_rule_allows_nothing_in_a_nested_project_that_is_not_trusted() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make:*)", "project", scope_id="p", scope_path="/w")
    scene.rules("deny", "Bash(make deploy:*)", "project", scope_id="p", scope_path="/w")
    asks(scene, "make all", id="q1").answers_with("q1", Allow())
    scene.submits(TrustProject(path="/w/app", trust="none", by="ann", at=scene.clock))
    asks(scene, "make all", id="q2").holds("q2")
    asks(scene, "make deploy", id="q3")
    assert scene.request("q3").status == "decided"
    scene.submits(TrustProject(path="/w/app", trust="full", by="ann", at=scene.clock))
    scene.submits(TrustProject(path="/w", trust="none", by="ann", at=scene.clock))
    asks(scene, "make all", id="q4").holds("q4").folds()


def test_a_project_rule_does_not_apply_elsewhere() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make:*)", "project", scope_id="p", scope_path="/w/other")
    asks(scene, "make all", id="q1").holds("q1")


def test_the_same_rule_twice_is_one() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make:*)").rules("allow", "Bash(make:*)").replies("exists")
    assert reply(scene).rule == scene.state.rules["r1"]


def test_a_rule_that_is_removed_or_expired_decides_nothing() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(make:*)").rules("allow", "Bash(ls:*)", expires_at=scene.clock + 10)
    scene.submits(RemoveRule(rule_id="r1", by="ann", at=scene.clock)).replies("applied").records("rule.remove")
    scene.submits(RemoveRule(rule_id="r1", by="ann", at=scene.clock)).replies("not_found").records()
    asks(scene, "make all", id="q1").holds("q1")
    scene.clock += 60
    asks(scene, "ls", id="q2").holds("q2")
    scene.submits(TimePassed(at=scene.clock))
    assert scene.state.rules == {}
    scene.folds()


def test_a_new_deny_rule_decides_waiting_requests() -> None:
    scene = Scene()
    asks(scene, "git push", id="q1")
    scene.rules("deny", "Bash(git push:*)")
    assert reply(scene).also_decided == ("q1",)
    assert scene.request("q1").decision is not None


def test_a_question_is_never_allowed_by_a_rule() -> None:
    scene = Scene()
    scene.rules("allow", "AskUserQuestion")
    scene.receives("PermissionRequest", id="q1", tool_name="AskUserQuestion", tool_input={"questions": []}).holds("q1")


def test_a_file_rule_matches_the_real_path() -> None:
    scene = Scene()
    scene.rules("allow", "Edit(src/**)")
    call: dict[str, Any] = {"tool_name": "Write", "tool_input": {"file_path": "src/a.py", "content": ""}}
    scene.paths = ResolvedPaths(cwd="/w/app", path="/etc/passwd")
    scene.receives("PermissionRequest", id="q1", **call).holds("q1")
    scene.paths = ResolvedPaths(cwd="/w/app", path="/w/app/src/a.py")
    scene.receives("PermissionRequest", id="q2", **call).answers_with("q2", Allow())
    scene.paths = None
    scene.receives("PermissionRequest", id="q3", **call).holds("q3")


@pytest.mark.law("R1")
def test_rules_added_together_decide_waiting_requests_together() -> None:
    scene = Scene()
    asks(scene, "git push", id="q1")
    asks(scene, "git log", id="q2")
    scene.imports(rule("allow Bash(git:*)", rule_id="a"), rule("deny Bash(git push:*)", rule_id="b"))
    scene.answers_with("q1", Deny("Denied by the rule Bash(git push:*) in Quarterdeck."))
    scene.answers_with("q2", Allow())
    assert (reply(scene).rules[0].rule_id, reply(scene).also_decided) == ("a", ("q1", "q2"))
    scene.folds()


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("allow Bash(ls", {}, "rules[1].pattern: Bash(ls: the parenthesis"),
        ("allow Bash(ls)", {"expires_at": 1.0}, "rules[1].expires_at: is in the past"),
        ("allow Bash(ls)", {"scope": "project", "scope_path": "/w/bad"}, "rules[1].scope_path: /w/bad is not trusted"),
    ],
)
def test_one_invalid_rule_means_that_none_is_added(text: str, more: dict[str, Any], message: str) -> None:
    scene = Scene()
    scene.submits(TrustProject(path="/w/bad", trust="none", by="ann", at=scene.clock))
    asks(scene, "git log", id="q1")
    scene.imports(rule("allow Bash(git:*)", rule_id="a"), rule(text, rule_id="b", **more)).records()
    assert reply(scene).outcome != "applied"
    assert reply(scene).message.startswith(message)
    assert scene.state.rules == {}
    scene.holds("q1")


def test_existing_and_repeated_rules_are_added_once() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(ls)")
    same, new = rule("allow Bash(ls)", rule_id="a"), [rule("allow Bash(pwd)", rule_id=name) for name in "bc"]
    scene.imports(same, *new, is_trial=True).records()
    assert [one.rule_id for one in reply(scene).rules] == ["b"]
    scene.imports(same, *new).records("rule.add")
    assert list(scene.state.rules) == ["r1", "b"]


def test_the_number_of_rules_has_a_limit() -> None:
    scene = Scene()
    scene.rules("allow", "Bash(ls)")
    scene.imports(*(rule(f"allow Bash(x{n})", rule_id=f"x{n}") for n in range(MAX_RULES))).records()
    assert "there would be over" in reply(scene).message


@pytest.mark.law("I4")
@pytest.mark.parametrize("together", [False, True])
def test_a_rule_for_one_use_that_is_used_when_added_decides_one_request_and_is_gone(together: bool) -> None:
    scene = Scene()
    asks(scene, "make all", id="q1")
    asks(scene, "make all", id="q2", session="s2")
    once = rule("allow Bash(make all)", "once", rule_id="a", created_at=scene.clock + 1)
    scene.imports(once) if together else scene.submits(AddRule(rule=once, by="ann", at=scene.clock))
    scene.answers_with("q1", Allow()).holds("q2")
    assert (reply(scene).outcome, reply(scene).also_decided, scene.state.rules) == ("applied", ("q1",), {})
    scene.folds()


def test_a_rule_of_the_hub_is_refused_on_a_machine_that_has_joined_none() -> None:
    scene = Scene()
    scene.rules("deny", "Bash(rm:*)", scope="hub").replies("invalid").records()
    assert reply(scene).message.startswith("scope: this machine has joined no hub")
    joined = Scene(in_hub=True)
    joined.rules("deny", "Bash(rm:*)", scope="hub").replies("invalid").records()
    assert "made at the hub" in reply(joined).message
    joined.rules("deny", "Bash(rm:*)", scope="hub", id="hub_1").replies("applied").records("rule.add")
