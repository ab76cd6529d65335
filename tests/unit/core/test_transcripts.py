"""What a transcript adds to the feed, and how often."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import Said, TranscriptRead
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data import Spent, Usage
from quarterdeck.core.text.titles import title_of
from tests.support.scene import Scene, bash


def said(message_id: str, text: str = "", at: float = 1001.0, agent: str | None = None, **spent: Any) -> Said:
    """A message that cost a dollar per output token, unless told otherwise."""
    used = {"output_tokens": 1, "cost_usd": 1.0, "said": hash(text) & 0xFFFF, **spent}
    return Said(spent=Spent(message_id=message_id, **used), text=text, at=at, agent_id=agent)


def part(start: int, offset: int, *messages: Said, **more: Any) -> TranscriptRead:
    return TranscriptRead(
        session_id="s1", at=1100.0, start=start, offset=offset, said=messages, **{"file_id": 5, **more}
    )


def at_work() -> Scene:
    return Scene().hears("UserPromptSubmit", prompt="go")


def cost(scene: Scene) -> float | None:
    assert scene.session.usage is not None
    return scene.session.usage.cost_usd


def test_what_the_model_says_is_recorded_once_and_counted() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "hello", model="claude-opus-4-5")))
    scene.records("message.assistant", "session.usage").is_now(AgentState.RUNNING)
    message = scene.last.events[0]
    assert (message.data.text, message.data.message_id, message.actor_id) == ("hello", "m1", "agent:root")
    assert (message.run_id, message.data.said_at) == ("s1:R1", 1001.0)
    assert scene.session.usage == Usage(output_tokens=1, cost_usd=1.0)
    assert scene.session.model == "claude-opus-4-5"
    scene.tells(part(0, 50, said("m1", "hello"))).does_nothing()
    scene.folds()


def test_a_tool_call_alone_is_counted_without_a_message() -> None:
    at_work().tells(part(0, 50, said("m1", tools=1))).records("session.usage").folds()


def test_the_last_word_about_a_message_counts() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "hello", output_tokens=1)))
    scene.tells(part(50, 60, said("m1", output_tokens=9, cost_usd=9.0, tools=1))).records("session.usage")
    assert scene.session.usage == Usage(output_tokens=9, cost_usd=9.0)
    assert scene.session.transcript.scrolls[""].messages == 1
    scene.folds()


def test_a_later_part_of_a_message_is_recorded_and_a_repeated_line_is_not() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "hello")))
    scene.tells(part(50, 60, said("m1", "hello"))).records("session.usage")
    scene.tells(part(60, 70, said("m1", "more"))).records("message.assistant", "session.usage")


def test_a_replaced_file_is_counted_anew_and_says_nothing_twice() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "one", at=1.0), said("m2", "two", at=2.0)))
    again = part(50, 80, said("m1", "one", at=1.0), said("m2", "two", at=2.0), said("m3", "three", at=3.0))
    scene.tells(replace(again, afresh=True, file_id=6)).records("message.assistant", "session.usage")
    assert scene.last.events[0].data.text == "three"
    assert cost(scene) == 3.0
    scene.folds()


def test_the_last_message_of_a_run_belongs_to_it_though_it_is_read_later() -> None:
    scene = at_work().hears("Stop").tells(part(0, 50, said("m1", "done")))
    assert [e.event_id for e in scene.last.events] == ["s1:R1:E5", "s1:R0:E1"]
    scene.hears("UserPromptSubmit", prompt="next").tells(
        part(50, 90, said("m2", "late", at=1001.5), said("m3", "new", at=1e9))
    )
    assert [e.run_id for e in scene.last.events] == ["s1:R1", "s1:R2", "s1:R2"]
    scene.folds()


def test_what_was_said_before_we_heard_of_a_session_belongs_to_no_run() -> None:
    scene = Scene().hears("SessionStart", source="resume").tells(part(0, 50, said("m1", "long ago", at=5.0)))
    assert [e.run_id for e in scene.last.events] == ["s1:R0", "s1:R1"]
    scene.folds()


def test_sub_agents_speak_for_themselves_and_cost_with_the_rest() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "boss"), context_tokens=700))
    helper = part(0, 30, said("m2", "helper", agent="a1"))
    scene.tells(replace(helper, agent_id="a1")).records("message.assistant", "session.usage")
    assert scene.last.events[0].actor_id == "subagent:a1"
    assert cost(scene) == 2.0
    assert (scene.session.last_text, scene.session.transcript.context_tokens) == ("boss", 700)


def test_without_a_price_there_is_no_cost() -> None:
    scene = at_work().tells(part(0, 50, said("m1"), said("m2", cost_usd=None), missing=("the price of zebra",)))
    assert cost(scene) is None
    scene.hears("SessionEnd", reason="other").tells(part(-1, 0, summary="end")).records("session.summary")
    assert scene.last.events[0].data.missing == ["the price of zebra"]
    assert "$" not in title_of(scene.last.events[0])


def test_a_session_is_summed_up_when_it_ends() -> None:
    scene = at_work().hears("PreToolUse", **bash("ls", "t1"))
    scene.tells(part(0, 50, said("m1", "looking", tools=1), prompts=1, context_tokens=40))
    scene.tells(part(50, 90, said("m2", "found it", at=1500.0)))
    scene.hears("Stop").hears("SessionEnd", reason="other").tells(part(-1, 0, summary="end")).records("session.summary")
    summary = scene.last.events[0].data
    assert (summary.last_assistant_text, summary.last_assistant_timestamp) == ("found it", 1500.0)
    assert (summary.message_count, summary.tool_call_count, summary.error) == (3, 1, None)
    assert (summary.usage, summary.context_tokens, summary.missing) == (Usage(output_tokens=2, cost_usd=2.0), 40, [])
    assert title_of(scene.last.events[0]) == "Σ 3 messages, 1 tool, 2 tokens $2.00"
    assert scene.session.transcript.summed_up
    scene.is_now(AgentState.ENDED).folds()
    scene.hears("SessionStart", source="resume")
    assert not scene.session.transcript.summed_up


def test_a_compaction_is_summed_up_in_its_run() -> None:
    scene = at_work().tells(part(0, 50, said("m1", "so far"))).tells(part(-1, 0, summary="compact"))
    scene.records("session.summary")
    assert (scene.last.events[0].run_id, scene.last.events[0].data.reason) == ("s1:R1", "compact")
    assert not scene.session.transcript.summed_up


def test_without_a_transcript_the_summary_says_so_and_gives_what_hooks_told() -> None:
    scene = at_work().hears("PreToolUse", **bash("ls", "t1")).hears("Stop", last_assistant_message="bye")
    scene.hears("SessionEnd", reason="other")
    scene.tells(part(0, 0, error="no file", missing=("no file",), summary="end", file_id=0))
    scene.records("session.usage", "session.summary")
    summary = scene.last.events[-1].data
    assert (summary.last_assistant_text, summary.tool_call_count) == ("bye", 1)
    assert (summary.error, summary.missing) == ("no file", ["no file"])
    scene.tells(part(0, 0, error="no file", missing=("no file",), file_id=0)).does_nothing()


def test_what_could_not_be_read_is_counted() -> None:
    scene = at_work().tells(part(0, 50, malformed=2, skipped_bytes=1234)).tells(part(50, 60, malformed=1))
    scene.tells(part(-1, 0, summary="compact"))
    assert scene.last.events[0].data.missing == [
        "3 lines that could not be read",
        "1,234 bytes of a transcript too large to read whole",
    ]


def test_an_error_of_the_model_is_told_until_it_speaks_again() -> None:
    scene = at_work().tells(part(0, 50, error="overloaded"))
    assert scene.session.transcript.error == "overloaded"
    scene.tells(part(50, 60, said("m1", "back")))
    assert scene.session.transcript.error is None


@pytest.mark.parametrize(("by_user", "title"), [(True, "second"), (False, "first")])
def test_a_name_given_by_a_person_outlasts_what_the_agent_thinks_of(by_user: bool, title: str) -> None:
    scene = at_work().tells(part(0, 50, title="first", titled_by_user=True))
    scene.tells(part(50, 60, title="second", titled_by_user=by_user))
    assert scene.session.title == title


def test_a_session_nobody_heard_of_is_not_made_by_its_transcript() -> None:
    Scene().tells(part(0, 50, said("m1", "hello"), summary="end")).does_nothing()


def test_a_fork_begins_when_it_is_started_wherever_that_was() -> None:
    scene = Scene().hears("SessionStart", source="fork")
    assert scene.session.transcript.forked_at == scene.clock
    scene.hears("SessionEnd", reason="other").hears("SessionStart", source="resume").folds()
    assert 0 < scene.session.transcript.forked_at < scene.clock
    assert Scene().hears("SessionStart", source="startup").session.transcript.forked_at == 0.0
