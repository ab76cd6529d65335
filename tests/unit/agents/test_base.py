"""What the protocol promises about every agent."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.agents.base import Agent
from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.messages import TranscriptPart
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.handlers.hooks.dispatch import DECIDERS
from quarterdeck.core.model.decisions import Allow, NoOpinion
from quarterdeck.core.model.runtime_event import EventName
from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL

every_agent = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


@every_agent
def test_a_payload_that_is_nothing_becomes_an_unknown_event_of_that_agent(agent: Agent) -> None:
    payloads: list[Any] = [None, 3, [], {}, {"hook_event_name": 3, "tool_name": {}}]
    for payload in payloads:
        event = agent.read_event(payload, event_id="e", at=1.0)
        assert (event.event, event.agent, event.tool) == (EventName.UNKNOWN, agent.name, UNKNOWN_TOOL)


@every_agent
def test_only_hooks_that_take_an_answer_may_wait_for_a_person(agent: Agent) -> None:
    assert {hook.event for hook in agent.hooks.values() if hook.holds} <= DECIDERS.keys()


@every_agent
def test_no_opinion_is_silence_for_every_hook(agent: Agent) -> None:
    assert [agent.write_answer(name, "x", {}, NoOpinion()) for name in agent.hooks] == [None] * len(agent.hooks)
    assert agent.write_answer("no such hook", "x", {}, Allow()) is None


@every_agent
def test_a_prompt_is_never_read_as_a_flag(agent: Agent) -> None:
    start = StartSession(session_id="s", cwd="/w", by="me", at=1.0, mode="pty")
    arguments = agent.terminal_arguments(start, prompt="--help")
    assert arguments[arguments.index("--help") - 1] == "--"


def test_an_empty_part_says_nothing() -> None:
    assert (TranscriptPart().size, TranscriptPart().messages) == (0, ())
