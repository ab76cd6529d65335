"""Decisions in the terminal UI: real keys, a real daemon, a waiting agent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.command import Command, CommandList, CommandPalette
from textual.screen import Screen
from textual.widgets import Input, TextArea

from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.request_card import rules_sentence
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, BatchList
from quarterdeck.surfaces.tui.dialogs.decisions.message import MessageDialog
from quarterdeck.surfaces.tui.keys.decision_keys import DecisionTarget
from quarterdeck.surfaces.tui.screens.base import PageScreen
from tests.support.daemon import Daemon, HeldHook, Json, decision_in, permission
from tests.support.pilot import TuiPilot, run_tui
from tests.support.slow_link import slow_link


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("tui") / "home") as daemon:
        yield daemon


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """The daemon with no waiting request before the test, and none after it."""
    yield running
    running.hang_up()
    running.until_pending(0)


def tool_request(tool: str, session_id: str = "s1", **tool_input: Any) -> Json:
    return permission("", session_id) | {"tool_name": tool, "tool_input": tool_input}


async def answer_of(held: HeldHook) -> bytes:
    return (await asyncio.to_thread(held.answer))[1]


def verdict(answer: bytes) -> Json:
    return dict(json.loads(answer)["hookSpecificOutput"]["decision"])


def test_nothing_waits_at_first(daemon: Daemon) -> None:
    assert daemon.pending() == []


async def test_a_key_allows_exactly_what_is_shown(daemon: Daemon) -> None:
    held = daemon.hold(permission("make lint"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("make lint")
        assert "make lint" in tui.text
        assert "runs" in tui.text
        await tui.press("a")
        assert decision_in(await answer_of(held)) == "allow"
        await tui.sees(" · make lint · sent")
        made = daemon.api("GET", f"/requests/{request.request_id}")[1]["decision"]
        assert (made["by"], made["digest"]) == ("owner via tui", request.view["digest"])


async def test_no_key_decides_a_card_that_just_appeared(daemon: Daemon) -> None:
    async with run_tui(daemon.home) as tui:
        tui.desk.focus()
        daemon.hold(permission("make haste"))
        await tui.until(lambda: tui.desk.item is not None)
        tui.desk.mark_on_screen()
        tui.app.simulate_key("a")
        await tui.shows_message("The card has only just appeared")
        assert len(daemon.pending()) == 1


async def test_no_key_decides_while_another_pane_has_the_focus(daemon: Daemon) -> None:
    daemon.hold(permission("make do"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make do")
        tui.main_screen.sessions.focus()
        await tui.press("a", "d", "p")
        assert not isinstance(tui.app.screen, Dialog)
        assert len(daemon.pending()) == 1
        await tui.press("n", "a")
        await tui.until(lambda: not daemon.pending())


async def test_a_new_request_never_takes_the_focus(daemon: Daemon) -> None:
    async with run_tui(daemon.home) as tui:
        await tui.until(lambda: tui.app.model.has_snapshot)
        tui.main_screen.sessions.focus()
        daemon.hold(permission("make a fuss"))
        await tui.sees("make a fuss")
        await tui.until(lambda: tui.desk.is_settled, "a look")
        await tui.press("a", "d", "p")
        assert tui.main_screen.sessions.has_focus
        assert len(daemon.pending()) == 1


async def test_a_request_that_waits_at_the_start_has_the_focus(daemon: Daemon) -> None:
    daemon.hold(permission("make ready"))
    daemon.until_pending(1)
    async with run_tui(daemon.home) as tui:
        await tui.until(lambda: tui.desk.has_focus)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    "command",
    ["ls \u202etxt.exe", "true\x1b[2K", "\n".join(f"echo {n}" for n in range(60)), "printf " + "x" * 300_000],
    ids=["bidi", "escape", "long", "large"],
)
async def test_a_partly_shown_request_is_decided_only_once_it_was_expanded(daemon: Daemon, command: str) -> None:
    held = daemon.hold(permission(command))
    async with run_tui(daemon.home) as tui:
        request = await tui.card()
        await tui.sees("x shows everything")
        await tui.press("a")
        await tui.shows_message("Not all of it shows")
        assert request.is_pending
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.rows[-1] != (), "all of it")
        if tui.desk.max_scroll_y:
            await tui.until(lambda: tui.desk.allow_vertical_scroll)
            await tui.until(lambda: not tui.desk.blocked_reason("deny"))
            await tui.press("a")
            await tui.shows_message("go down to its end first")
            await tui.press("pagedown")
            assert request.is_pending
        await tui.scrolls_to_the_end(request)
        await tui.until(lambda: "its end first" not in tui.text, "no more said")
        await tui.press("a")
        assert decision_in(await answer_of(held)) == "allow"


async def test_a_card_that_is_folded_again_keeps_its_place(daemon: Daemon) -> None:
    held = daemon.hold(permission("\n".join(f"echo {n} {'x' * 70}" for n in range(200))))
    async with run_tui(daemon.home) as tui:
        await tui.card()
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.max_scroll_y > 100, "all of it")
        tui.desk.scroll_to(y=tui.desk.max_scroll_y // 2, animate=False)
        await tui.until(lambda: tui.desk.scroll_y > 80, "the middle")
        await tui.pilot.resize_terminal(70, 40)
        await tui.until(lambda: tui.desk.max_scroll_y > 350, "folded again")
        await tui.until(lambda: 0.4 < tui.desk.scroll_y / tui.desk.max_scroll_y < 0.6, "the middle again")
    daemon.decide(daemon.pending()[0], "deny")
    assert verdict(await answer_of(held))["behavior"] == "deny"


@pytest.mark.law("D10")
async def test_a_deny_does_not_need_the_whole_request_on_screen(daemon: Daemon) -> None:
    held = daemon.hold(permission("\n".join(f"echo {n}" for n in range(60))))
    async with run_tui(daemon.home) as tui:
        await tui.card()
        await tui.press("d")
        await tui.shows_screen(MessageDialog)
        await tui.press(*"no", "enter")
        assert verdict(await answer_of(held))["message"] == "no"


async def test_a_request_resolved_elsewhere_stays_a_moment_with_its_outcome(daemon: Daemon) -> None:
    daemon.hold(permission("make clean"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("make clean")
        daemon.decide(request.view, "deny")
        await tui.sees("→ Denied by owner")
        await tui.press("a")
        await tui.until(lambda: tui.desk.item is None, "the card leaves")
        await tui.sees("No requests are waiting")


async def test_a_late_decision_says_who_decided(daemon: Daemon) -> None:
    daemon.hold(permission("make docs"))
    async with run_tui(daemon.home) as tui:
        late = RequestItem(dict((await tui.card("make docs")).view))
        daemon.decide(late.view, "deny")
        tui.main_screen.decide("allow", late)
        await tui.shows_message("already denied by owner")


async def test_a_deny_carries_its_message_and_may_interrupt(daemon: Daemon) -> None:
    held = [daemon.hold(permission("rm one", "s1")), daemon.hold(permission("rm two", "s2"))]
    async with run_tui(daemon.home) as tui:
        await tui.card("rm one")
        await tui.press("d")
        await tui.types("not today")
        await tui.press("enter")
        assert verdict(await answer_of(held[0])) == {"behavior": "deny", "message": "not today"}
        await tui.card("rm two")
        await tui.press("i", "enter")
        reply = verdict(await answer_of(held[1]))
        assert (reply["behavior"], reply["interrupt"]) == ("deny", True)


async def test_escape_leaves_a_dialog_and_nothing_is_decided(daemon: Daemon) -> None:
    daemon.hold(permission("make sure"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make sure")
        for key in ("d", "i", "e", "r"):
            await tui.press(key)
            await tui.shows_screen(Dialog)
            await tui.press("escape")
            await tui.until(lambda: not isinstance(tui.app.screen, Dialog))
            await tui.card("make sure")
        assert len(daemon.pending()) == 1


async def test_an_edited_input_is_what_runs(daemon: Daemon) -> None:
    held = daemon.hold(permission("make mistakes"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make mistakes")
        await tui.press("e")
        await tui.until(lambda: bool(tui.app.screen.query(TextArea)))
        tui.app.screen.query_one(TextArea).text = "make amends"
        await tui.press("ctrl+s")
        reply = verdict(await answer_of(held))
        assert reply["updatedInput"]["command"] == "make amends"
        await tui.sees("Allowed, edited, by owner from tui")


async def test_an_input_that_was_opened_and_not_changed_was_not_edited(daemon: Daemon) -> None:
    held = daemon.hold(tool_request("Write", file_path="/w/a", content="x"))
    async with run_tui(daemon.home) as tui:
        await tui.card("Write")
        await tui.press("e")
        await tui.until(lambda: bool(tui.app.screen.query(TextArea)))
        await tui.press("ctrl+s")
        assert "updatedInput" not in verdict(await answer_of(held))
        await tui.sees(" · Write(a)")


async def test_an_edit_that_is_not_json_says_so_and_waits(daemon: Daemon) -> None:
    held = daemon.hold(tool_request("Write", file_path="/w/a", content="x"))
    async with run_tui(daemon.home) as tui:
        await tui.card("Write")
        await tui.press("e")
        await tui.until(lambda: bool(tui.app.screen.query(TextArea)))
        area = tui.app.screen.query_one(TextArea)
        whole, area.text = area.text, "{"
        await tui.press("ctrl+s")
        await tui.sees("not JSON")
        area.text = whole.replace('"x"', '"y"')
        await tui.press("ctrl+s")
        assert verdict(await answer_of(held))["updatedInput"]["content"] == "y"


async def test_a_remembered_decision_is_a_rule_that_decides_the_next(daemon: Daemon) -> None:
    held = daemon.hold(permission("git log --oneline", "remember"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("git log")
        await tui.until(lambda: request.patterns, "patterns")
        await tui.press("r")
        await tui.sees("Always allow Bash(git log --oneline) in this session.")
        await tui.sees("past requests")
        assert "trusts" not in tui.text
        tui.app.screen.query_one("#scope", WordChoice).choose(1)
        await tui.sees("Always allow Bash(git log --oneline) in this project.")
        await tui.sees("! Saving it also trusts /w for rules")
        assert "also save in Claude Code" in tui.text
        await tui.press("ctrl+s")
        assert decision_in(await answer_of(held)) == "allow"
        await tui.shows_message("Remembered: allow Bash(git log --oneline)")
        again = await asyncio.to_thread(daemon.hook, permission("git log --oneline", "remember"))
        assert decision_in(again[1]) == "allow"


async def test_a_remembered_rule_may_be_handed_to_claude_too(daemon: Daemon) -> None:
    assert daemon.api("POST", "/projects/trust", {"path": "/trusted"})[0] == 200
    held = daemon.hold({**permission("git status -s", "handed"), "cwd": "/trusted"})
    async with run_tui(daemon.home) as tui:
        request = await tui.card("git status")
        await tui.until(lambda: request.patterns, "patterns")
        assert request.trust == "full"
        await tui.press("r")
        await tui.sees("Always allow")
        tui.app.screen.query_one("#scope", WordChoice).choose(1)
        await tui.sees("in this project.")
        assert "trusts" not in tui.text
        tui.app.screen.query_one("#claude", WordChoice).choose(2)
        await tui.press("ctrl+s")
        reply = verdict(await answer_of(held))
        assert reply["updatedPermissions"][0]["destination"] == "localSettings"


OPTIONS = [{"label": "Redis", "description": "shared"}, {"label": "Memory", "description": "[/]"}]


def question(text: str, header: str = "", several: bool = False) -> Json:
    return {"question": text, "header": header, "options": OPTIONS, "multiSelect": several}


async def test_questions_are_answered_one_after_the_other_by_number_and_in_own_words(daemon: Daemon) -> None:
    questions = [question("Which store?", "Store"), question("Which tests?", several=True), question("Why?")]
    held = daemon.hold(tool_request("AskUserQuestion", questions=questions))
    async with run_tui(daemon.home) as tui:
        await tui.card("Which store?")
        await tui.press("a")
        await tui.sees("Answer · 1 of 3 · Store")
        await tui.press("enter")
        await tui.sees("Pick one by its number")
        await tui.press("1", "2", "enter")
        await tui.sees("Answer · 2 of 3")
        await tui.press("1", "2", "tab", *"rust", "enter")
        await tui.sees("Answer · 3 of 3")
        await tui.press("pageup")
        await tui.sees("Answer · 2 of 3")
        await tui.press("pagedown", "1", "tab", *"because", "tab", *"hm", "enter")
        reply = verdict(await answer_of(held))
        assert reply["updatedInput"]["answers"] == {
            "Which store?": "Memory",
            "Which tests?": "Redis, Memory, rust",
            "Why?": "because",
        }
        assert reply["updatedInput"]["annotations"] == {"Why?": {"notes": "hm"}}
        await tui.sees("Answered “Memory · Redis, Memory, rust · because (hm)” by owner from tui")
        await tui.until(lambda: tui.text.count("Memory · Redis") > 1, "the answer in the feed")


async def test_a_number_on_the_card_begins_the_answer_with_that_choice(daemon: Daemon) -> None:
    held = daemon.hold(tool_request("AskUserQuestion", questions=[question("Which store?")]))
    async with run_tui(daemon.home) as tui:
        await tui.card("Which store?")
        await tui.press("2")
        await tui.sees("2 (•) Memory")
        await tui.press("enter")
        assert verdict(await answer_of(held))["updatedInput"]["answers"] == {"Which store?": "Memory"}


async def test_an_unanswered_question_is_shown_instead_of_sending(daemon: Daemon) -> None:
    held = daemon.hold(tool_request("AskUserQuestion", questions=[question("Which store?"), question("Why?")]))
    async with run_tui(daemon.home) as tui:
        await tui.card("Which store?")
        await tui.press("a")
        await tui.sees("1 of 2")
        await tui.press("1", "ctrl+s")
        await tui.sees("not answered yet: Why?")
        await tui.sees("2 of 2")
    held.close()


async def test_a_form_is_filled_in(daemon: Daemon) -> None:
    fields = {"name": {"type": "string"}, "count": {"type": "integer"}, "sure": {"type": "boolean"}}
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    payload = {"hook_event_name": "Elicitation", "session_id": "el", "cwd": "/w", "mcp_server_name": "srv"}
    held = daemon.hold(payload | {"message": "What name?", "mode": "form", "requested_schema": schema})
    async with run_tui(daemon.home) as tui:
        await tui.card("What name?")
        await tui.press("a")
        await tui.sees("count (optional)")
        await tui.press("ctrl+s")
        await tui.sees("name is required")
        for place, text in enumerate(("Ann", "seven")):
            tui.app.screen.query_one(f"#field{place}", Input).value = text
        await tui.press("ctrl+s")
        await tui.sees("count: must be a whole number")
        tui.app.screen.query_one("#field1", Input).value = "7"
        await tui.press("ctrl+s")
        reply = json.loads(await answer_of(held))["hookSpecificOutput"]
        assert reply["content"] == {"name": "Ann", "count": 7, "sure": False}


async def test_a_plan_is_shown_whole_and_allowed(daemon: Daemon) -> None:
    held = daemon.hold(tool_request("ExitPlanMode", plan="1. Drain\n2. Upgrade"))
    async with run_tui(daemon.home) as tui:
        await tui.card("Drain")
        assert "2. Upgrade" in tui.text
        await tui.press("r")
        await tui.shows_message("“remember” does not go with a plan")
        await tui.press("w")
        await tui.sees("1 (•) edits files without asking")
        await tui.press("3", "enter")
        reply = verdict(await answer_of(held))
        assert (reply["behavior"], reply["updatedPermissions"][0]["mode"]) == ("allow", "auto")


@pytest.mark.law("D17")
async def test_a_batch_decides_each_marked_request_and_no_other(daemon: Daemon) -> None:
    held = [daemon.hold(permission(f"echo {n}", f"many{n}")) for n in range(4)]
    hidden = daemon.hold(permission("echo \u200b", "many9"))
    daemon.until_pending(5)
    async with run_tui(daemon.home) as tui:
        await tui.card()
        await tui.press("m")
        await tui.shows_screen(BatchDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, BatchDialog)
        await tui.until(lambda: all(f"echo {n}" in tui.text for n in range(4)), "all four")
        dialog.shown_at = time.monotonic() + 60
        await tui.press("a")
        await tui.sees("The list has only just appeared")
        marks = dialog.query_one(BatchList)
        await tui.until(lambda: all(marks._is_seen(n) for n in range(4)), "a look at all four")
        dialog.shown_at = 0.0
        await tui.press("a")
        await tui.sees("Nothing is marked")
        await tui.press("asterisk")
        await tui.until(lambda: len(dialog.query_one(BatchList).marked) == 4, "four marks")
        await tui.press("space")
        daemon.hold(permission("echo late", "many8"))
        daemon.until_pending(6)
        await tui.press("a")
        await tui.shows_message("3 of 3 allowed")
        left = {request["tool_input"]["command"] for request in daemon.until_pending(3)}
        assert {"echo \u200b", "echo late"} < left
    for one in (*held, hidden):
        one.close()


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_batch_marks_no_request_that_was_not_on_screen_or_is_critical(
    daemon: Daemon, size: tuple[int, int]
) -> None:
    held = [daemon.hold(permission(f"echo {n}\necho more\necho and more", f"many{n}")) for n in range(6)]
    held.append(daemon.hold(permission("sudo rm -rf / --no-preserve-root", "many9")))
    daemon.until_pending(7)
    async with run_tui(daemon.home, size) as tui:
        await tui.card()
        await tui.press("m")
        await tui.shows_screen(BatchDialog)
        marks = tui.app.screen.query_one(BatchList)
        await tui.until(lambda: marks.max_scroll_y > 0 and marks._is_seen(0), "a look at the first")
        await tui.press("asterisk")
        await tui.sees("not seen yet")
        assert 0 < len(marks.marked) < 6
        assert "--no-preserve-root" not in tui.text
        before = set(marks.marked)
        marks.scroll_end(animate=False, immediate=True)
        marks.scroll_home(animate=False, immediate=True)
        await tui.press("asterisk")
        assert marks.marked == before, "what flew past was not seen"
        for _ in range(6):
            await tui.press("down")
            await asyncio.sleep(SETTLE_SECONDS)
        await tui.press("asterisk")
        await tui.sees("Not marked: 1 critical")
        assert len(marks.marked) == 6
        await tui.press("space")
        assert len(marks.marked) == 7
        await tui.pilot.resize_terminal(size[0] + 20, size[1])
        await tui.until(lambda: len(marks.marked) == 7)
        await tui.pilot.resize_terminal(30, size[1])
        await asyncio.sleep(SETTLE_SECONDS)
        await tui.press("space", "space")
        assert len(marks.marked) == 6, "nothing is marked of which a terminal shows only a part"
    for one in held:
        one.close()


async def test_a_command_decides_the_card_that_was_there_when_it_was_begun(daemon: Daemon) -> None:
    held = daemon.hold(permission("make room"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("make room")
        tui.app.run_command("deny out of date", DecisionTarget(RequestItem(request.view), 0.0))
        await tui.shows_message("The card has changed")
        await tui.runs_command("deny not here")
        assert verdict(await answer_of(held))["message"] == "not here"


async def choose(tui: TuiPilot, words: str) -> None:
    """Choose a command in the palette."""
    await tui.press("ctrl+p")
    await tui.shows_screen(CommandPalette)
    await tui.types(words)
    await tui.until(lambda: _first_offered(tui.app.screen) == words, words)
    await tui.press("down", "enter")


def _first_offered(palette: Screen[Any]) -> str:
    offered = palette.query_one(CommandList)
    first = offered.get_option_at_index(0) if offered.option_count else None
    return str(first.hit.text) if isinstance(first, Command) else ""


async def test_the_palette_decides_the_card_that_was_on_screen_when_it_opened(daemon: Daemon) -> None:
    held = daemon.hold(permission("make rain"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make rain")
        await tui.press("question_mark")
        await tui.shows_screen(PageScreen)
        await choose(tui, "pass")
        await tui.shows_message("No card was on screen")
        await tui.press("escape")
        await tui.card("make rain")
        await choose(tui, "allow")
        assert decision_in(await answer_of(held)) == "allow"
        await choose(tui, "bell off")
        await tui.shows_message("The bell is off")


async def test_a_request_over_a_slow_link_arrives_whole_and_is_decided(daemon: Daemon) -> None:
    use = permission("echo", "slow") | {"hook_event_name": "PreToolUse"}
    for number in range(100):
        daemon.hook(use | {"tool_use_id": f"t{number}"})
    held = daemon.hold(permission("make slow " + "progress " * 2_000, "slow"))
    daemon.until_pending(1)
    token = (daemon.home / "token").read_text().strip()
    async with (
        slow_link(daemon.url) as url,
        run_tui(daemon.home, daemon=DaemonConnection(daemon.home, lambda: (url, token))) as tui,
    ):
        request = await tui.card("make slow")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.allow_vertical_scroll, "all of it")
        await tui.press("end")
        await tui.until(lambda: request.seen, "its end")
        await tui.press("a")
        assert decision_in(await answer_of(held)) == "allow"
        await tui.sees("Allowed by owner from tui")


@pytest.mark.law("S11")
async def test_decision_keys_stop_with_the_daemon_and_work_again_when_it_is_back(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hold(permission("make hay"))
        async with run_tui(daemon.home) as tui:
            await tui.card("make hay")
            await asyncio.to_thread(daemon.stop)
            await tui.sees("The daemon is not responding")
            await tui.press("a")
            assert not isinstance(tui.app.screen, Dialog)
            await asyncio.to_thread(daemon.restart)
            await tui.until(lambda: "The daemon is not responding" not in tui.text, "connected again")
            held = daemon.hold(permission("make merry", "s2"))
            await tui.card("make merry")
            await tui.press("a")
            assert decision_in(await answer_of(held)) == "allow"


async def test_a_click_decides_too(daemon: Daemon) -> None:
    held = daemon.hold(permission("make clicks"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("make clicks")
        await tui.until(
            lambda: (sentence := rules_sentence(request.shown)) and sentence in tui.desk.text, "what the rules say"
        )
        tui.main_screen.sessions.focus()
        await tui.until(lambda: tui.main_screen.sessions.has_focus, "the focus on the sessions")
        row = next(n for n, line in enumerate(tui.desk.text.split("\n")) if "[a]" in line)
        allow, elsewhere = (3, row + 1), (3, 1)
        await tui.pilot.click(tui.desk, offset=allow)
        await tui.shows_message("This click only focused the card")
        await asyncio.sleep(SETTLE_SECONDS)
        await tui.pilot.click(tui.desk, offset=allow, button=3)
        await tui.pilot.click(tui.desk, offset=allow, shift=True)
        await tui.pilot.mouse_down(tui.desk, offset=elsewhere)
        await tui.pilot.mouse_up(tui.desk, offset=allow)
        assert request.is_pending
        assert not request.sending
        await tui.pilot.click(tui.desk, offset=allow)
        assert decision_in(await answer_of(held)) == "allow"


async def test_the_input_of_a_request_can_be_copied(daemon: Daemon) -> None:
    daemon.hold(permission("make copies"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make copies")
        await tui.press("y")
        assert tui.app.clipboard == "make copies"


def test_no_request_is_left_pending(daemon: Daemon) -> None:
    assert daemon.pending() == []


async def test_text_typed_after_a_slash_is_searched_and_decides_nothing(daemon: Daemon) -> None:
    held = daemon.hold(permission("make docs"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make docs")
        await tui.press("slash", *"allow")
        assert tui.app.screen.query_one("#command", Input).value == "find allow"
        await tui.press("enter")
        assert [request["status"] for request in daemon.pending()] == ["pending"]
    held.close()


async def test_a_key_pressed_right_after_another_is_not_a_decision(daemon: Daemon) -> None:
    held = daemon.hold(permission("make haste"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make haste")
        tui.desk.action_decide("deny")
        assert tui.desk.blocked_reason() == "another key came just before"
        tui.desk.action_decide("allow")
        await tui.press("escape")
        assert [request["status"] for request in daemon.pending()] == ["pending"]
    held.close()
