"""The events that a transcript adds to the feed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import TranscriptMessage, TranscriptPart, TranscriptRead
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data.session_data import MessageUsage, Usage
from quarterdeck.core.text.titles import title_of
from tests.support.scene import Scene, bash


def reply(
    message_id: str, text: str = "", at: float = 1001.0, agent: str | None = None, **spent: Any
) -> TranscriptMessage:
    """A message that cost a dollar per output token by default."""
    used = {"output_tokens": 1, "cost_usd": 1.0, "said": hash(text) & 0xFFFF, **spent}
    return TranscriptMessage(usage=MessageUsage(message_id=message_id, **used), text=text, at=at, agent_id=agent)


ABOUT_THE_FILE = {"agent_id", "file_id", "is_restart", "path", "skipped_bytes", "summary"}
"""What is said of a read, not of the content of a part."""


def part(start: int, offset: int, *messages: TranscriptMessage, **more: Any) -> TranscriptRead:
    read = {"file_id": 5, **{name: more.pop(name) for name in ABOUT_THE_FILE & more.keys()}}
    content = TranscriptPart(messages=messages, **more)
    return TranscriptRead(session_id="s1", at=1100.0, start=start, offset=offset, part=content, **read)


def working() -> Scene:
    return Scene().receives("UserPromptSubmit", prompt="go")


def cost(scene: Scene) -> float | None:
    assert scene.session.usage is not None
    return scene.session.usage.cost_usd


def test_a_message_of_the_model_is_recorded_once_and_counted() -> None:
    scene = working().submits(part(0, 50, reply("m1", "hello", model="claude-opus-4-5")))
    scene.records("message.assistant", "session.usage").is_now(AgentState.RUNNING)
    message = scene.last.events[0]
    assert (message.data.text, message.data.message_id, message.actor_id) == ("hello", "m1", "agent:root")
    assert (message.run_id, message.data.said_at) == ("s1:R1", 1001.0)
    assert scene.session.usage == Usage(output_tokens=1, cost_usd=1.0)
    assert scene.session.model == "claude-opus-4-5"
    scene.submits(part(0, 50, reply("m1", "hello"))).does_nothing()
    scene.folds()


def test_what_was_read_names_the_file_as_its_cause() -> None:
    scene = working().submits(part(0, 50, reply("m1", "hello"), path="/home/ann/.claude/projects/p/s1.jsonl"))
    for event in scene.last.events:
        assert event.cause is not None
        assert event.cause.transcript_path == "/home/ann/.claude/projects/p/s1.jsonl"


def test_a_tool_call_alone_is_counted_without_a_message() -> None:
    working().submits(part(0, 50, reply("m1", tools=1))).records("session.usage").folds()


def test_the_last_report_about_a_message_counts() -> None:
    scene = working().submits(part(0, 50, reply("m1", "hello", output_tokens=1)))
    scene.submits(part(50, 60, reply("m1", output_tokens=9, cost_usd=9.0, tools=1))).records("session.usage")
    assert scene.session.usage == Usage(output_tokens=9, cost_usd=9.0)
    assert scene.session.transcript.cursors[""].messages == 1
    scene.folds()


def test_a_later_part_of_a_message_is_recorded_and_a_repeated_line_is_not() -> None:
    scene = working().submits(part(0, 50, reply("m1", "hello")))
    scene.submits(part(50, 60, reply("m1", "hello"))).records("session.usage")
    scene.submits(part(60, 70, reply("m1", "more"))).records("message.assistant", "session.usage")


def test_a_replaced_file_is_counted_again_and_records_no_message_twice() -> None:
    scene = working().submits(part(0, 50, reply("m1", "one", at=1.0), reply("m2", "two", at=2.0)))
    again = part(
        50,
        80,
        reply("m1", "one", at=1.0),
        reply("m2", "two", at=2.0),
        reply("m3", "three", at=3.0),
    )
    scene.submits(replace(again, is_restart=True, file_id=6)).records("message.assistant", "session.usage")
    assert scene.last.events[0].data.text == "three"
    assert cost(scene) == 3.0
    scene.folds()


def test_the_last_message_of_a_run_belongs_to_it_though_it_is_read_later() -> None:
    scene = working().receives("Stop").submits(part(0, 50, reply("m1", "done")))
    assert [e.event_id for e in scene.last.events] == ["s1:R1:E5", "s1:R0:E1"]
    scene.receives("UserPromptSubmit", prompt="next").submits(
        part(50, 90, reply("m2", "late", at=1001.5), reply("m3", "new", at=1e9))
    )
    assert [e.run_id for e in scene.last.events] == ["s1:R1", "s1:R2", "s1:R2"]
    scene.folds()


def test_a_message_from_before_the_session_was_known_belongs_to_no_run() -> None:
    scene = Scene().receives("SessionStart", source="resume").submits(part(0, 50, reply("m1", "long ago", at=5.0)))
    assert [e.run_id for e in scene.last.events] == ["s1:R0", "s1:R1"]
    scene.folds()


def test_sub_agents_have_their_own_messages_and_share_the_cost() -> None:
    scene = working().submits(part(0, 50, reply("m1", "boss"), context_tokens=700))
    helper = part(0, 30, reply("m2", "helper", agent="a1"))
    scene.submits(replace(helper, agent_id="a1")).records("message.assistant", "session.usage")
    assert scene.last.events[0].actor_id == "subagent:a1"
    assert cost(scene) == 2.0
    assert (scene.session.last_text, scene.session.transcript.context_tokens) == ("boss", 700)


def test_without_a_price_there_is_no_cost() -> None:
    scene = working().submits(part(0, 50, reply("m1"), reply("m2", cost_usd=None), missing=("the price of zebra",)))
    assert cost(scene) is None
    scene.receives("SessionEnd", reason="other").submits(part(-1, 0, summary="end")).records("session.summary")
    assert scene.last.events[0].data.missing == ["the price of zebra"]
    assert "$" not in title_of(scene.last.events[0])


def test_a_session_is_summed_up_when_it_ends() -> None:
    scene = working().receives("PreToolUse", **bash("ls", "t1"))
    scene.submits(part(0, 50, reply("m1", "looking", tools=1), prompts=1, context_tokens=40))
    scene.submits(part(50, 90, reply("m2", "found it", at=1500.0)))
    scene.receives("Stop").receives("SessionEnd", reason="other").submits(part(-1, 0, summary="end")).records(
        "session.summary"
    )
    summary = scene.last.events[0].data
    assert (summary.last_assistant_text, summary.last_assistant_timestamp) == ("found it", 1500.0)
    assert (summary.message_count, summary.tool_call_count, summary.error) == (3, 1, None)
    assert (summary.usage, summary.context_tokens, summary.missing) == (Usage(output_tokens=2, cost_usd=2.0), 40, [])
    assert title_of(scene.last.events[0]) == "Σ 3 messages, 1 tool, 2 tokens $2.00"
    assert scene.session.transcript.is_summarized
    scene.is_now(AgentState.ENDED).folds()
    scene.receives("SessionStart", source="resume")
    assert not scene.session.transcript.is_summarized


def test_a_compaction_is_summed_up_in_its_run() -> None:
    scene = working().submits(part(0, 50, reply("m1", "so far"))).submits(part(-1, 0, summary="compact"))
    scene.records("session.summary")
    assert (scene.last.events[0].run_id, scene.last.events[0].data.reason) == ("s1:R1", "compact")
    assert not scene.session.transcript.is_summarized


def test_without_a_transcript_the_summary_says_so_and_uses_the_hooks() -> None:
    scene = working().receives("PreToolUse", **bash("ls", "t1")).receives("Stop", last_assistant_message="bye")
    scene.receives("SessionEnd", reason="other")
    scene.submits(part(0, 0, error="no file", missing=("no file",), summary="end", file_id=0))
    scene.records("session.usage", "session.summary")
    summary = scene.last.events[-1].data
    assert (summary.last_assistant_text, summary.tool_call_count) == ("bye", 1)
    assert (summary.error, summary.missing) == ("no file", ["no file"])
    scene.submits(part(0, 0, error="no file", missing=("no file",), file_id=0)).does_nothing()


def test_unreadable_lines_are_counted() -> None:
    scene = working().submits(part(0, 50, malformed=2, skipped_bytes=1234)).submits(part(50, 60, malformed=1))
    scene.submits(part(-1, 0, summary="compact"))
    assert scene.last.events[0].data.missing == [
        "3 lines that could not be read",
        "1,234 bytes of a transcript too large to read whole",
    ]


def test_an_error_of_the_model_lasts_until_its_next_message() -> None:
    scene = working().submits(part(0, 50, error="overloaded"))
    assert scene.session.transcript.error == "overloaded"
    scene.submits(part(50, 60, reply("m1", "back")))
    assert scene.session.transcript.error is None


@pytest.mark.parametrize(("by_user", "title"), [(True, "second"), (False, "first")])
def test_a_title_from_a_person_is_not_replaced_by_the_agents(by_user: bool, title: str) -> None:
    scene = working().submits(part(0, 50, title="first", titled_by_user=True))
    scene.submits(part(50, 60, title="second", titled_by_user=by_user))
    assert scene.session.title == title


def test_a_transcript_alone_creates_no_session() -> None:
    Scene().submits(part(0, 50, reply("m1", "hello"), summary="end")).does_nothing()


def test_a_fork_begins_when_it_is_started() -> None:
    scene = Scene().receives("SessionStart", source="fork")
    assert scene.session.transcript.forked_at == scene.clock
    scene.receives("SessionEnd", reason="other").receives("SessionStart", source="resume").folds()
    assert 0 < scene.session.transcript.forked_at < scene.clock
    assert Scene().receives("SessionStart", source="startup").session.transcript.forked_at == 0.0
