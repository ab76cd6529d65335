"""The coding agents that Quarterdeck knows, by name."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.agents.base import Agent
from quarterdeck.agents.claude.agent import CLAUDE

AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (CLAUDE,)}
