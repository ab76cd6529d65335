"""The scripted agent: a replay with its own clock."""

from __future__ import annotations

import pytest

from quarterdeck.agents.demo_day import DAY
from quarterdeck.agents.scripted import ScriptLine, ScriptReplay
from quarterdeck.core.model.decisions import Allow, Deny

SCRIPT = [
    ScriptLine(payload={"hook_event_name": "UserPromptSubmit", "prompt": "go"}, delay=1.0),
    ScriptLine(payload={"hook_event_name": "PermissionRequest"}, delay=1.0, id="ask"),
    ScriptLine(payload={"hook_event_name": "PostToolUse"}, delay=1.0, awaits="ask", unless_denied="ask"),
    ScriptLine(payload={"hook_event_name": "Stop"}, delay=1.0),
]


def names(lines: list[ScriptLine]) -> list[str]:
    return [line.payload["hook_event_name"] for line in lines]


def test_a_replay_sends_its_lines_when_they_are_due() -> None:
    replay = ScriptReplay(SCRIPT, session_id="s", cwd="/w")
    assert names(replay.due(0.5)) == []
    assert names(replay.due(1.0)) == ["UserPromptSubmit"]
    assert replay.next_at() == 2.0


def test_a_replay_waits_until_it_is_answered() -> None:
    replay = ScriptReplay(SCRIPT, session_id="s")
    assert names(replay.due(100.0)) == ["UserPromptSubmit", "PermissionRequest"]
    assert (replay.waits_for, replay.next_at()) == ("ask", None)
    replay.decide("ask", Allow(), 50.0)
    assert names(replay.due(50.9)) == []
    assert names(replay.due(52.0)) == ["PostToolUse", "Stop"]
    assert replay.done


def test_a_denied_tool_reports_no_result() -> None:
    replay = ScriptReplay(SCRIPT, session_id="s")
    replay.due(100.0)
    replay.decide("ask", Deny("no"), 100.0)
    assert names(replay.due(110.0)) == ["Stop"]


def test_partial_lines_get_the_fields_of_every_payload() -> None:
    line = ScriptReplay(SCRIPT, session_id="s", cwd="/w").due(1.0)[0]
    assert (line.payload["session_id"], line.payload["cwd"], line.id) == ("s", "/w", "s-0")


@pytest.mark.parametrize("project", DAY)
def test_the_demo_day_can_be_played_to_its_end(project: str) -> None:
    replay = ScriptReplay(DAY[project], session_id=project)
    for _ in range(100):
        replay.due(1e6)
        if replay.waits_for:
            replay.decide(replay.waits_for, Allow(), 0.0)
    assert replay.done


@pytest.mark.parametrize("project", DAY)
def test_every_tool_call_of_the_demo_day_has_an_outcome(project: str) -> None:
    payloads = [line.payload for line in DAY[project]]
    begun = {one["tool_use_id"] for one in payloads if one["hook_event_name"] == "PreToolUse"}
    ended = {one["tool_use_id"] for one in payloads if one["hook_event_name"].startswith("PostToolUse")}
    assert begun == ended
