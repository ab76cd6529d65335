"""Properties of the whole core, over random stories of agents and people."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import HOOKS, read_hook, write_answer
from quarterdeck.core.deck.keys import is_current, key_views
from quarterdeck.core.engine.deck_messages import PressKey
from quarterdeck.core.engine.fold import fold
from quarterdeck.core.engine.messages import (
    DaemonStopping,
    Decide,
    HookReceived,
    Input,
    Notify,
    ProcessGone,
    SendAnswer,
    StillWaiting,
    TranscriptRead,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Ask, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.decisions import Answer as Answered
from quarterdeck.core.model.event_data.admin_data import RuleAddData
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import State
from quarterdeck.core.model.unattended_policy import is_quiet, policy_action
from quarterdeck.core.reduce import HANDLERS, Result, reduce
from quarterdeck.core.text.titles import body_of, title_of, ui_of
from quarterdeck.wire import read_event, write_json
from tests.support.examples import examples
from tests.support.random_story import TOOLS, Story, anything, draw_read, stories


def test_every_type_of_input_has_exactly_one_handler() -> None:
    inputs = get_args(Input)
    assert len(inputs) > 30
    assert Counter(kind for kind, _ in HANDLERS) == Counter(inputs)


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
    story.play(DaemonStopping(at=0.0))
    assert {event_id: len(answers) for event_id, answers in story.answers.items()} == dict.fromkeys(story.received, 1)


@pytest.mark.law("D1")
@given(stories())
def test_only_an_explicit_allow_of_what_was_shown_becomes_an_allow(story: Story) -> None:
    for message, before, result in story.results:
        for effect in result.effects:
            if isinstance(effect, SendAnswer) and isinstance(effect.decision, Allow):
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
                request = before.requests[effect.event_id]
                assert request.status == "pending"
                if isinstance(message, PressKey):
                    key = key_views(before, message.layout, message.at)[message.slot or 0]
                    assert (key.action, key.digest) == ("allow", request.digest)
                    assert is_current(key, message.revision or "")
                else:
                    assert isinstance(message, Decide)
                    assert message.decision == effect.decision
                    assert message.digest == request.digest


def known_rules(before: State, result: Result) -> dict[str, RuleAddData | Rule]:
    added = {e.data.rule_id: e.data for e in result.events if e.kind == "rule.add"}
    return {**before.rules, **added}


@pytest.mark.law("D12")
@given(stories())
def test_every_answer_is_recorded_in_the_same_step(story: Story) -> None:
    for _message, _before, result in story.results:
        decided = {e.data.request_id for e in result.events if e.kind.endswith(".decision")}
        answered = {
            e.event_id for e in result.effects if isinstance(e, SendAnswer) and not isinstance(e.decision, NoOpinion)
        }
        assert answered <= decided


@pytest.mark.law("D2")
@given(stories())
def test_time_denies_only_by_the_policy_of_the_hour(story: Story) -> None:
    policy = story.first.settings.unattended
    for message, _before, result in story.results:
        timed = [e.data for e in result.events if e.kind.endswith(".decision") and e.data.source == "timeout"]
        for data in timed:
            if data.decision_type != "no_opinion":
                assert isinstance(message, StillWaiting)
                assert data.decision_type == "deny"
                assert message.waited >= policy.after_seconds
                rulings = [policy_action(policy, level, quiet=is_quiet(policy, message.minute)) for level in LEVELS]
                assert ("deny", data.by) in [(r.action, r.setting) for r in rulings]
                assert data.by in data.message


@given(stories())
def test_a_request_is_notified_at_most_once_and_only_while_it_waits(story: Story) -> None:
    notified: list[str] = []
    for _input, before, result in story.results:
        ids = [one.request_id for e in result.effects if isinstance(e, Notify) for one in e.notice.requests]
        assert all(before.requests[request_id].status == "pending" for request_id in ids)
        assert ids == [e.data.request_id for e in result.events if e.kind == "request.escalated"]
        notified += ids
    assert len(notified) == len(set(notified))


@given(stories())
def test_only_agents_and_the_closing_of_their_requests_change_an_agent_state(story: Story) -> None:
    for message, before, result in story.results:
        closes = any(e.kind.endswith((".decision", "session.state", "session.end")) for e in result.events)
        if not isinstance(message, HookReceived) and not closes:
            assert {k: s.agent_state for k, s in before.sessions.items()} == {
                k: s.agent_state for k, s in result.state.sessions.items() if k in before.sessions
            }


@pytest.mark.law("S11")
@given(stories())
def test_a_state_has_a_source_and_is_never_newer_than_the_last_event(story: Story) -> None:
    for session in [*story.state.sessions.values(), *story.state.ended.values()]:
        times = {e.at for e in story.events if e.session_id == session.session_id}
        assert session.state_source in ("hooks", "process")
        assert session.state_at in times or (session.state_at, session.agent_state) == (0.0, AgentState.UNKNOWN)


@pytest.mark.law("S3")
@given(stories())
def test_only_the_process_that_was_seen_ends_a_session(story: Story) -> None:
    for message, before, result in story.results:
        if isinstance(message, ProcessGone) and result.events:
            assert before.sessions[message.session_id].process == message.process


@given(stories())
def test_reading_a_transcript_changes_no_state_opens_no_run_and_answers_no_request(story: Story) -> None:
    for message, before, result in story.results:
        if isinstance(message, TranscriptRead):
            assert not result.effects
            assert result.state.requests == before.requests
            for old, new in ((before.sessions, result.state.sessions), (before.ended, result.state.ended)):
                assert {k: (s.agent_state, s.state_source, s.runs, s.waiting) for k, s in old.items()} == {
                    k: (s.agent_state, s.state_source, s.runs, s.waiting) for k, s in new.items()
                }


@given(stories(), st.data())
def test_the_same_part_of_a_transcript_read_twice_is_recorded_once(story: Story, data: st.DataObject) -> None:
    message = draw_read(data.draw, story, 0.0)
    once = reduce(story.state, message).state
    again = reduce(once, replace(message, is_restart=False, summary=""))
    assert (
        message.offset == message.start or message.session_id not in {**once.sessions, **once.ended} or not again.events
    )


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
def test_every_decision_points_to_its_request_and_every_held_request_is_pending(story: Story) -> None:
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
@examples(3)
def test_no_payload_makes_a_reader_raise(payload: Any, entrypoint: str, tag: str) -> None:
    event = read_hook(payload, event_id="e", at=0.0, entrypoint=entrypoint, tag=tag)
    assert isinstance(event.payload, dict)
    for hook in HOOKS:
        wild = {**event.payload, "hook_event_name": hook} if isinstance(payload, dict) else payload
        reduce(State(runner_id="r"), HookReceived(event=read_hook(wild, event_id="e", at=0.0), attended=True))


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


@given(stories())
def test_a_cause_is_an_earlier_event_so_that_causes_form_no_ring(story: Story) -> None:
    numbers = {event.event_id: event.seq_no for event in story.events}
    for event in story.events:
        parent = event.cause.parent_event_id if event.cause else None
        assert parent is None or numbers[parent] < event.seq_no
