"""The second key of a critical decision, and cards that do not fit."""

from __future__ import annotations

import asyncio

import pytest
from textual.events import Key

from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.tui.main_screen import END_SHOWN
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import Json, request, session
from tests.unit.surfaces.tui.panes.test_request_pane import shown

CRITICAL: Json = {"level": "critical", "reasons": ["deletes everything (rm -rf /)"]}
QUESTION = "allows it all the same"


def critical(**more: Json | bool) -> Json:
    return request("q1", "rm -rf /", risk=CRITICAL, needs_second_key=True, **more)


def sent(tui: TuiPilot) -> list[Json]:
    """The decisions that were sent."""
    return [body for _, path, body in tui.app.daemon.sent if path.endswith("/decision")]  # type: ignore[attr-defined]


async def test_a_critical_request_takes_a_second_different_key() -> None:
    async with shown([session()], [critical()]) as tui:
        await tui.card()
        await tui.press("a")
        await tui.sees(QUESTION)
        await tui.press("a")
        await asyncio.sleep(0)
        assert sent(tui) == []
        await tui.sees(QUESTION)
        await asyncio.sleep(SETTLE_SECONDS + 0.1)
        await tui.press("Y")
        await tui.until(lambda: [body["decision"] for body in sent(tui)] == ["allow"], "the decision")


@pytest.mark.parametrize("key", ["x", "d", "right", "tab", "y"])
async def test_any_other_key_takes_a_critical_decision_back(key: str) -> None:
    async with shown([session()], [critical()]) as tui:
        await tui.card()
        await tui.press("a")
        await tui.sees(QUESTION)
        await tui.press(key)
        await tui.until(lambda: not tui.desk.confirming, "no question")
        await tui.press("Y")
        await tui.pilot.pause()
        assert sent(tui) == []


async def test_two_keys_at_once_decide_nothing_critical() -> None:
    async with shown([session()], [critical()]) as tui:
        await tui.card()
        await tui.press("a", "Y")
        await tui.shows_message("only just appeared")
        assert sent(tui) == []


async def test_a_request_that_needs_no_second_key_takes_one() -> None:
    async with shown([session()], [request("q1")]) as tui:
        await tui.card()
        await tui.press("a")
        await tui.until(lambda: [body["decision"] for body in sent(tui)] == ["allow"], "the decision")


LONG_RULES: Json = {
    "effect": None,
    "rules": [],
    "reasons": [f"reason {n} is long enough for a line" for n in range(30)],
}
SUGGESTED = [f"allow Bash(make {n}:*) in session" for n in range(12)]


async def test_a_card_that_does_not_fit_marks_what_is_cut_and_must_be_scrolled_to_its_end() -> None:
    details = request("q1", "make all") | {"rule": LONG_RULES | {"patterns": []}, "suggested": SUGGESTED, "run": None}
    details |= {"session": {"title": "build it"}, "command": None, "diff": None, "change": None}
    waiting = request("q1", "make all")
    async with shown([session()], [waiting], (100, 30), answers={"/requests/q1": details}) as tui:
        item = await tui.card()
        await tui.until(lambda: item.details is not None and item.overflow, "the details")
        await tui.sees("x shows everything: there is more below")
        lines = tui.text.splitlines()
        assert next(n for n, line in enumerate(lines) if "asked for: build it" in line) > 0
        await tui.press("a")
        await tui.shows_message("press x to see everything first")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.max_scroll_y > 0, "the whole card")
        assert not item.seen
        await tui.press("a")
        await tui.shows_message("go down to its end first")
        assert sent(tui) == []


async def test_allow_right_after_the_jump_to_the_end_acts_or_is_refused_in_words() -> None:
    long = request("q1", "\n".join(f"echo {n}" for n in range(200)))
    async with shown([session()], [long], (100, 30)) as tui:
        await tui.card(settled=False)
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.max_scroll_y > 0, "the whole card")
        await tui.until(lambda: tui.desk.blocked_reason("deny") == "", "settled")
        for key in ("end", "a"):
            tui.app.post_message(Key(key, None))
        await tui.until(lambda: sent(tui) or tui.app.status.holds(END_SHOWN, 0.0), "a decision, or words")
        await tui.press(*(["a"] if not sent(tui) else []))
        await tui.until(lambda: [body["decision"] for body in sent(tui)] == ["allow"], "the decision")


async def test_the_agents_suggestions_fold_into_one_line() -> None:
    details = request("q1", "make") | {"rule": None, "suggested": SUGGESTED, "run": {"prompt": "build it"}}
    details |= {"session": None, "command": None, "diff": None, "change": None}
    async with shown([session()], [request("q1", "make")], answers={"/requests/q1": details}) as tui:
        await tui.card(settled=False)
        await tui.sees("The agent suggests: allow Bash(make 0:*) in session")
        text = tui.text
        assert text.index("asked for: build it") < text.index("The agent suggests")
        assert text.count("The agent suggests") == 1
