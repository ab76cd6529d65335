"""Unanswered requests: their notification, the policy that ends them, and quiet hours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.engine.messages import CheckAfter, DaemonRestarted, Notify, NotifyFailed, RiskAssessed
from quarterdeck.core.handlers.escalation import RISK_SECONDS
from quarterdeck.core.model.decisions import Allow, Deny, NoOpinion, Source
from quarterdeck.core.model.risk_levels import LEVELS, Risk
from quarterdeck.core.model.state import Capabilities
from quarterdeck.core.model.unattended_policy import (
    RECHECK_SECONDS,
    UnattendedPolicy,
    is_quiet,
    next_check,
    policy_action,
    read_hours,
    should_notify,
)
from quarterdeck.core.risk.quick_risk import risk_level
from quarterdeck.core.text.notifications import Notice
from tests.support.scene import Scene, bash

NIGHT = ((22 * 60, 7 * 60),)
PHONE = UnattendedPolicy(channels=("push",))
NIGHT_WATCH = UnattendedPolicy(
    after_seconds=600.0,
    by_risk={"high": "hold"},
    quiet_by_risk={"high": "deny"},
    quiet_hours=NIGHT,
    channels=("push",),
)


def with_requests(policy: UnattendedPolicy, *ids: str, **settings: Any) -> Scene:
    """A session with these requests; the last step is the last request."""
    scene = Scene(unattended=policy, **settings).receives("UserPromptSubmit", prompt="go")
    for request_id in ids or ("r1",):
        scene.receives("PermissionRequest", id=request_id, **bash(f"sudo rm {request_id}"))
    return scene


def notice(scene: Scene) -> Notice:
    [found] = [e.notice for e in scene.last.effects if isinstance(e, Notify)]
    return found


def with_unassessed_request(policy: UnattendedPolicy, command: str = "ls") -> Scene:
    """A session with a request of which only the quick risk is known."""
    scene = Scene(assesses=False, unattended=policy).receives("UserPromptSubmit", prompt="go")
    return scene.receives("PermissionRequest", id="r1", **bash(command))


NEVER_CRITICAL = UnattendedPolicy(after_seconds=5.0, by_risk={"low": "pass", "critical": "deny"})


def test_the_full_risk_decides_what_the_policy_does() -> None:
    scene = with_unassessed_request(NEVER_CRITICAL)
    scene.assessed("r1", "critical", "touches production").records("request.assessed").checks_after(0.0)
    scene.still_waits("r1", 0.1).records().checks_after(4.9).still_waits("r1", 5.0).records("permission.decision")
    data = scene.request("r1").decision
    assert data is not None
    assert (data.decision_type, data.by) == ("deny", "unattended.critical")
    assert scene.request("r1").risk == Risk("critical", ["touches production"])
    scene.folds()


def test_a_notification_names_the_full_risk_and_min_risk_is_about_it() -> None:
    scene = with_unassessed_request(UnattendedPolicy(channels=("push",), min_risk="critical")).checks_after()
    scene.assessed("r1", "critical").checks_after(0.0)
    scene.still_waits("r1", 10.0).records("request.escalated").notifies("r1").folds()
    assert (notice(scene).title, notice(scene).risk) == ("app waits for you: Bash (critical risk)", "critical")
    assert scene.last.events[0].data.risk == "critical"


def test_a_full_risk_below_the_quick_one_counts_too() -> None:
    scene = with_unassessed_request(UnattendedPolicy(channels=("push",), min_risk="high"), "ls " * 400)
    scene.checks_after(10.0).assessed("r1", "low").checks_after()
    scene.still_waits("r1", 10.0).does_nothing()


def test_a_policy_and_a_notification_wait_for_the_full_risk_and_not_forever() -> None:
    policy = UnattendedPolicy(after_seconds=5.0, by_risk={"low": "pass", "critical": "deny"}, channels=("push",))
    scene = with_unassessed_request(policy).checks_after(5.0)
    scene.still_waits("r1", 5.0).records().checks_after(RISK_SECONDS - 5.0)
    in_time = with_unassessed_request(policy).still_waits("r1", 5.0)
    in_time.assessed("r1", "critical").checks_after(0.0).still_waits("r1", 5.1).records("permission.decision")
    assert in_time.last.events[0].data.by == "unattended.critical"
    scene.still_waits("r1", RISK_SECONDS).records("permission.decision")
    assert scene.last.events[0].data.by == "unattended.low"


def test_a_full_risk_that_comes_after_the_policy_acted_is_recorded_and_changes_nothing_decided() -> None:
    scene = with_unassessed_request(NEVER_CRITICAL).still_waits("r1", RISK_SECONDS)
    decided = scene.request("r1")
    scene.assessed("r1", "critical", "touches production").records("request.assessed").checks_after().folds()
    assert scene.last.effects == []
    assert scene.request("r1") == replace(decided, risk=Risk("critical", ["touches production"]))


def test_a_request_without_its_full_risk_is_not_in_the_notification_of_another() -> None:
    scene = with_unassessed_request(PHONE).receives("PermissionRequest", id="r2", **bash("sudo ls"))
    scene.assessed("r1", "medium").still_waits("r1", 10.0).notifies("r1")
    scene.assessed("r2", "critical").still_waits("r2", 10.0).notifies("r2")


def test_a_restart_keeps_the_full_risk_and_a_later_one_only_raises_it() -> None:
    scene = with_unassessed_request(NEVER_CRITICAL).assessed("r1", "high", "once")
    scene.submits(DaemonRestarted(at=scene.clock)).receives("PermissionRequest", id="r1", **bash("ls"))
    assert scene.request("r1").risk == Risk("high", ["once"])
    scene.assessed("r1", "low").does_nothing().assessed("r1", "high", "twice").does_nothing()
    scene.assessed("r1", "critical").records("request.assessed").folds()
    scene.submits(DaemonRestarted(at=scene.clock)).receives("PermissionRequest", id="r1", **bash("another"))
    assert scene.request("r1").risk is None


def test_the_risk_of_another_input_is_not_recorded() -> None:
    scene = with_unassessed_request(NEVER_CRITICAL)
    scene.assessed("r1", "critical", digest="of another").does_nothing()
    scene.submits(RiskAssessed(request_id="gone", digest="d", risk=Risk("critical", []), at=1.0)).does_nothing()


def test_the_full_risk_is_recorded_without_a_policy_too() -> None:
    scene = with_unassessed_request(UnattendedPolicy()).assessed("r1", "medium", "uses the network")
    scene.records("request.assessed").checks_after().folds()
    [event] = scene.last.events
    assert (event.data.request_id, event.data.risk, event.data.reasons) == ("r1", "medium", ["uses the network"])
    assert event.cause is not None
    assert event.cause.parent_event_id == scene.request("r1").event_id


def test_without_a_setting_no_request_is_denied_or_notified() -> None:
    scene = with_requests(UnattendedPolicy()).holds("r1").checks_after()
    scene.still_waits("r1", 1e6).does_nothing()


def test_a_person_is_notified_once_after_the_grace() -> None:
    scene = with_requests(PHONE).checks_after(10.0)
    scene.still_waits("r1", 9.9).records().notifies()
    scene.still_waits("r1", 10.0).records("request.escalated").notifies("r1").holds("r1").checks_after()
    scene.still_waits("r1", 500.0).does_nothing().folds()
    assert (scene.request("r1").escalated, scene.request("r1").escalated_at) == (("push",), scene.clock - 1)


def test_an_answer_in_time_means_no_notification() -> None:
    scene = with_requests(PHONE).decides("r1", Allow())
    scene.still_waits("r1", 10.0).does_nothing()


def test_requests_of_one_moment_share_a_notification() -> None:
    scene = with_requests(PHONE, "r1", "r2", "r3").receives(
        "PermissionRequest", id="other", session="s2", **bash("sudo ls")
    )
    scene.decides("r2", Deny("no"))
    scene.still_waits("r1", 10.0).records(*["request.escalated"] * 3).notifies("r1", "r3", "other")
    assert notice(scene).title == "3 requests wait for you (highest risk: high)"
    assert {e.session_id for e in scene.last.events} == {"s1", "s2"}
    assert [e.data.request_count for e in scene.last.events] == [3, 3, 3]
    scene.still_waits("r3", 10.0).does_nothing().folds()


def test_a_grace_of_zero_still_waits_a_moment_for_other_requests() -> None:
    with_requests(UnattendedPolicy(channels=("desktop",), grace_seconds=0.0)).checks_after(1.0)


def test_a_request_below_min_risk_is_not_notified() -> None:
    scene = Scene(unattended=UnattendedPolicy(channels=("push",), min_risk="high"))
    scene.receives("PermissionRequest", id="r1", tool_name="Read", tool_input={"file_path": "/x"}).checks_after()
    scene.receives("PermissionRequest", id="r2", **bash("sudo rm x")).checks_after(10.0)
    scene.still_waits("r2", 10.0).notifies("r2")


def test_in_quiet_hours_notifications_wait_until_they_end() -> None:
    scene = with_requests(UnattendedPolicy(channels=("push",), quiet_hours=NIGHT), "r1", "r2")
    scene.still_waits("r1", 10.0, "23:15").records().checks_after(RECHECK_SECONDS)
    scene.still_waits("r1", 9000.0, "06:59").records().checks_after(RECHECK_SECONDS)
    scene.still_waits("r1", 9060.0, "07:00").notifies("r1", "r2").checks_after()


def test_in_quiet_hours_a_critical_request_may_be_notified() -> None:
    policy = UnattendedPolicy(channels=("push",), quiet_hours=NIGHT, quiet_notify="critical")
    assert [level for level in LEVELS if should_notify(policy, level, quiet=True)] == ["critical"]
    assert [level for level in LEVELS if should_notify(policy, level, quiet=False)] == list(LEVELS)


def test_a_request_is_denied_with_a_message_that_names_the_policy() -> None:
    scene = with_requests(UnattendedPolicy(by_risk={"high": "deny"})).checks_after(300.0)
    scene.still_waits("r1", 300.0).records("permission.decision")
    message = "Denied by Quarterdeck: nobody answered within 5 m, and the policy unattended.high: deny holds."
    scene.answers_with("r1", Deny(f"{message} A person has not seen this request."))
    data = scene.request("r1").decision
    assert data is not None
    assert (data.source, data.by, data.status) == (Source.TIMEOUT, "unattended.high", "decided")
    assert scene.request("r1").delivery == "sent"
    scene.decides("r1", Allow()).replies("already_decided").folds()


def test_a_tool_that_runs_despite_a_policys_deny_is_recorded() -> None:
    scene = Scene(unattended=UnattendedPolicy(by_risk={"high": "deny"})).receives(
        "PreToolUse", **bash("sudo rm x", "t1")
    )
    scene.receives("PermissionRequest", id="r1", **bash("sudo rm x")).still_waits("r1", 300.0)
    scene.receives("PostToolUse", **bash("sudo rm x", "t1"))
    assert scene.request("r1").delivery == "overridden"


def test_a_request_is_passed_to_the_terminal() -> None:
    scene = with_requests(UnattendedPolicy(by_risk={"high": "pass"}, after_seconds=30.0)).still_waits("r1", 30.0)
    scene.answers_with("r1", NoOpinion(reason="nobody answered within 30 s; the policy unattended.high: pass"))
    data = scene.request("r1").decision
    assert data is not None
    assert (data.source, data.by, data.status, data.still_asks) == (Source.TIMEOUT, "unattended.high", "expired", True)
    scene.folds()


def test_a_policy_never_blocks_a_stop() -> None:
    scene = Scene(unattended=UnattendedPolicy(by_risk={"low": "deny"}), hold_stop=True).receives(
        "UserPromptSubmit", prompt="go"
    )
    scene.receives("Stop", id="r1").holds("r1").checks_after(300.0)
    scene.still_waits("r1", 300.0).records("stop.decision", "run.end").stays_silent().folds()


def test_the_policy_is_that_of_the_hour_in_which_time_is_up() -> None:
    by_day = with_requests(NIGHT_WATCH).still_waits("r1", 10.0, "21:40").notifies("r1").checks_after(590.0)
    by_day.still_waits("r1", 600.0, "21:50").records().checks_after(RECHECK_SECONDS)
    by_day.still_waits("r1", 1200.0, "22:00").records("permission.decision")
    assert by_day.last.events[0].data.by == "unattended.quiet_high"


def test_a_request_that_comes_again_after_a_restart_is_not_notified_again() -> None:
    scene = with_requests(PHONE).still_waits("r1", 10.0).notifies("r1")
    scene.submits(DaemonRestarted(at=scene.clock)).receives("PermissionRequest", id="r1", **bash("sudo rm r1"))
    scene.holds("r1").checks_after().still_waits("r1", 10.0).does_nothing().folds()
    scene.submits(DaemonRestarted(at=scene.clock)).receives("PermissionRequest", id="r1", **bash("sudo rm another"))
    scene.checks_after(10.0).still_waits("r1", 10.0).notifies("r1")


def test_a_failed_notification_is_recorded() -> None:
    scene = with_requests(PHONE).still_waits("r1", 10.0)
    scene.submits(NotifyFailed(channel="push", request_ids=("r1",), error="it is away", at=1.0))
    scene.records("escalation.failed").folds()
    assert scene.last.events[0].data.request_ids == ["r1"]


@pytest.mark.law("A12")
def test_the_tools_input_leaves_the_machine_only_if_configured() -> None:
    quiet = notice(with_requests(PHONE).still_waits("r1", 10.0))
    assert (quiet.title, quiet.message) == ("app waits for you: Bash (high risk)", "app · Bash · high risk")
    assert "sudo" not in repr(quiet)
    detailed = notice(with_requests(UnattendedPolicy(channels=("push",), include_input=True)).still_waits("r1", 10.0))
    assert detailed.message == "app · Bash · high risk · sudo rm r1"


def test_the_agent_is_named_where_more_than_one_is_known() -> None:
    known = {name: Capabilities(label=name.title(), modes=(), permission_modes=()) for name in ("claude", "ferret")}
    scene = Scene(unattended=PHONE, capabilities=known)
    scene.receives("PermissionRequest", id="r1", cwd="/w/app", **bash("sudo rm r1")).still_waits("r1", 10.0)
    named = notice(scene)
    assert (named.title, named.message) == (
        "Claude in app waits for you: Bash (high risk)",
        "app · Claude · Bash · high risk",
    )
    assert [one.agent for one in named.requests] == ["claude"]


@pytest.mark.law("I6")
def test_hostile_names_stay_on_one_short_line() -> None:
    scene = Scene(unattended=UnattendedPolicy(channels=("push",), include_input=True))
    evil = "x\n\u202e\x1b[31m" * 50
    scene.receives("PermissionRequest", id="r1", cwd=f"/w/{evil}", tool_name=evil, tool_input={"command": evil})
    found = notice(scene.still_waits("r1", 10.0))
    assert not set("\n\u202e\x1b") & set(found.title + found.message)
    assert len(found.title) < 200


def test_many_requests_make_a_short_message() -> None:
    scene = with_requests(PHONE, *(f"r{n}" for n in range(9))).still_waits("r0", 10.0)
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
    policy = UnattendedPolicy(quiet_hours=read_hours(text))
    assert all(is_quiet(policy, minute) for minute in quiet)
    assert not any(is_quiet(policy, minute) for minute in loud)


@pytest.mark.parametrize("text", ["22-7", "25:00-07:00", "22:00-07:60", "22:00-24:01", "night", "22:00–07:00"])
def test_an_invalid_part_of_the_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="parts of the day"):
        read_hours(text)


actions = st.dictionaries(st.sampled_from(LEVELS), st.sampled_from(["hold", "deny", "pass"]))
policies = st.builds(
    UnattendedPolicy,
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
    """Run every scheduled check. Returns when a person was notified and when the request ended."""
    waited = 0.0
    times: dict[str, float] = {}
    for _ in range(20):
        waited += sum(e.seconds for e in scene.last.effects if isinstance(e, CheckAfter))
        scene.still_waits("r1", waited, clock)
        times |= {event.kind: waited for event in scene.last.events}
    return times.get("request.escalated"), times.get("permission.decision")


def about(seconds: float) -> Any:
    return pytest.approx(seconds, abs=0.2)


@pytest.mark.law("D9")
@given(policies, st.sampled_from(["Read", "Edit", "Bash"]), st.sampled_from(["12:00", "23:00"]))
def test_a_policy_takes_effect_when_it_is_due_by_the_time_waited(
    policy: UnattendedPolicy, tool: str, clock: str
) -> None:
    """The time of day only chooses the policy; the wait alone decides when it is due."""
    scene = Scene(unattended=policy).receives("PermissionRequest", id="r1", tool_name=tool, tool_input={})
    level = risk_level(scene.request("r1"), scene.session, scene.state.settings)
    quiet = clock == "23:00" and policy.quiet_hours != ()
    notified_at, ended_at = follow(scene, clock)
    ends = policy_action(policy, level, quiet=quiet).action != "hold"
    due = max(policy.grace_seconds, 1.0)
    tells = should_notify(policy, level, quiet=quiet) and not (ends and policy.after_seconds <= due)
    assert ended_at == (about(policy.after_seconds) if ends else None)
    assert notified_at == (about(due) if tells else None)
    assert (ended_at or policy.after_seconds) >= policy.after_seconds
    assert (notified_at or due) >= due


def test_no_check_is_scheduled_when_nothing_can_come_of_it() -> None:
    assert next_check(UnattendedPolicy(by_risk={"high": "deny"}), "low") is None
    assert next_check(PHONE, "low", 10.0, notified=True) is None
