"""Deciding at the desk of the terminal face: real keys, a real daemon, an agent that waits."""

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

from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS, Asked
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, Marks
from quarterdeck.surfaces.tui.dialogs.decisions.message import WordsDialog
from quarterdeck.surfaces.tui.panes.request_pane import Aim
from quarterdeck.surfaces.tui.screens.base import PageScreen
from tests.support.daemon import Daemon, HeldHook, Json, decision_in, permission
from tests.support.pilot import Face, face_of
from tests.support.slow_link import slow_link

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("tui") / "home") as daemon:
        yield daemon


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """Nobody waits before a test, nor after it."""
    yield running
    running.hang_up()
    running.until_pending(0)


def asking(tool: str, session_id: str = "s1", **tool_input: Any) -> Json:
    return permission("", session_id) | {"tool_name": tool, "tool_input": tool_input}


async def answered(held: HeldHook) -> bytes:
    return (await asyncio.to_thread(held.answer))[1]


def verdict(answer: bytes) -> Json:
    return dict(json.loads(answer)["hookSpecificOutput"]["decision"])


def test_nothing_waits_at_first(daemon: Daemon) -> None:
    assert daemon.pending() == []


async def test_a_key_allows_exactly_what_is_shown(daemon: Daemon) -> None:
    held = daemon.hold(permission("make love"))
    async with face_of(daemon.home) as face:
        asked = await face.card("make love")
        assert "make love" in face.text
        assert "runs" in face.text
        await face.press("a")
        assert decision_in(await answered(held)) == "allow"
        await face.sees(" · make love · sent")
        made = daemon.api("GET", f"/requests/{asked.request_id}")[1]["decision"]
        assert (made["by"], made["digest"]) == ("owner via tui", asked.view["digest"])


async def test_no_key_decides_a_card_that_has_just_come(daemon: Daemon) -> None:
    async with face_of(daemon.home) as face:
        face.desk.focus()
        daemon.hold(permission("make haste"))
        await face.until(lambda: face.desk.asked is not None)
        face.desk.come_on_screen()
        face.app.simulate_key("a")
        await face.hears("It has only just come on screen")
        assert len(daemon.pending()) == 1


async def test_no_key_decides_while_another_pane_has_the_focus(daemon: Daemon) -> None:
    daemon.hold(permission("make do"))
    async with face_of(daemon.home) as face:
        await face.card("make do")
        face.bridge.sessions.focus()
        await face.press("a", "d", "p")
        assert not isinstance(face.app.screen, Dialog)
        assert len(daemon.pending()) == 1
        await face.press("n", "a")
        await face.until(lambda: not daemon.pending())


async def test_what_comes_never_takes_the_focus(daemon: Daemon) -> None:
    async with face_of(daemon.home) as face:
        await face.until(lambda: face.app.model.is_told)
        face.bridge.sessions.focus()
        daemon.hold(permission("make a fuss"))
        await face.sees("make a fuss")
        await asyncio.sleep(0.5)
        await face.press("a", "d", "p")
        assert face.bridge.sessions.has_focus
        assert len(daemon.pending()) == 1


async def test_who_waits_when_the_face_opens_has_the_focus(daemon: Daemon) -> None:
    daemon.hold(permission("make ready"))
    daemon.until_pending(1)
    async with face_of(daemon.home) as face:
        await face.until(lambda: face.desk.has_focus)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    "command",
    ["ls \u202etxt.exe", "true\x1b[2K", "\n".join(f"echo {n}" for n in range(60)), "printf " + "x" * 300_000],
    ids=["bidi", "escape", "long", "large"],
)
async def test_what_does_not_all_show_is_decided_only_once_it_was_expanded(daemon: Daemon, command: str) -> None:
    held = daemon.hold(permission(command))
    async with face_of(daemon.home) as face:
        asked = await face.card()
        await face.sees("x shows everything")
        await face.press("a")
        await face.hears("Not all of it shows")
        assert asked.is_pending
        await face.press("x")
        await face.until(lambda: face.desk.expanded and face.desk.rows[-1] != (), "all of it")
        if face.desk.max_scroll_y:
            await face.until(lambda: face.desk.allow_vertical_scroll)
            await face.until(lambda: not face.desk.why_not("deny"))
            await face.press("a")
            await face.hears("go down to its end first")
            await face.press("pagedown")
            assert asked.is_pending
            await face.press("end")
        await face.until(lambda: asked.seen, "seen to its end")
        await face.until(lambda: "its end first" not in face.text, "no more said")
        await face.press("a")
        assert decision_in(await answered(held)) == "allow"


@pytest.mark.law("D10")
async def test_who_refuses_need_not_have_seen_all_of_it(daemon: Daemon) -> None:
    held = daemon.hold(permission("\n".join(f"echo {n}" for n in range(60))))
    async with face_of(daemon.home) as face:
        await face.card()
        await face.press("d")
        await face.until(lambda: isinstance(face.app.screen, WordsDialog))
        await face.press(*"no", "enter")
        assert verdict(await answered(held))["message"] == "no"


async def test_a_request_resolved_elsewhere_stays_a_moment_with_a_word_who_did(daemon: Daemon) -> None:
    daemon.hold(permission("make peace"))
    async with face_of(daemon.home) as face:
        asked = await face.card("make peace")
        daemon.decide(asked.view, "deny")
        await face.sees("→ Denied by owner")
        await face.press("a")
        await face.until(lambda: face.desk.asked is None, "the card leaves")
        await face.sees("Nobody waits for you")


async def test_who_is_too_late_is_told_who_decided(daemon: Daemon) -> None:
    daemon.hold(permission("make war"))
    async with face_of(daemon.home) as face:
        late = Asked(dict((await face.card("make war")).view))
        daemon.decide(late.view, "deny")
        face.bridge.decide("allow", late)
        await face.hears("already decided (user, by owner")


async def test_a_deny_carries_its_words_and_may_interrupt(daemon: Daemon) -> None:
    held = [daemon.hold(permission("rm one", "s1")), daemon.hold(permission("rm two", "s2"))]
    async with face_of(daemon.home) as face:
        await face.card("rm one")
        await face.press("d")
        await face.types("not today")
        await face.press("enter")
        assert verdict(await answered(held[0])) == {"behavior": "deny", "message": "not today"}
        await face.card("rm two")
        await face.press("i", "enter")
        told = verdict(await answered(held[1]))
        assert (told["behavior"], told["interrupt"]) == ("deny", True)


async def test_escape_leaves_a_dialog_and_nothing_is_decided(daemon: Daemon) -> None:
    daemon.hold(permission("make sure"))
    async with face_of(daemon.home) as face:
        await face.card("make sure")
        for key in ("d", "i", "e", "r"):
            await face.press(key)
            await face.until(lambda: isinstance(face.app.screen, Dialog))
            await face.press("escape")
            await face.until(lambda: not isinstance(face.app.screen, Dialog))
            await face.card("make sure")
        assert len(daemon.pending()) == 1


async def test_an_edited_input_is_what_runs(daemon: Daemon) -> None:
    held = daemon.hold(permission("make mistakes"))
    async with face_of(daemon.home) as face:
        await face.card("make mistakes")
        await face.press("e")
        await face.until(lambda: bool(face.app.screen.query(TextArea)))
        face.app.screen.query_one(TextArea).text = "make amends"
        await face.press("ctrl+s")
        told = verdict(await answered(held))
        assert told["updatedInput"]["command"] == "make amends"
        await face.sees("Allowed, edited, by owner from tui")


async def test_an_input_that_was_opened_and_not_changed_was_not_edited(daemon: Daemon) -> None:
    held = daemon.hold(asking("Write", file_path="/w/a", content="x"))
    async with face_of(daemon.home) as face:
        await face.card("Write")
        await face.press("e")
        await face.until(lambda: bool(face.app.screen.query(TextArea)))
        await face.press("ctrl+s")
        assert "updatedInput" not in verdict(await answered(held))
        await face.sees(" · Write(a)")


async def test_an_edit_that_is_no_json_says_so_and_waits(daemon: Daemon) -> None:
    held = daemon.hold(asking("Write", file_path="/w/a", content="x"))
    async with face_of(daemon.home) as face:
        await face.card("Write")
        await face.press("e")
        await face.until(lambda: bool(face.app.screen.query(TextArea)))
        area = face.app.screen.query_one(TextArea)
        whole, area.text = area.text, "{"
        await face.press("ctrl+s")
        await face.sees("not JSON")
        area.text = whole.replace('"x"', '"y"')
        await face.press("ctrl+s")
        assert verdict(await answered(held))["updatedInput"]["content"] == "y"


async def test_a_remembered_decision_is_a_rule_that_decides_the_next(daemon: Daemon) -> None:
    held = daemon.hold(permission("git log --oneline", "remember"))
    async with face_of(daemon.home) as face:
        asked = await face.card("git log")
        await face.until(lambda: asked.patterns, "patterns")
        await face.press("r")
        await face.sees("Always allow Bash(git log --oneline) in this session.")
        await face.sees("past requests")
        assert "trusts" not in face.text
        face.app.screen.query_one("#scope", OneWord).choose(1)
        await face.sees("Always allow Bash(git log --oneline) in this project.")
        await face.sees("! Saving it also trusts /w for rules")
        assert "Claude too" in face.text
        await face.press("ctrl+s")
        assert decision_in(await answered(held)) == "allow"
        await face.hears("Remembered: allow Bash(git log --oneline)")
        again = await asyncio.to_thread(daemon.hook, permission("git log --oneline", "remember"))
        assert decision_in(again[1]) == "allow"


async def test_a_remembered_rule_may_be_handed_to_claude_too(daemon: Daemon) -> None:
    held = daemon.hold(permission("git status -s", "handed"))
    async with face_of(daemon.home) as face:
        asked = await face.card("git status")
        await face.until(lambda: asked.patterns, "patterns")
        assert asked.trust == "rules"
        await face.press("r")
        await face.sees("Always allow")
        face.app.screen.query_one("#scope", OneWord).choose(1)
        await face.sees("in this project.")
        assert "trusts" not in face.text
        face.app.screen.query_one("#claude", OneWord).choose(2)
        await face.press("ctrl+s")
        told = verdict(await answered(held))
        assert told["updatedPermissions"][0]["destination"] == "localSettings"


OPTIONS = [{"label": "Redis", "description": "shared"}, {"label": "Memory", "description": "[/]"}]


def question(text: str, header: str = "", several: bool = False) -> Json:
    return {"question": text, "header": header, "options": OPTIONS, "multiSelect": several}


async def test_questions_are_answered_one_after_the_other_by_number_and_in_own_words(daemon: Daemon) -> None:
    questions = [question("Which store?", "Store"), question("Which tests?", several=True), question("Why?")]
    held = daemon.hold(asking("AskUserQuestion", questions=questions))
    async with face_of(daemon.home) as face:
        await face.card("Which store?")
        await face.press("a")
        await face.sees("Answer · 1 of 3 · Store")
        await face.press("enter")
        await face.sees("Pick one by its number")
        await face.press("1", "2", "enter")
        await face.sees("Answer · 2 of 3")
        await face.press("1", "2", "tab", *"rust", "enter")
        await face.sees("Answer · 3 of 3")
        await face.press("pageup")
        await face.sees("Answer · 2 of 3")
        await face.press("pagedown", "1", "tab", *"because", "tab", *"hm", "enter")
        told = verdict(await answered(held))
        assert told["updatedInput"]["answers"] == {
            "Which store?": "Memory",
            "Which tests?": "Redis, Memory, rust",
            "Why?": "because",
        }
        assert told["updatedInput"]["annotations"] == {"Why?": {"notes": "hm"}}
        await face.sees("Answered “Memory · Redis, Memory, rust · because (hm)” by owner from tui")
        await face.until(lambda: face.text.count("Memory · Redis") > 1, "the answer in the feed")


async def test_a_number_on_the_card_begins_the_answer_with_that_choice(daemon: Daemon) -> None:
    held = daemon.hold(asking("AskUserQuestion", questions=[question("Which store?")]))
    async with face_of(daemon.home) as face:
        await face.card("Which store?")
        await face.press("2")
        await face.sees("2 (•) Memory")
        await face.press("enter")
        assert verdict(await answered(held))["updatedInput"]["answers"] == {"Which store?": "Memory"}


async def test_what_is_not_answered_is_gone_to(daemon: Daemon) -> None:
    held = daemon.hold(asking("AskUserQuestion", questions=[question("Which store?"), question("Why?")]))
    async with face_of(daemon.home) as face:
        await face.card("Which store?")
        await face.press("a")
        await face.sees("1 of 2")
        await face.press("1", "ctrl+s")
        await face.sees("not answered yet: Why?")
        await face.sees("2 of 2")
    held.close()


async def test_a_form_is_filled_in(daemon: Daemon) -> None:
    fields = {"name": {"type": "string"}, "count": {"type": "integer"}, "sure": {"type": "boolean"}}
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    payload = {"hook_event_name": "Elicitation", "session_id": "el", "cwd": "/w", "mcp_server_name": "srv"}
    held = daemon.hold(payload | {"message": "What name?", "mode": "form", "requested_schema": schema})
    async with face_of(daemon.home) as face:
        await face.card("What name?")
        await face.press("a")
        await face.sees("count (may be left out)")
        await face.press("ctrl+s")
        await face.sees("name is needed")
        for place, text in enumerate(("Ann", "seven")):
            face.app.screen.query_one(f"#field{place}", Input).value = text
        await face.press("ctrl+s")
        await face.sees("count: invalid literal")
        face.app.screen.query_one("#field1", Input).value = "7"
        await face.press("ctrl+s")
        told = json.loads(await answered(held))["hookSpecificOutput"]
        assert told["content"] == {"name": "Ann", "count": 7, "sure": False}


async def test_a_plan_is_shown_whole_and_allowed(daemon: Daemon) -> None:
    held = daemon.hold(asking("ExitPlanMode", plan="1. Drain\n2. Upgrade"))
    async with face_of(daemon.home) as face:
        await face.card("Drain")
        assert "2. Upgrade" in face.text
        await face.press("r")
        await face.hears("“remember” does not go with a plan")
        await face.press("w")
        await face.sees("1 (•) edits files without asking")
        await face.press("3", "enter")
        told = verdict(await answered(held))
        assert (told["behavior"], told["updatedPermissions"][0]["mode"]) == ("allow", "auto")


@pytest.mark.law("D17")
async def test_many_are_decided_each_by_its_name_and_no_other(daemon: Daemon) -> None:
    held = [daemon.hold(permission(f"echo {n}", f"many{n}")) for n in range(4)]
    hidden = daemon.hold(permission("echo \u200b", "many9"))
    daemon.until_pending(5)
    async with face_of(daemon.home) as face:
        await face.card()
        await face.press("m")
        await face.until(lambda: isinstance(face.app.screen, BatchDialog))
        dialog = face.app.screen
        assert isinstance(dialog, BatchDialog)
        await face.until(lambda: all(f"echo {n}" in face.text for n in range(4)), "all four")
        dialog.shown_at = time.monotonic() + 60
        await face.press("a")
        await face.sees("It has only just come on screen")
        await asyncio.sleep(SETTLE_SECONDS)
        dialog.shown_at = 0.0
        await face.press("a")
        await face.sees("Nothing is marked")
        await face.press("asterisk")
        await face.until(lambda: len(dialog.query_one(Marks).marked) == 4, "four marks")
        await face.press("space")
        daemon.hold(permission("echo late", "many8"))
        daemon.until_pending(6)
        await face.press("a")
        await face.hears("3 of 3 allowed")
        left = {request["tool_input"]["command"] for request in daemon.until_pending(3)}
        assert {"echo \u200b", "echo late"} < left
    for one in (*held, hidden):
        one.close()


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_of_many_none_is_marked_that_was_not_on_screen_or_is_critical(
    daemon: Daemon, size: tuple[int, int]
) -> None:
    held = [daemon.hold(permission(f"echo {n}\necho more\necho and more", f"many{n}")) for n in range(6)]
    held.append(daemon.hold(permission("sudo rm -rf / --no-preserve-root", "many9")))
    daemon.until_pending(7)
    async with face_of(daemon.home, size) as face:
        await face.card()
        await face.press("m")
        await face.until(lambda: isinstance(face.app.screen, BatchDialog))
        marks = face.app.screen.query_one(Marks)
        await face.until(lambda: marks.max_scroll_y > 0)
        await asyncio.sleep(SETTLE_SECONDS)
        await face.press("asterisk")
        await face.sees("not seen yet")
        assert 0 < len(marks.marked) < 6
        assert "--no-preserve-root" not in face.text
        before = set(marks.marked)
        marks.scroll_end(animate=False, immediate=True)
        marks.scroll_home(animate=False, immediate=True)
        await face.press("asterisk")
        assert marks.marked == before, "what flew past was not seen"
        for _ in range(6):
            await face.press("down")
            await asyncio.sleep(SETTLE_SECONDS)
        await face.press("asterisk")
        await face.sees("Not marked: 1 critical")
        assert len(marks.marked) == 6
        await face.press("space")
        assert len(marks.marked) == 7
        await face.pilot.resize_terminal(size[0] + 20, size[1])
        await face.until(lambda: len(marks.marked) == 7)
        await face.pilot.resize_terminal(30, size[1])
        await asyncio.sleep(SETTLE_SECONDS)
        await face.press("space", "space")
        assert len(marks.marked) == 6, "nothing is marked of which a terminal shows only a part"
    for one in held:
        one.close()


async def test_an_order_decides_the_card_that_was_there_when_it_was_begun(daemon: Daemon) -> None:
    held = daemon.hold(permission("make room"))
    async with face_of(daemon.home) as face:
        asked = await face.card("make room")
        face.app.order("deny out of date", Aim(Asked(asked.view), 0.0))
        await face.hears("The card has changed meanwhile")
        await face.orders("deny not here")
        assert verdict(await answered(held))["message"] == "not here"


async def choose(face: Face, words: str) -> None:
    """In the palette."""
    await face.press("ctrl+p")
    await face.until(lambda: isinstance(face.app.screen, CommandPalette), "the palette")
    await face.types(words)
    await face.until(lambda: _first_offered(face.app.screen) == words, words)
    await face.press("down", "enter")


def _first_offered(palette: Screen[Any]) -> str:
    offered = palette.query_one(CommandList)
    first = offered.get_option_at_index(0) if offered.option_count else None
    return str(first.hit.text) if isinstance(first, Command) else ""


async def test_the_palette_decides_the_card_that_was_on_screen_when_it_opened(daemon: Daemon) -> None:
    held = daemon.hold(permission("make rain"))
    async with face_of(daemon.home) as face:
        await face.card("make rain")
        await face.press("question_mark")
        await face.until(lambda: isinstance(face.app.screen, PageScreen), "help")
        await choose(face, "pass")
        await face.hears("No card was on screen")
        await face.press("escape")
        await face.card("make rain")
        await choose(face, "allow")
        assert decision_in(await answered(held)) == "allow"
        await choose(face, "bell off")
        await face.hears("The bell is off")


async def test_over_a_slow_link_all_of_it_comes_and_is_decided(daemon: Daemon) -> None:
    use = permission("echo", "slow") | {"hook_event_name": "PreToolUse"}
    for number in range(100):
        daemon.hook(use | {"tool_use_id": f"t{number}"})
    held = daemon.hold(permission("make slow " + "progress " * 2_000, "slow"))
    daemon.until_pending(1)
    token = (daemon.home / "token").read_text().strip()
    async with (
        slow_link(daemon.url) as url,
        face_of(daemon.home, talk=Talk(daemon.home, lambda: (url, token))) as face,
    ):
        asked = await face.card("make slow")
        await face.press("x")
        await face.until(lambda: face.desk.expanded and face.desk.allow_vertical_scroll, "all of it")
        await face.press("end")
        await face.until(lambda: asked.seen, "its end")
        await face.press("a")
        assert decision_in(await answered(held)) == "allow"
        await face.sees("Allowed by owner from tui")


@pytest.mark.law("S11")
async def test_a_daemon_that_goes_away_takes_the_keys_with_it_and_gives_them_back(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hold(permission("make hay"))
        async with face_of(daemon.home) as face:
            await face.card("make hay")
            await asyncio.to_thread(daemon.stop)
            await face.sees("The daemon is away")
            await face.press("a")
            assert not isinstance(face.app.screen, Dialog)
            await asyncio.to_thread(daemon.restart)
            await face.until(lambda: "The daemon is away" not in face.text, "connected again")
            held = daemon.hold(permission("make merry", "s2"))
            await face.card("make merry")
            await face.press("a")
            assert decision_in(await answered(held)) == "allow"


async def test_a_click_decides_too(daemon: Daemon) -> None:
    held = daemon.hold(permission("make clicks"))
    async with face_of(daemon.home) as face:
        asked = await face.card("make clicks")
        await face.until(lambda: asked.why and asked.why in face.desk.text, "what the rules say")
        row = next(n for n, line in enumerate(face.desk.text.split("\n")) if "[a]" in line)
        allow, elsewhere = (3, row + 1), (3, 1)
        face.bridge.sessions.focus()
        await face.pilot.click(face.desk, offset=allow)
        await face.hears("This click brought the focus here")
        await asyncio.sleep(SETTLE_SECONDS)
        await face.pilot.click(face.desk, offset=allow, button=3)
        await face.pilot.click(face.desk, offset=allow, shift=True)
        await face.pilot.mouse_down(face.desk, offset=elsewhere)
        await face.pilot.mouse_up(face.desk, offset=allow)
        assert asked.is_pending
        assert not asked.sending
        await face.pilot.click(face.desk, offset=allow)
        assert decision_in(await answered(held)) == "allow"


async def test_what_is_asked_can_be_copied(daemon: Daemon) -> None:
    daemon.hold(permission("make copies"))
    async with face_of(daemon.home) as face:
        await face.card("make copies")
        await face.press("y")
        assert face.app.clipboard == "make copies"


def test_everything_was_answered(daemon: Daemon) -> None:
    assert daemon.pending() == []


async def test_what_is_typed_after_a_slash_is_searched_and_decides_nothing(daemon: Daemon) -> None:
    held = daemon.hold(permission("make war"))
    async with face_of(daemon.home) as face:
        await face.card("make war")
        await face.press("slash", *"allow")
        assert face.app.screen.query_one("#command", Input).value == "find allow"
        await face.press("enter")
        assert [request["status"] for request in daemon.pending()] == ["pending"]
    held.close()


async def test_a_key_in_the_same_breath_as_another_is_not_a_decision(daemon: Daemon) -> None:
    held = daemon.hold(permission("make haste"))
    async with face_of(daemon.home) as face:
        await face.card("make haste")
        face.desk.action_decide("deny")
        assert face.desk.why_not() == "another key came just before"
        face.desk.action_decide("allow")
        await face.press("escape")
        assert [request["status"] for request in daemon.pending()] == ["pending"]
    held.close()
