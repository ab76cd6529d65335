"""Properties of the whole core, over random stories of agents and people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import HOOKS, read_hook, write_answer
from quarterdeck.core.engine.fold import fold
from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    Answer,
    CreateToken,
    Deadline,
    Decide,
    DecisionRefused,
    ExtensionChanged,
    Heard,
    HolderGone,
    Input,
    InputRefused,
    Notify,
    NotifyFailed,
    ProcessGone,
    ProcessSeen,
    Remember,
    RemoveRule,
    Restarted,
    RevokeToken,
    Said,
    StillWaiting,
    Stopping,
    TimePassed,
    TranscriptRead,
    TrustProject,
    Unattended,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Ask, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.decisions import Answer as Answered
from quarterdeck.core.model.event_data import McpChangeData, RuleAddData, Spent
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import ProcessId, Settings, State
from quarterdeck.core.model.unattended_policy import Policy, is_quiet, ruling
from quarterdeck.core.reduce import Result, reduce
from quarterdeck.core.text.titles import body_of, title_of, ui_of
from quarterdeck.wire import read_event, write_json

SESSIONS = ("s1", "s2")
TOOLS = ("Bash", "AskUserQuestion", "ExitPlanMode", "TodoWrite", "TaskUpdate")

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
texts = st.sampled_from(["", "go", "<task-notification>x", "completed"])
todos = st.lists(
    st.fixed_dictionaries({"content": st.sampled_from("ab"), "status": st.sampled_from(["pending", "completed"])}),
    max_size=2,
)
tool_inputs = st.fixed_dictionaries({"command": st.sampled_from(["ls", "rm"])}) | st.fixed_dictionaries(
    {"todos": todos}
)
payloads: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"hook_event_name": st.sampled_from(sorted(HOOKS)), "session_id": st.sampled_from(SESSIONS)},
    optional={
        "tool_name": st.sampled_from(TOOLS),
        "tool_input": tool_inputs,
        "tool_use_id": st.sampled_from(["t1", "t2"]),
        "agent_id": st.sampled_from(["a1"]),
        "prompt": texts,
        "source": st.sampled_from(["startup", "resume", "compact", "clear"]),
        "reason": st.sampled_from(["clear", "other"]),
        "notification_type": st.sampled_from(["idle_prompt", "permission_prompt"]),
        "background_tasks": st.just([{"status": "running"}]),
        "tool_calls": st.just([{"tool_name": "Bash", "tool_use_id": "t1"}]),
        "permission_mode": st.sampled_from(["default", "bypassPermissions"]),
        "task_id": st.sampled_from(["1", "2"]),
    },
)
wild_payloads: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["tool_name", "tool_input", "prompt", "session_id", "tool_calls"]), anything
)
decisions: st.SearchStrategy[Decision] = st.sampled_from(
    [Allow(), Allow(updated_input={"command": "x"}), Deny("no"), Deny("stop", interrupt=True), NoOpinion(), Block("b")]
)

actions = st.dictionaries(st.sampled_from(LEVELS), st.sampled_from(["hold", "deny", "pass"]))
policies = st.just(Policy()) | st.builds(
    Policy,
    after_seconds=st.sampled_from([5.0, 300.0]),
    by_risk=actions,
    quiet_by_risk=actions,
    quiet_hours=st.sampled_from([(), ((1320, 420),), ((0, 60), (720, 780))]),
    channels=st.sampled_from([(), ("desktop",), ("webhook", "push")]),
    min_risk=st.sampled_from(LEVELS),
    quiet_notify=st.sampled_from(["none", "critical", "all"]),
    include_input=st.booleans(),
)
processes = st.sampled_from([ProcessId(7, "100"), ProcessId(7, "200")])


class Story:
    """Plays random inputs and keeps everything that came out."""

    def __init__(self, hold: str, hold_stop: bool, unattended: Policy) -> None:
        settled = Settings(hold=hold, hold_stop=hold_stop, unattended=unattended)
        self.first = State(runner_id="r", settings=settled)
        self.state = self.first
        self.events: list[FeedEvent] = []
        self.heard: list[str] = []
        self.answers: dict[str, list[Decision]] = {}
        self.results: list[tuple[Input, State, Result]] = []

    def play(self, told: Input) -> None:
        before, result = self.state, reduce(self.state, told)
        self.state = result.state
        self.events += result.events
        self.results.append((told, before, result))
        if isinstance(told, Heard):
            self.heard.append(told.event.id)
        for effect in result.effects:
            if isinstance(effect, Answer):
                self.answers.setdefault(effect.event_id, []).append(effect.decision)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    story = Story(draw(st.sampled_from(["auto", "always", "never"])), draw(st.booleans()), draw(policies))
    for n in range(draw(st.integers(0, 25))):
        story.play(draw_input(draw, story, n))
    return story


def draw_input(draw: st.DrawFn, story: Story, n: int) -> Input:
    at = draw(st.floats(-1e9, 1e9))
    request_id = draw(st.sampled_from([*story.state.requests, "none"]))
    kind = draw(
        st.sampled_from(
            ["heard"] * 6
            + ["wild", "decide", "decide", "deadline", "gone", "process", "restart", "alone", "refused"]
            + ["token", "revoke", "ended", "time", "descendant", "waits", "waits", "unreached"]
            + ["rule", "rule", "unrule", "trust", "extend"]
            + ["read", "read"]
        )
    )
    if kind == "read":
        return draw_read(draw, story, at)
    if kind in ("heard", "wild", "refused"):
        payload = draw(payloads)
        if kind == "wild":
            payload = {**payload, **draw(wild_payloads)}
        event = read_hook(payload, event_id=f"e{n}", at=at, entrypoint=draw(st.sampled_from(["", "cli"])))
        if kind == "refused":
            return InputRefused(event=event, error="twice")
        return Heard(event=event, attended=draw(st.booleans()))
    if kind == "decide":
        known = story.state.requests.get(request_id)
        digest = (
            known.digest
            if known and draw(st.booleans())
            else draw(st.sampled_from([known.digest if known else "", "x"]))
        )
        remember = draw(st.none() | remembered(f"m{n}"))
        decision = draw(decisions)
        return Decide(request_id=request_id, decision=decision, digest=digest, by="ann", at=at, remember=remember)
    if kind == "rule":
        made = tuple(draw(rules(f"r{n}{part}")) for part in ("", *"bc"[: draw(st.integers(0, 2))]))
        return AddRule(rule=made[0], by="ann", at=at) if len(made) == 1 else AddRules(rules=made, by="ann", at=at)
    others: dict[str, Input] = {
        "deadline": Deadline(request_id=request_id, at=at),
        "gone": HolderGone(request_id=request_id, at=at),
        "process": ProcessSeen(
            session_id="s1",
            status=draw(st.sampled_from(["", "idle", "busy", "shell", "waiting", "stale"])),
            waiting_for=draw(st.sampled_from([None, "permission prompt", "dialog open"])),
            process=draw(processes),
            changed_at=draw(st.sampled_from([at - 2, at, at + 2, -1e10])),
            answered=draw(st.sampled_from([(), ("e0", "e1", "e2")])),
            at=at,
        ),
        "ended": ProcessGone(session_id=draw(st.sampled_from(SESSIONS)), process=draw(processes), at=at),
        "time": TimePassed(at=at),
        "descendant": DecisionRefused(wanted="allow", by="owner", reason="it descends", request_id=request_id, at=at),
        "restart": Restarted(at=at, settings=draw(st.dictionaries(st.sampled_from("ab"), st.sampled_from("12")))),
        "token": CreateToken(token_id=f"t{n % 3}", name="n", scopes=("observe",), verifier=f"v{n}", by="ann", at=at),
        "revoke": RevokeToken(token_id=f"t{n % 3}", by="ann", at=at),
        "alone": Unattended(at=at),
        "waits": StillWaiting(
            request_id=request_id, waited=draw(st.floats(0, 1e6)), minute=draw(st.integers(0, 1439)), at=at
        ),
        "unreached": NotifyFailed(channel="push", request_ids=(request_id,), error="gone", at=at),
        "unrule": RemoveRule(rule_id=draw(st.sampled_from([*story.state.rules, "none"])), by="ann", at=at),
        "extend": ExtensionChanged(
            change=McpChangeData(action="add", name="s", scope="user", by="ann", outcome="failed"), at=at
        ),
        "trust": TrustProject(path="/w", trust=draw(st.sampled_from(["none", "rules", "full"])), by="ann", at=at),
    }
    return others[kind]


def rules(rule_id: str) -> st.SearchStrategy[Rule]:
    return st.builds(
        Rule,
        rule_id=st.just(rule_id),
        effect=st.sampled_from(["allow", "deny", "ask", "alow"]),
        pattern=st.sampled_from(["Bash", "Bash(ls:*)", "Bash(rm:*)", "TodoWrite", "Bash(", "AskUserQuestion"]),
        scope=st.sampled_from(["once", "session", "user"]),
        scope_id=st.sampled_from([None, "s1"]),
        created_at=st.just(0.0),
        created_by=st.just("ann"),
        expires_at=st.none() | st.floats(-1e9, 1e9),
    )


def remembered(rule_id: str) -> st.SearchStrategy[Remember]:
    return st.builds(
        Remember,
        rule_id=st.just(rule_id),
        scope=st.sampled_from(["once", "session", "project", "user"]),
        pattern=st.sampled_from([None, "Bash(ls:*)", "Bash"]),
    )


messages = st.builds(
    Said,
    spent=st.builds(
        Spent,
        message_id=st.sampled_from(["m1", "m2", "m3"]),
        model=st.sampled_from(["", "claude-opus-4-5"]),
        input_tokens=st.integers(0, 10**12),
        cost_usd=st.none() | st.floats(0, 1e6),
        tools=st.integers(0, 3),
        said=st.integers(0, 1),
    ),
    text=st.sampled_from(["", "well\nthen"]),
    at=st.floats(0, 1e9),
    agent_id=st.sampled_from([None, "a1"]),
)


def draw_read(draw: Callable[..., Any], story: Story, at: float) -> TranscriptRead:
    """A part of a transcript that mostly follows on what was read before."""
    session_id, agent_id = draw(st.sampled_from(SESSIONS)), draw(st.sampled_from([None, "a1"]))
    known = story.state.sessions.get(session_id) or story.state.ended.get(session_id)
    scroll = known.transcript.scrolls.get(agent_id or "") if known else None
    start = draw(st.sampled_from([scroll.offset if scroll else 0, 7]))
    return TranscriptRead(
        session_id=session_id,
        at=at,
        agent_id=agent_id,
        start=start,
        offset=draw(st.integers(0, 2**40)),
        file_id=draw(st.integers(0, 2)),
        afresh=draw(st.booleans()),
        said=tuple(draw(st.lists(messages, max_size=3))),
        prompts=draw(st.integers(0, 2)),
        context_tokens=draw(st.none() | st.integers(0, 10**6)),
        title=draw(st.none() | st.text(max_size=5)),
        titled_by_user=draw(st.booleans()),
        reported_cost_usd=draw(st.none() | st.floats(0, 100)),
        error=draw(st.none() | st.just("overloaded")),
        malformed=draw(st.integers(0, 2)),
        missing=tuple(draw(st.lists(st.sampled_from(["a", "b"]), max_size=2))),
        summary=draw(st.sampled_from(["", "", "end", "compact"])),
    )


@pytest.mark.law("E13")
@given(stories())
def test_folding_the_feed_gives_the_same_state(story: Story) -> None:
    assert fold(story.first, story.events) == story.state


@pytest.mark.law("E13")
@given(stories(), st.data())
def test_folding_from_a_snapshot_gives_the_same_state(story: Story, data: st.DataObject) -> None:
    middle = data.draw(st.integers(0, len(story.events)))
    stored = [read_event(write_json(event)) for event in story.events]
    assert fold(fold(story.first, stored[:middle]), stored[middle:]) == story.state


@pytest.mark.law("D2")
@given(stories())
def test_every_agent_that_waits_is_answered_exactly_once(story: Story) -> None:
    story.play(Stopping(at=0.0))
    assert {event_id: len(told) for event_id, told in story.answers.items()} == dict.fromkeys(story.heard, 1)


@pytest.mark.law("D1")
@given(stories())
def test_nothing_becomes_an_allow_but_an_explicit_allow_of_what_was_shown(story: Story) -> None:
    for told, before, result in story.results:
        for effect in result.effects:
            if isinstance(effect, Answer) and isinstance(effect.decision, Allow):
                decided = next(
                    e.data
                    for e in result.events
                    if e.kind.endswith(".decision") and e.data.request_id == effect.event_id
                )
                if decided.source == "rule":
                    allowing = {k for k, rule in known_rules(before, result).items() if rule.effect == "allow"}
                    assert decided.rule_ids
                    assert set(decided.rule_ids) <= allowing
                    continue
                assert isinstance(told, Decide)
                assert told.decision == effect.decision
                request = before.requests[effect.event_id]
                assert (request.status, request.digest) == ("pending", told.digest)


def known_rules(before: State, result: Result) -> dict[str, RuleAddData | Rule]:
    added = {e.data.rule_id: e.data for e in result.events if e.kind == "rule.add"}
    return {**before.rules, **added}


@pytest.mark.law("D12")
@given(stories())
def test_what_an_agent_is_told_is_recorded_in_the_same_step(story: Story) -> None:
    for _told, _before, result in story.results:
        decided = {e.data.request_id for e in result.events if e.kind.endswith(".decision")}
        spoken = {e.event_id for e in result.effects if isinstance(e, Answer) and not isinstance(e.decision, NoOpinion)}
        assert spoken <= decided


@pytest.mark.law("D2")
@given(stories())
def test_time_denies_only_what_a_policy_of_the_hour_denies(story: Story) -> None:
    policy = story.first.settings.unattended
    for told, _before, result in story.results:
        timed = [e.data for e in result.events if e.kind.endswith(".decision") and e.data.source == "timeout"]
        for data in timed:
            if data.decision_type != "no_opinion":
                assert isinstance(told, StillWaiting)
                assert data.decision_type == "deny"
                assert told.waited >= policy.after_seconds
                rulings = [ruling(policy, level, quiet=is_quiet(policy, told.minute)) for level in LEVELS]
                assert ("deny", data.by) in [(r.action, r.setting) for r in rulings]
                assert data.by in data.message


@given(stories())
def test_nobody_is_told_twice_of_a_request_or_of_one_that_is_over(story: Story) -> None:
    told: list[str] = []
    for _input, before, result in story.results:
        ids = [one.request_id for e in result.effects if isinstance(e, Notify) for one in e.notice.requests]
        assert all(before.requests[request_id].status == "pending" for request_id in ids)
        assert ids == [e.data.request_id for e in result.events if e.kind == "request.escalated"]
        told += ids
    assert len(told) == len(set(told))


@given(stories())
def test_only_agents_and_the_closing_of_their_requests_change_an_agent_state(story: Story) -> None:
    for told, before, result in story.results:
        closes = any(e.kind.endswith((".decision", "session.state", "session.end")) for e in result.events)
        if not isinstance(told, Heard) and not closes:
            assert {k: s.agent_state for k, s in before.sessions.items()} == {
                k: s.agent_state for k, s in result.state.sessions.items() if k in before.sessions
            }


@pytest.mark.law("S11")
@given(stories())
def test_a_state_has_a_source_and_is_never_younger_than_what_was_last_heard(story: Story) -> None:
    for session in [*story.state.sessions.values(), *story.state.ended.values()]:
        times = {e.at for e in story.events if e.session_id == session.session_id}
        assert session.state_source in ("hooks", "process")
        assert session.state_at in times or (session.state_at, session.agent_state) == (0.0, AgentState.UNKNOWN)


@pytest.mark.law("S3")
@given(stories())
def test_only_the_very_process_that_was_seen_ends_a_session(story: Story) -> None:
    for told, before, result in story.results:
        if isinstance(told, ProcessGone) and result.events:
            assert before.sessions[told.session_id].process == told.process


@given(stories())
def test_reading_a_transcript_changes_no_state_opens_no_run_and_answers_nobody(story: Story) -> None:
    for told, before, result in story.results:
        if isinstance(told, TranscriptRead):
            assert not result.effects
            assert result.state.requests == before.requests
            for old, new in ((before.sessions, result.state.sessions), (before.ended, result.state.ended)):
                assert {k: (s.agent_state, s.state_source, s.runs, s.waiting) for k, s in old.items()} == {
                    k: (s.agent_state, s.state_source, s.runs, s.waiting) for k, s in new.items()
                }


@given(stories(), st.data())
def test_the_same_part_of_a_transcript_read_twice_is_recorded_once(story: Story, data: st.DataObject) -> None:
    told = draw_read(data.draw, story, 0.0)
    once = reduce(story.state, told).state
    again = reduce(once, replace(told, afresh=False, summary=""))
    assert told.offset == told.start or told.session_id not in {**once.sessions, **once.ended} or not again.events


@pytest.mark.law("E2")
@given(stories())
def test_numbers_have_no_gap_and_no_repeat(story: Story) -> None:
    assert [e.seq_no for e in story.events] == list(range(1, len(story.events) + 1))
    assert story.state.seq_no == len(story.events)
    runs: dict[str, list[int]] = {}
    for event in story.events:
        assert event.event_id == f"{event.run_id}:E{event.seq}"
        runs.setdefault(event.run_id, []).append(event.seq)
    assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in runs.values())


@given(stories())
def test_every_decision_points_to_its_request_and_every_wait_is_on_the_desk(story: Story) -> None:
    ids = {e.event_id: e for e in story.events}
    for event in story.events:
        if event.kind.endswith(".decision"):
            assert event.cause is not None
            assert ids[event.cause.parent_event_id or ""].data.request_id == event.data.request_id
    for session in story.state.sessions.values():
        pending = {r.request_id for r in story.state.requests.values() if r.status == "pending"}
        assert set(session.waiting) <= pending


@given(stories())
def test_every_event_can_be_shown(story: Story) -> None:
    for event in story.events:
        assert "\n" not in title_of(event)
        assert ui_of(event) is not None
        assert body_of(event) != ""


@given(anything, st.text(max_size=10), st.text(max_size=10))
@settings(max_examples=300)
def test_no_payload_makes_a_reader_raise(payload: Any, entrypoint: str, tag: str) -> None:
    event = read_hook(payload, event_id="e", at=0.0, entrypoint=entrypoint, tag=tag)
    assert isinstance(event.payload, dict)
    for hook in HOOKS:
        wild = {**event.payload, "hook_event_name": hook} if isinstance(payload, dict) else payload
        reduce(State(runner_id="r"), Heard(event=read_hook(wild, event_id="e", at=0.0), attended=True))


@pytest.mark.law("D1")
@given(
    st.sampled_from([*HOOKS, "Unknown"]), st.sampled_from([NoOpinion(), NoOpinion(reason="x"), Ask(), Ask(reason="y")])
)
def test_no_opinion_is_never_an_allow(hook: str, decision: Decision) -> None:
    answer = write_answer(hook, "Bash", {}, decision)
    assert answer is None or answer["hookSpecificOutput"]["permissionDecision"] == "ask"


@pytest.mark.law("D1")
@given(st.sampled_from([*HOOKS, "Unknown"]), st.sampled_from([Deny("no"), Block("no")]), st.sampled_from(TOOLS))
def test_a_refusal_is_never_an_allow(hook: str, decision: Decision, tool: str) -> None:
    assert "allow" not in str(write_answer(hook, tool, {}, decision))


def test_answers_are_shaped_for_the_event_they_answer() -> None:
    for hook in HOOKS:
        for decision in (Allow(), Deny("d"), Block("b"), Answered({"q": "a"}), Ask(), NoOpinion()):
            answer = write_answer(hook, "Bash", {}, decision) or {}
            assert answer.get("hookSpecificOutput", {}).get("hookEventName", hook) == hook
