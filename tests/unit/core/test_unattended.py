"""Requests that nobody answers: who is told of them and when, what becomes of them, and what the hour changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.engine.messages import LookAfter, Notify, NotifyFailed, Restarted
from quarterdeck.core.engine.notifications import Notice, level_of
from quarterdeck.core.model.decisions import Allow, Deny, NoOpinion, Source
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.unattended_policy import (
    LOOK_AGAIN_SECONDS,
    Policy,
    bothers,
    is_quiet,
    next_look,
    read_hours,
    ruling,
)
from tests.support.scene import Scene, bash

NIGHT = ((22 * 60, 7 * 60),)
PHONE = Policy(channels=("push",))
NIGHT_WATCH = Policy(
    after_seconds=600.0,
    by_risk={"high": "hold"},
    quiet_by_risk={"high": "deny"},
    quiet_hours=NIGHT,
    channels=("push",),
)


def asked(policy: Policy, *ids: str, **settings: Any) -> Scene:
    """One session that asks for each of these; the last step is the last request."""
    scene = Scene(unattended=policy, **settings).hears("UserPromptSubmit", prompt="go")
    for request_id in ids or ("r1",):
        scene.hears("PermissionRequest", id=request_id, **bash(f"sudo rm {request_id}"))
    return scene


def notice(scene: Scene) -> Notice:
    [found] = [e.notice for e in scene.last.effects if isinstance(e, Notify)]
    return found


def test_without_a_setting_nobody_is_denied_or_bothered() -> None:
    scene = asked(Policy()).holds("r1").looks_after()
    scene.still_waits("r1", 1e6).does_nothing()


def test_a_person_is_told_after_the_grace_and_once() -> None:
    scene = asked(PHONE).looks_after(10.0)
    scene.still_waits("r1", 9.9).records().notifies()
    scene.still_waits("r1", 10.0).records("request.escalated").notifies("r1").holds("r1").looks_after()
    scene.still_waits("r1", 500.0).does_nothing().folds()
    assert (scene.request("r1").escalated, scene.request("r1").escalated_at) == (("push",), scene.clock - 1)


def test_an_answer_in_time_bothers_nobody() -> None:
    scene = asked(PHONE).decides("r1", Allow())
    scene.still_waits("r1", 10.0).does_nothing()


def test_requests_of_one_moment_are_told_of_together() -> None:
    scene = asked(PHONE, "r1", "r2", "r3").hears("PermissionRequest", id="other", session="s2", **bash("sudo ls"))
    scene.decides("r2", Deny("no"))
    scene.still_waits("r1", 10.0).records(*["request.escalated"] * 3).notifies("r1", "r3", "other")
    assert notice(scene).title == "3 requests wait for you (highest risk: high)"
    assert {e.session_id for e in scene.last.events} == {"s1", "s2"}
    assert [e.data.told_of for e in scene.last.events] == [3, 3, 3]
    scene.still_waits("r3", 10.0).does_nothing().folds()


def test_a_grace_of_nothing_still_waits_a_moment_for_the_others() -> None:
    asked(Policy(channels=("desktop",), grace_seconds=0.0)).looks_after(1.0)


def test_a_low_risk_bothers_nobody_when_only_high_ones_shall() -> None:
    scene = Scene(unattended=Policy(channels=("push",), min_risk="high"))
    scene.hears("PermissionRequest", id="r1", tool_name="Read", tool_input={"file_path": "/x"}).looks_after()
    scene.hears("PermissionRequest", id="r2", **bash("sudo rm x")).looks_after(10.0)
    scene.still_waits("r2", 10.0).notifies("r2")


def test_in_quiet_hours_nobody_is_told_until_they_end() -> None:
    scene = asked(Policy(channels=("push",), quiet_hours=NIGHT), "r1", "r2")
    scene.still_waits("r1", 10.0, "23:15").records().looks_after(LOOK_AGAIN_SECONDS)
    scene.still_waits("r1", 9000.0, "06:59").records().looks_after(LOOK_AGAIN_SECONDS)
    scene.still_waits("r1", 9060.0, "07:00").notifies("r1", "r2").looks_after()


def test_in_quiet_hours_what_is_critical_may_be_told() -> None:
    policy = Policy(channels=("push",), quiet_hours=NIGHT, quiet_notify="critical")
    assert [level for level in LEVELS if bothers(policy, level, quiet=True)] == ["critical"]
    assert [level for level in LEVELS if bothers(policy, level, quiet=False)] == list(LEVELS)


def test_a_request_is_denied_with_words_that_name_the_policy() -> None:
    scene = asked(Policy(by_risk={"high": "deny"})).looks_after(300.0)
    scene.still_waits("r1", 300.0).records("permission.decision")
    message = "Denied by Quarterdeck: nobody answered within 5 minutes, and the policy unattended.high: deny holds."
    scene.answers_with("r1", Deny(f"{message} A person has not seen this request."))
    data = scene.request("r1").decision
    assert data is not None
    assert (data.source, data.by, data.status) == (Source.TIMEOUT, "unattended.high", "decided")
    assert scene.request("r1").delivery == "sent"
    scene.decides("r1", Allow()).replies("already_decided").folds()


def test_that_the_agent_went_on_otherwise_is_seen() -> None:
    scene = Scene(unattended=Policy(by_risk={"high": "deny"})).hears("PreToolUse", **bash("sudo rm x", "t1"))
    scene.hears("PermissionRequest", id="r1", **bash("sudo rm x")).still_waits("r1", 300.0)
    scene.hears("PostToolUse", **bash("sudo rm x", "t1"))
    assert scene.request("r1").delivery == "overridden"


def test_a_request_is_passed_to_the_terminal() -> None:
    scene = asked(Policy(by_risk={"high": "pass"}, after_seconds=30.0)).still_waits("r1", 30.0)
    scene.answers_with("r1", NoOpinion(reason="nobody answered within 30 s; the policy unattended.high: pass"))
    data = scene.request("r1").decision
    assert data is not None
    assert (data.source, data.by, data.status, data.still_asks) == (Source.TIMEOUT, "unattended.high", "expired", True)
    scene.folds()


def test_a_stop_is_never_kept_from_happening() -> None:
    scene = Scene(unattended=Policy(by_risk={"low": "deny"}), hold_stop=True).hears("UserPromptSubmit", prompt="go")
    scene.hears("Stop", id="r1").holds("r1").looks_after(300.0)
    scene.still_waits("r1", 300.0).records("stop.decision", "run.end").stays_silent().folds()


def test_the_policy_is_that_of_the_hour_in_which_time_is_up() -> None:
    by_day = asked(NIGHT_WATCH).still_waits("r1", 10.0, "21:40").notifies("r1").looks_after(590.0)
    by_day.still_waits("r1", 600.0, "21:50").records().looks_after(LOOK_AGAIN_SECONDS)
    by_day.still_waits("r1", 1200.0, "22:00").records("permission.decision")
    assert by_day.last.events[0].data.by == "unattended.quiet_high"


def test_a_request_that_comes_again_after_a_restart_is_not_told_of_again() -> None:
    scene = asked(PHONE).still_waits("r1", 10.0).notifies("r1")
    scene.tells(Restarted(at=scene.clock)).hears("PermissionRequest", id="r1", **bash("sudo rm r1"))
    scene.holds("r1").looks_after().still_waits("r1", 10.0).does_nothing().folds()
    scene.tells(Restarted(at=scene.clock)).hears("PermissionRequest", id="r1", **bash("sudo rm another"))
    scene.looks_after(10.0).still_waits("r1", 10.0).notifies("r1")


def test_that_nobody_was_reached_is_on_record() -> None:
    scene = asked(PHONE).still_waits("r1", 10.0)
    scene.tells(NotifyFailed(channel="push", request_ids=("r1",), error="it is away", at=1.0))
    scene.records("escalation.failed").folds()
    assert scene.last.events[0].data.request_ids == ["r1"]


@pytest.mark.law("A12")
def test_what_the_agent_wants_to_do_leaves_only_on_wish() -> None:
    quiet = notice(asked(PHONE).still_waits("r1", 10.0))
    assert (quiet.title, quiet.message) == ("app waits for you: Bash (high risk)", "app · Bash · high risk")
    assert "sudo" not in repr(quiet)
    open_hearted = notice(asked(Policy(channels=("push",), include_input=True)).still_waits("r1", 10.0))
    assert open_hearted.message == "app · Bash · high risk · sudo rm r1"


@pytest.mark.law("I6")
def test_hostile_names_stay_on_one_short_line() -> None:
    scene = Scene(unattended=Policy(channels=("push",), include_input=True))
    evil = "x\n\u202e\x1b[31m" * 50
    scene.hears("PermissionRequest", id="r1", cwd=f"/w/{evil}", tool_name=evil, tool_input={"command": evil})
    found = notice(scene.still_waits("r1", 10.0))
    assert not set("\n\u202e\x1b") & set(found.title + found.message)
    assert len(found.title) < 200


def test_many_requests_make_a_short_message() -> None:
    scene = asked(PHONE, *(f"r{n}" for n in range(9))).still_waits("r0", 10.0)
    lines = notice(scene).message.splitlines()
    assert (len(lines), lines[-1]) == (6, "… and 4 more")
    assert len(notice(scene).requests) == 9


@pytest.mark.parametrize(
    ("text", "quiet", "loud"),
    [
        ("22:00-07:00", [1320, 0, 419], [420, 1319]),
        ("12:00-13:00, 22:00-24:00", [720, 779, 1439], [0, 780, 1319]),
        ("8:30-8:30", [0, 510, 1439], []),
        ("", [], [0, 720]),
    ],
)
def test_quiet_hours_are_parts_of_the_day(text: str, quiet: list[int], loud: list[int]) -> None:
    policy = Policy(quiet_hours=read_hours(text))
    assert all(is_quiet(policy, minute) for minute in quiet)
    assert not any(is_quiet(policy, minute) for minute in loud)


@pytest.mark.parametrize("text", ["22-7", "25:00-07:00", "22:00-07:60", "22:00-24:01", "night", "22:00–07:00"])
def test_what_is_no_part_of_the_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="parts of the day"):
        read_hours(text)


actions = st.dictionaries(st.sampled_from(LEVELS), st.sampled_from(["hold", "deny", "pass"]))
policies = st.builds(
    Policy,
    after_seconds=st.floats(1, 500),
    by_risk=actions,
    quiet_by_risk=actions,
    quiet_hours=st.sampled_from([(), NIGHT]),
    channels=st.sampled_from([(), ("push",)]),
    grace_seconds=st.floats(0, 500),
    min_risk=st.sampled_from(LEVELS),
    quiet_notify=st.sampled_from(["none", "critical", "all"]),
)


def follow(scene: Scene, clock: str) -> tuple[float | None, float | None]:
    """Look when it is asked for, many times; gives when a person was told and when the request ended."""
    waited = 0.0
    times: dict[str, float] = {}
    for _ in range(20):
        waited += sum(e.seconds for e in scene.last.effects if isinstance(e, LookAfter))
        scene.still_waits("r1", waited, clock)
        times |= {event.kind: waited for event in scene.last.events}
    return times.get("request.escalated"), times.get("permission.decision")


def about(seconds: float) -> Any:
    return pytest.approx(seconds, abs=0.2)


@pytest.mark.law("D9")
@given(policies, st.sampled_from(["Read", "Edit", "Bash"]), st.sampled_from(["12:00", "23:00"]))
def test_a_policy_takes_effect_when_it_is_due_by_the_time_waited(policy: Policy, tool: str, clock: str) -> None:
    """Whatever the clock of the day says, it only chooses the policy; how long is counted by the wait alone."""
    scene = Scene(unattended=policy).hears("PermissionRequest", id="r1", tool_name=tool, tool_input={})
    level = level_of(scene.request("r1"), scene.session, scene.state.settings)
    quiet = clock == "23:00" and policy.quiet_hours != ()
    told_at, ended_at = follow(scene, clock)
    ends = ruling(policy, level, quiet=quiet).action != "hold"
    due = max(policy.grace_seconds, 1.0)
    tells = bothers(policy, level, quiet=quiet) and not (ends and policy.after_seconds <= due)
    assert ended_at == (about(policy.after_seconds) if ends else None)
    assert told_at == (about(due) if tells else None)
    assert (ended_at or policy.after_seconds) >= policy.after_seconds
    assert (told_at or due) >= due


def test_nothing_is_looked_at_when_nothing_can_come_of_it() -> None:
    assert next_look(Policy(by_risk={"high": "deny"}), "low") is None
    assert next_look(PHONE, "low", 10.0, told=True) is None
