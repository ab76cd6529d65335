"""Claude Code over its SDK: its messages, its flags and the answers to it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from claude_agent_sdk._internal.message_parser import parse_message
from claude_agent_sdk.types import Message, SystemMessage
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.agents.claude.sdk_messages import (
    NO_ANSWER,
    QUESTION,
    StreamItem,
    alternative_start,
    arguments,
    plain_change,
    read_message,
    start_error,
    write_permission,
    write_prompt,
)
from quarterdeck.core.engine.session_messages import AgentNote, StartSession, TurnEnded
from quarterdeck.core.model.decisions import Allow, Answer, Ask, Block, Decision, Deny, Grant, NoOpinion, PlanMode

AROUND = {"uuid": "u-1", "session_id": "s-1"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, **AROUND}
TIMES = {"duration_ms": 5, "duration_api_ms": 4}
TASK = {"task_id": "t", "description": "d"}
DONE = {"status": "completed", "output_file": "f", "summary": "s"}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}
ASSISTANT = {"id": "m-1", "model": "opus", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}


def system(subtype: str, **rest: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, **rest, **AROUND}


MESSAGES: dict[str, tuple[dict[str, Any], StreamItem | AgentNote | TurnEnded]] = {
    "UserMessage": (
        {"type": "user", "message": {"role": "user", "content": "hi"}, "parent_tool_use_id": "toolu_1", **AROUND},
        StreamItem("message", {"role": "user", "content": "hi", "uuid": "u-1", "parent_tool_use_id": "toolu_1"}),
    ),
    "AssistantMessage": (
        {"type": "assistant", "message": ASSISTANT, "parent_tool_use_id": None, **AROUND},
        StreamItem(
            "message",
            {
                "role": "assistant",
                "message_id": "m-1",
                "model": "opus",
                "content": [{"type": "text", "text": "Hello"}],
                "stop_reason": "end_turn",
                "uuid": "u-1",
            },
        ),
    ),
    "SystemMessage": (
        system("init", model="opus", tools=["Read"]),
        AgentNote(session_id="s-own", at=1.0, name="init", body={"model": "opus", "tools": ["Read"]}),
    ),
    "TaskStartedMessage": (
        system("task_started", **TASK),
        AgentNote(session_id="s-own", at=1.0, name="task_started", body=TASK),
    ),
    "TaskProgressMessage": (
        system("task_progress", **TASK, usage={}),
        StreamItem("progress", {"name": "task_progress", **TASK, "usage": {}}),
    ),
    "TaskNotificationMessage": (
        system("task_notification", **TASK, **DONE),
        AgentNote(session_id="s-own", at=1.0, name="task_notification", body={**TASK, **DONE}),
    ),
    "TaskUpdatedMessage": (
        system("task_updated", task_id="t", patch={"status": "completed"}),
        AgentNote(
            session_id="s-own",
            at=1.0,
            name="task_updated",
            body={"task_id": "t", "patch": {"status": "completed"}},
        ),
    ),
    "MirrorErrorMessage": (
        system("mirror_error", error="disk"),
        AgentNote(session_id="s-own", at=1.0, name="mirror_error", body={"error": "disk"}),
    ),
    "HookEventMessage": (
        system("hook_started", hook_event="SessionStart"),
        StreamItem("hook", {"name": "hook_started", "hook_event": "SessionStart"}),
    ),
    "ResultMessage": (
        {
            **RESULT,
            **TIMES,
            "stop_reason": "end_turn",
            "total_cost_usd": 0.5,
            "usage": {"input_tokens": 3},
            "modelUsage": {"opus": {"inputTokens": 3, "costUSD": 0.5}},
            "api_error_status": None,
        },
        TurnEnded(
            session_id="s-own",
            at=1.0,
            result={
                "subtype": "success",
                "is_error": False,
                "stop_reason": "end_turn",
                "num_turns": 1,
                **TIMES,
                "total_cost_usd": 0.5,
                "usage": {"input_tokens": 3},
                "model_usage": {"opus": {"input_tokens": 3, "cost_usd": 0.5}},
                **AROUND,
            },
        ),
    ),
    "StreamEvent": (
        {"type": "stream_event", "event": DELTA, "parent_tool_use_id": "toolu_1", **AROUND},
        StreamItem(
            "text",
            {
                "event": "content_block_delta",
                "parent_tool_use_id": "toolu_1",
                "index": 0,
                "delta": "text_delta",
                "text": "Hel",
            },
        ),
    ),
    "RateLimitEvent": (
        {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}, **AROUND},
        AgentNote(
            session_id="s-own",
            at=1.0,
            name="rate_limit_event",
            body={"rate_limit_info": {"status": "allowed_warning"}},
        ),
    ),
    "ConversationResetMessage": (
        {"type": "conversation_reset", "new_conversation_id": "c-2", **AROUND},
        AgentNote(session_id="s-own", at=1.0, name="conversation_reset", body={"new_conversation_id": "c-2"}),
    ),
}


def start(**fields: Any) -> StartSession:
    return StartSession(**{"session_id": "new", "mode": "sdk", "cwd": "/p", "by": "user", "at": 1.0, **fields})


def flags(started: StartSession, **fields: Any) -> set[str]:
    return set(arguments(started, **{"sources": ["user"], "tools": None, **fields}))


@pytest.mark.parametrize(("name", "raw", "read"), [(name, *pair) for name, pair in MESSAGES.items()])
def test_every_message_of_the_sdk_is_read(name: str, raw: dict[str, Any], read: object) -> None:
    assert type(parse_message(raw)).__name__ == name
    assert read_message(raw, "s-own", 1.0) == read


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"attempt": 2, "max_retries": 10, "error_status": 500}, "the API answered 500; retry 2 of 10"),
        ({"attempt": 1, "max_retries": 10, "error_status": None}, "the API did not answer; retry 1 of 10"),
        ({"attempt": "x"}, "the API did not answer"),
    ],
)
def test_a_retry_says_why_the_agent_waits(body: dict[str, Any], words: str) -> None:
    note = read_message(system("api_retry", **body), "s-own", 1.0)
    assert isinstance(note, AgentNote)
    assert note.retrying == words


def test_the_sdk_has_no_other_messages() -> None:
    known = {*get_args(Message), *SystemMessage.__subclasses__()}
    assert {kind.__name__ for kind in known} == MESSAGES.keys()


@pytest.mark.law("E7")
def test_an_unknown_message_becomes_a_note_of_its_content() -> None:
    assert parse_message({"type": "hologram", "text": "new"}) is None
    unknown = read_message({"type": "hologram", "text": "new"}, "s-own", 1.0)
    assert unknown == AgentNote(session_id="s-own", at=1.0, name="hologram", body={"text": "new"})


@pytest.mark.parametrize(
    ("event", "piece"),
    [
        ({"type": "message_start", "message": {"id": "m", "model": "opus"}}, {"message_id": "m", "model": "opus"}),
        (
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "tool_use", "name": "Bash", "id": "t"},
            },
            {"index": 1, "block": "tool_use", "name": "Bash", "id": "t"},
        ),
        (
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{"}},
            {"index": 1, "delta": "input_json_delta", "partial_json": "{"},
        ),
        (
            {"type": "content_block_delta", "index": 2, "delta": {"type": "thinking_delta", "thinking": "hm"}},
            {"index": 2, "delta": "thinking_delta", "thinking": "hm"},
        ),
        ({"type": "content_block_stop", "index": 1}, {"index": 1}),
        ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"stop_reason": "end_turn"}),
        ({"type": "message_stop"}, {}),
    ],
)
def test_the_pieces_of_a_message_are_streamed(event: dict[str, Any], piece: dict[str, Any]) -> None:
    read = read_message({"type": "stream_event", "event": event}, "s-own", 1.0)
    assert read == StreamItem("text", {"event": event["type"], **piece})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
names = st.sampled_from(sorted({key for raw, _ in MESSAGES.values() for key in raw} | {"errors", "modelUsage"}))
kinds = st.sampled_from(sorted({str(raw["type"]) for raw, _ in MESSAGES.values()}))
shaped = st.builds(
    lambda kind, rest: {"type": kind, **rest}, kinds, st.dictionaries(names.filter(lambda n: n != "type"), anything)
)


@pytest.mark.law("I4")
@given(anything | shaped)
def test_no_message_is_too_strange_to_be_read(raw: Any) -> None:
    read = read_message(raw, "s-own", 1.0)
    assert isinstance(read, StreamItem | AgentNote | TurnEnded)
    assert isinstance(start_error(raw), str)
    assert plain_change(raw) == plain_change(plain_change(raw))


def test_the_reason_why_an_agent_does_not_start_is_read() -> None:
    assert start_error({**RESULT, "errors": ["No conversation found"]}) == "No conversation found"
    assert start_error({"type": "user", "errors": ["x"]}) == ""


def test_a_new_session_has_the_chosen_id_and_a_resumed_one_keeps_its_own() -> None:
    assert "--session-id=new" in flags(start())
    resumed = flags(start(resume="old"))
    assert "--resume=old" in resumed
    assert not any(flag.startswith("--session-id") for flag in resumed)
    forked = flags(start(resume="old", fork=True, fork_at="u-1"))
    assert {"--resume=old", "--fork-session", "--session-id=new", "--resume-session-at=u-1"} <= forked


@pytest.mark.law("I5")
def test_no_choice_can_be_read_as_another_flag() -> None:
    made = flags(start(model="--settings={}", resume="--dangerously-skip-permissions"), settings="/s")
    assert {"--model=--settings={}", "--resume=--dangerously-skip-permissions", "--settings=/s"} <= made
    assert all(flag.startswith("--") for flag in made)


def test_tools_are_chosen_by_name_and_never_allowed_beforehand() -> None:
    assert f"--tools=Read,{QUESTION}" in flags(start(), tools=["Read"])
    assert f"--tools={QUESTION}" in flags(start(), tools=[QUESTION])
    every = flags(start(max_turns=3, permission_mode="plan"))
    assert {"--max-turns=3", "--permission-mode=plan", "--setting-sources=user"} <= every
    assert not any("tools" in flag.lower() for flag in every)


def test_a_prompt_alone_is_a_string_and_attachments_come_first() -> None:
    image = {"type": "image", "source": {}}
    assert write_prompt("/compact")["message"] == {"role": "user", "content": "/compact"}
    assert write_prompt("look", [image])["message"]["content"] == [image, {"type": "text", "text": "look"}]


ADDED = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
NULL = {**ADDED, "rules": [{"toolName": "Bash", "ruleContent": None}]}
QUESTIONS = {"questions": [{"question": "Which?"}]}


@pytest.mark.law("D15")
@pytest.mark.parametrize(
    ("decision", "written"),
    [
        (Allow(), {"behavior": "allow"}),
        (Allow(updated_input={"command": "ls"}), {"behavior": "allow", "updatedInput": {"command": "ls"}}),
        (Allow(grant=Grant("Bash", "session")), {"behavior": "allow", "updatedPermissions": [ADDED]}),
        (Allow(updated_permissions=[NULL]), {"behavior": "allow", "updatedPermissions": [ADDED]}),
        (
            Allow(mode=PlanMode.ACCEPT_EDITS),
            {
                "behavior": "allow",
                "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
            },
        ),
        (Deny("no, „so“"), {"behavior": "deny", "message": "no, „so“"}),
        (Deny("stop", interrupt=True), {"behavior": "deny", "message": "stop", "interrupt": True}),
        (Block("not yet"), {"behavior": "deny", "message": "not yet"}),
        (
            Answer({"Which?": ["a", "b"]}, notes={"Which?": "both"}),
            {
                "behavior": "allow",
                "updatedInput": {
                    **QUESTIONS,
                    "answers": {"Which?": "a, b"},
                    "annotations": {"Which?": {"notes": "both"}},
                },
            },
        ),
    ],
)
def test_a_decision_is_written_as_the_sdk_reads_it(decision: Decision, written: dict[str, Any]) -> None:
    assert write_permission("Bash", QUESTIONS, decision) == written


@pytest.mark.law("D1")
@pytest.mark.law("D2")
@pytest.mark.parametrize("decision", [NoOpinion(), NoOpinion("late"), Ask(), Ask("why")])
def test_silence_is_a_deny_that_says_so(decision: Decision) -> None:
    assert write_permission("Bash", {}, decision) == {"behavior": "deny", "message": NO_ANSWER}


@pytest.mark.parametrize(
    ("status", "subtype", "is_error", "is_refused"),
    [
        (None, "success", True, True),
        (401, "success", True, True),
        (403, "success", True, True),
        (404, "success", True, True),
        (429, "success", True, False),
        (500, "success", True, False),
        (None, "success", False, False),
        (None, "error_max_turns", True, False),
    ],
)
def test_only_a_model_that_refuses_or_is_out_of_reach_counts_as_refused(
    status: int | None, subtype: str, is_error: bool, is_refused: bool
) -> None:
    """As 2.1.325 and 2.1.197 report it; without a key, and where nothing answers, there is no status."""
    result = {"type": "result", "subtype": subtype, "is_error": is_error, "api_error_status": status}
    ended = read_message(result, "s1", 1.0)
    assert isinstance(ended, TurnEnded)
    assert ended.is_refused == is_refused


def test_another_start_is_tried_once_it_is_known_which_conversation_exists() -> None:
    fresh = StartSession(session_id="s1", mode="sdk", cwd="/w", by="ann", at=1.0)
    own, fork = replace(fresh, resume="s1"), replace(fresh, resume="s0", fork=True, fork_at="e7")
    assert alternative_start(own, "No conversation found with session ID: s1") == fresh
    assert alternative_start(fork, "No conversation found with session ID: s0") is None
    for start in (fresh, fork):
        assert alternative_start(start, "Session ID s1 is already in use.") == own
    assert alternative_start(own, "Session ID s1 is already in use.") is None
    assert alternative_start(fresh, "no such model") is None
