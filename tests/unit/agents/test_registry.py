"""The agents by name."""

from __future__ import annotations

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.runtime_event import FIRST_AGENT


def test_an_agent_is_found_by_the_name_that_its_sessions_store() -> None:
    assert {name: agent.name for name, agent in AGENTS.items()} == {name: name for name in AGENTS}


def test_the_agent_of_the_first_version_is_still_known() -> None:
    assert AGENTS[FIRST_AGENT].label == "Claude Code"
