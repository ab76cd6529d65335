"""Claude Code behind the protocol."""

from __future__ import annotations

from importlib import resources

from quarterdeck.agents.claude.agent import CLAUDE
from quarterdeck.core.model.runtime_event import EventName

PRICES = resources.files("quarterdeck.agents.claude").joinpath("prices.json").read_bytes()


def test_every_neutral_event_but_the_unknown_has_a_hook() -> None:
    assert {hook.event for hook in CLAUDE.hooks.values()} == set(EventName) - {EventName.UNKNOWN}


def test_a_transcript_is_read_with_the_price_list() -> None:
    read = CLAUDE.transcript_reader(PRICES)
    line = b'{"type":"assistant","message":{"id":"m","model":"claude-opus-4-5","usage":{"output_tokens":1000000}}}\n'
    assert [message.usage.cost_usd for message in read(line).messages] == [25.0]
    assert read(line, "a1").messages[0].agent_id == "a1"
