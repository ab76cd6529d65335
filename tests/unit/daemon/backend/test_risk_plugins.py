"""Risk plug-ins: an opinion in time, or none; and what switches one off."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.daemon.backend.risk_plugins import MAX_LATE, BadOpinion, RiskPlugin, read_opinion

HIGH = Risk("high", ["it says so"])


def says_high(*call: Any) -> Any:
    return "high", ["it says so"]


def raises(*call: Any) -> Any:
    raise RuntimeError("secret words")


def has_no_reasons(*call: Any) -> Any:
    return "very dangerous"


async def risk(plugin: RiskPlugin) -> Risk | None:
    return await plugin.risk_of("Bash", {"command": "ls"}, "/w", "/home/ann")


@pytest.mark.parametrize(
    ("judge", "why"),
    [(raises, "raised RuntimeError"), (has_no_reasons, "answered something other than (level, reasons)")],
)
async def test_a_plugin_that_misbehaves_is_switched_off_with_one_log_line(judge: Any, why: str) -> None:
    plugin = RiskPlugin("mine", judge)
    with capture_logs() as logs:
        assert [await risk(plugin) for _ in range(3)] == [None] * 3
    assert [(log["plugin"], log["why"]) for log in logs] == [("mine", why)]
    plugin.close()


async def test_a_plugin_that_hangs_is_switched_off() -> None:
    never = threading.Event()
    plugin = RiskPlugin("mine", lambda *call: never.wait(60), most_seconds=0.01)
    with capture_logs() as logs:
        assert [await risk(plugin) for _ in range(3)] == [None] * 3
    assert [log["why"] for log in logs] == ["took more than 0.01 s"]
    never.set()
    plugin.close()


async def test_a_late_opinion_counts_and_only_lateness_that_goes_on_switches_a_plugin_off() -> None:
    """On a busy machine every plug-in is late now and then, and without it a risk would be too low from then on."""
    plugin = RiskPlugin("mine", says_high, usual_seconds=0.0, most_seconds=60.0)
    with capture_logs() as logs:
        assert [await risk(plugin) for _ in range(MAX_LATE)] == [HIGH] * MAX_LATE
        assert await risk(plugin) is None
    assert [log["why"] for log in logs] == [f"took more than 0 ms {MAX_LATE} times in a row"]
    plugin.close()


async def test_an_opinion_in_time_begins_the_count_again() -> None:
    plugin = RiskPlugin("mine", says_high, usual_seconds=60.0, most_seconds=60.0)
    plugin._late = MAX_LATE - 1
    assert await risk(plugin) == HIGH
    assert plugin._late == 0
    plugin.close()


@pytest.mark.parametrize(
    "opinion", [(), ("high",), ("severe", []), ("high", "words"), ("high", [1]), (None, []), 7, {"high": []}]
)
def test_only_a_level_with_reasons_is_an_opinion(opinion: Any) -> None:
    with pytest.raises(BadOpinion):
        read_opinion(opinion)


def test_the_reasons_of_a_plugin_are_bounded() -> None:
    found = read_opinion(["high", ["x" * 1000] * 100])
    assert (len(found.reasons), len(found.reasons[0])) == (20, 300)
