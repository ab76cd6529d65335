"""The terminal UI on a real daemon: its screens, the feed, resizing, and hostile content."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from textual.binding import Binding
from textual.command import CommandList
from textual.widgets import Input

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.styled_text import fold
from quarterdeck.surfaces.terminal.styled_text import plain as plain_text
from quarterdeck.surfaces.terminal.text_commands import COMMANDS
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.keys.help_screen import command_lines, key_lines
from quarterdeck.surfaces.tui.keys.key_reference import PLACES
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import TextView
from tests.support.daemon import Daemon, decision_in, permission, prompt
from tests.support.hostile import HOSTILE, SENT
from tests.support.pilot import TuiPilot, run_tui


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that has received hostile text in every field of a session."""
    with Daemon(tmp_path_factory.mktemp("tui") / "home") as daemon:
        for number, text in enumerate(SENT):
            about = {"session_id": f"hostile{number}", "cwd": f"/w/{text}"}
            daemon.hook(prompt(text) | about)
            todos = [{"content": text, "status": "in_progress", "activeForm": text}]
            used = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": f"t{number}"}
            daemon.hook({"hook_event_name": "PostToolUse", **about, **used, "tool_response": text})
            failed = {"tool_name": text, "tool_input": {"command": text}, "tool_use_id": f"f{number}", "error": text}
            daemon.hook({"hook_event_name": "PostToolUseFailure", **about, **failed})
        yield daemon


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    yield running
    running.hang_up()
    running.until_pending(0)


async def page(tui: TuiPilot, name: str) -> PageScreen:
    """Another screen, opened by its command."""
    await tui.runs_command(name)
    await tui.shows_screen(PageScreen)
    assert isinstance(tui.app.screen, PageScreen)
    return tui.app.screen


def is_harmless(text: str) -> bool:
    return not UNSEEN.search(text.replace("\n", ""))


@pytest.mark.law("I6")
@pytest.mark.law("I7")
async def test_hostile_content_is_shown_literally_on_every_screen(daemon: Daemon) -> None:
    for number, text in enumerate(SENT[:8]):
        daemon.hold(permission(text, f"hostile{number}"))
    daemon.until_pending(8)
    async with run_tui(daemon.home, (140, 44)) as tui:
        await tui.sees("[bold red]not markup[/bold red]")
        assert is_harmless(tui.text)
        for _ in range(4):
            await tui.press("n")
            assert is_harmless(tui.text)
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded)
        await tui.press("x", "m")
        await tui.shows_screen(Dialog)
        assert is_harmless(tui.text)
        await tui.press("escape")
        for name in ("tasks", "projects", "audit", "health"):
            await page(tui, name)
            await tui.until(lambda: len(tui.text.split()) > 5, name)
            assert is_harmless(tui.text)
            await tui.press("escape")
        daemon.decide(daemon.pending()[0], "deny", message=HOSTILE["colour"])
        await tui.sees("Denied by owner")
        assert is_harmless(tui.text)


async def test_a_line_of_megabytes_is_received_and_shown(daemon: Daemon) -> None:
    held = daemon.hold(permission("printf " + "y" * 10_000_000, "large"))
    async with run_tui(daemon.home) as tui:
        request = await tui.card("yyy")
        await tui.sees("10,000,")
        await tui.press("x")
        await tui.until(lambda: tui.desk.allow_vertical_scroll and tui.desk.max_scroll_y > 50_000, "all of it")
        assert not request.seen
        await tui.press("end")
        await tui.until(lambda: request.seen, "its end")
        assert sum(len(span.text) for row in tui.desk.rows for span in row) > 10_000_000
        await tui.press("a")
        assert decision_in((await asyncio.to_thread(held.answer))[1]) == "allow"


async def test_many_resizes_leave_the_card_intact(daemon: Daemon) -> None:
    daemon.hold(permission("make waves", "storm"))
    async with run_tui(daemon.home) as tui:
        await tui.card("make waves")
        for number in range(10):
            await tui.pilot.resize_terminal(20 + number * 37 % 180, 4 + number * 13 % 60)
        await tui.pilot.resize_terminal(60, 20)
        await tui.sees("make waves")
        await tui.sees("[a]")
        assert tui.text.index("Desk") < tui.text.index("Sessions")
        tui.main_screen.feed.focus()
        await tui.until(lambda: tui.main_screen.feed.size.height >= 4, "room for the feed")
        tui.main_screen.sessions.focus()
        await tui.until(lambda: tui.main_screen.sessions.size.height >= 6, "room for the sessions")
        tui.desk.focus()
        await tui.pilot.resize_terminal(120, 40)
        await tui.until(lambda: tui.text.index("Sessions") < tui.text.index("Desk"))


async def test_choosing_a_session_shows_its_feed_and_its_card(daemon: Daemon) -> None:
    daemon.hook(prompt("sail away", "mine") | {"cwd": "/w/mine"})
    daemon.hold(permission("ls other", "other") | {"cwd": "/w/other"})
    daemon.hold(permission("ls mine", "mine") | {"cwd": "/w/mine"})
    daemon.until_pending(2)
    async with run_tui(daemon.home) as tui:
        await tui.card("ls other")
        await tui.runs_command("session mine")
        await tui.card("ls mine")
        await tui.sees("Feed · mine · sail away")
        assert tui.main_screen.feed.session_id == "mine"
        await tui.press("escape")
        await tui.sees("Feed · everything")
        places = [n for n, row in enumerate(tui.main_screen.sessions.text.split("\n")) if " other " in row]
        await tui.pilot.click(tui.main_screen.sessions, offset=(5, places[0] + 1))
        await tui.sees("Feed · other")


async def test_the_feed_is_narrowed_searched_cleared_and_reset(daemon: Daemon) -> None:
    daemon.hook(prompt("hoist the colours", "feed"))
    async with run_tui(daemon.home) as tui:
        await tui.sees("hoist the colours")
        await tui.runs_command("filter kind=tool.failure")
        await tui.until(lambda: "hoist the colours" not in str(tui.main_screen.feed.rows), "filtered")
        await tui.sees("kind=tool.failure")
        await tui.runs_command("filter colour=red")
        await tui.shows_message("not a filter")
        await tui.runs_command("find nowhere")
        await tui.shows_message("nothing more")
        await tui.runs_command("reset")
        await tui.sees("hoist the colours")
        await tui.runs_command("clear")
        await tui.until(lambda: len(tui.main_screen.feed.rows) == 0, "cleared")
        await tui.runs_command("fly")
        await tui.shows_message("no such command: fly")


async def test_rules_are_made_explained_tested_and_removed(daemon: Daemon) -> None:
    daemon.api("POST", "/rules", {"effect": "deny", "pattern": "Bash(rm:*)", "note": "[/]"})
    async with run_tui(daemon.home) as tui:
        await page(tui, "rules")
        await tui.sees("Bash(rm:*)")
        await tui.press("plus")
        await tui.shows_screen(Dialog)
        await tui.types("Bash(git log:*)")
        await tui.sees("past requests")
        await tui.press("enter")
        assert isinstance(tui.app.screen, Dialog), "Enter goes on to the next choice"
        await tui.press("ctrl+s")
        await tui.until(lambda: not isinstance(tui.app.screen, Dialog))
        await tui.sees("Bash(git log:*)")
        await tui.press("t")
        await tui.shows_screen(Dialog)
        tui.app.screen.query_one("#input", Input).value = ""
        await tui.press("enter")
        await tui.sees("Type an input for Bash")
        await tui.types("git log")
        await tui.press("enter")
        await tui.sees("Allowed by rule Bash(git log:*)")
        await tui.press("s")
        await tui.sees("it would have")
        await tui.press("o")
        await tui.sees("implied by")
        await tui.sees("Your decisions imply no rule yet.")
        await tui.press("escape")
        await tui.until(lambda: "implied by" not in tui.text)
        assert isinstance(tui.app.screen, PageScreen)
        for left in ("Rules  1", "None yet"):
            await tui.press("minus")
            await tui.shows_screen(Dialog)
            await tui.press("y")
            await tui.until(lambda: not isinstance(tui.app.screen, Dialog))
            await tui.sees(left)
    assert daemon.api("GET", "/rules")[1]["rules"] == []


RESTORED_FIELDS = ("effect", "pattern", "scope", "scope_id", "scope_path", "expires_at", "note")
"""The fields of a rule that are restored when its removal is undone."""


@pytest.mark.parametrize(
    "rule",
    [
        {"effect": "deny", "pattern": "Bash(sink:*)", "note": "[/] never", "expires_at": 4_000_000_000.5},
        {"effect": "allow", "pattern": "Bash(sail:*)", "scope": "session", "scope_id": "hostile1"},
        {"effect": "ask", "pattern": "Bash(anchor:*)", "scope": "project", "scope_path": "/w"},
    ],
    ids=("user", "session", "project"),
)
async def test_a_rule_that_was_removed_is_restored_as_it_was(daemon: Daemon, rule: dict[str, Any]) -> None:
    made = daemon.api("POST", "/rules", rule)[1]
    async with run_tui(daemon.home) as tui:
        await page(tui, "rules")
        await tui.sees(rule["pattern"])
        assert "undo" not in tui.text.splitlines()[-1]
        await tui.press("minus")
        await tui.shows_screen(Dialog)
        await tui.press("y")
        await tui.shows_message(f"Removed: {rule['effect']} {rule['pattern']}; u restores it")
        await tui.sees("None yet")
        await tui.press("u")
        await tui.shows_message(f"Restored: {rule['effect']} {rule['pattern']}")
        await tui.sees(rule["pattern"])
    [again] = daemon.api("GET", "/rules")[1]["rules"]
    daemon.api("DELETE", f"/rules/{again['rule_id']}")
    assert {name: again[name] for name in RESTORED_FIELDS} == {name: made[name] for name in RESTORED_FIELDS}


async def test_the_audit_shows_who_decided_what(daemon: Daemon) -> None:
    daemon.hold(permission("make audits", "audit"))
    daemon.decide(daemon.until_pending(1)[0], "deny", message="no")
    async with run_tui(daemon.home) as tui:
        await tui.until(lambda: tui.app.model.stats is not None)
        await page(tui, "audit")
        await tui.sees("denied")
        await tui.press("enter")
        await tui.sees("kind: permission.decision")
        await tui.sees("hash in the chain")
        await tui.press("y")
        assert "permission.decision" in tui.app.clipboard


@pytest.mark.parametrize(
    ("name", "words"), [("tasks", "swab the deck"), ("health", "hook answers, p99"), ("projects", "/w/deck")]
)
async def test_health_tasks_and_projects_are_filled(daemon: Daemon, name: str, words: str) -> None:
    todos = [{"content": "swab the deck", "status": "in_progress", "activeForm": "x"}]
    used = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "swab"}
    daemon.hook({"hook_event_name": "PostToolUse", "session_id": "deck", "cwd": "/w/deck", **used})
    async with run_tui(daemon.home) as tui:
        await tui.until(lambda: tui.app.model.stats is not None)
        shown = await page(tui, name)
        await tui.until(lambda: words in tui.text or words in _page_text(shown), words)


def _page_text(shown: PageScreen) -> str:
    return "\n".join(wall.text for wall in shown.query(TextView))


SHOWN_KEYS = {
    **{"question_mark": "?", "colon": ":", "slash": "/", "asterisk": "*", "plus": "+", "minus": "-", "escape": "esc"},
    **{"left_square_bracket": "[", "right_square_bracket": "]", "left_curly_bracket": "{", "right_curly_bracket": "}"},
    **{"greater_than_sign": ">", **{f"ctrl+{letter}": f"^{letter}" for letter in ascii_lowercase}},
}
"""Keys that are shown under another name than Textual's."""


def keys_of(binding: Any) -> list[str]:
    return str(binding.key if isinstance(binding, Binding) else binding[0]).split(",")


async def test_help_names_every_key_and_every_command(daemon: Daemon) -> None:
    async with run_tui(daemon.home, (100, 40)) as tui:
        shown = await page(tui, "help")
        await tui.until(lambda: "daemon keeps running" in _page_text(shown))
        text = " ".join(_page_text(shown).split())
    assert all(command.name in text and command.words in text for command in COMMANDS)
    for title, bindings in PLACES:
        assert title in text
        shown_keys = [
            row.split("  ")[1].split() for row in plain_text(fold(key_lines(title, bindings), 200)).split("\n")[2:]
        ]
        assert shown_keys == [[SHOWN_KEYS.get(key, key) for key in keys_of(binding)] for binding in bindings]
    assert len(list(fold(command_lines(), 200))) == len(COMMANDS) + 2


async def test_the_command_palette_knows_the_commands(daemon: Daemon) -> None:
    async with run_tui(daemon.home) as tui:
        named = [command.title for command in tui.app.get_system_commands(tui.app.screen)]
        assert {"allow", "rules", "health", "theme light"} <= set(named)
        await tui.press("ctrl+p")
        await tui.types("health")
        found = tui.app.screen.query_one(CommandList)
        await tui.until(lambda: found.highlighted == 0 and found.option_count == 1, "what it finds")
        await tui.press("enter", "enter")
        await tui.shows_screen(PageScreen)


async def test_themes_change_while_it_runs(daemon: Daemon) -> None:
    async with run_tui(daemon.home) as tui:
        await tui.runs_command("theme light")
        await tui.until(lambda: tui.app.theme == "light")
        await tui.runs_command("theme pink")
        await tui.shows_message("themes are dark, light, contrast")


async def test_the_first_run_shows_three_lines_until_a_request_arrives(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as fresh:
        async with run_tui(fresh.home, (60, 20)) as tui:
            await tui.sees("connect Claude Code (shows the change first)")
            assert all(words in tui.text for words in ("play the demo", "what this is"))
            await tui.press("i")
            await tui.shows_message("in another terminal: qd install")
            held = fresh.hold(permission("make first"))
            await tui.card("make first")
            await tui.until(lambda: "play the demo" not in tui.text)
            await tui.press("a")
            assert decision_in((await asyncio.to_thread(held.answer))[1]) == "allow"


async def test_without_a_daemon_the_screen_says_so(tmp_path: Path) -> None:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

    app = QuarterdeckApp(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("The daemon is not responding")
        await tui.runs_command("rules")
        await tui.sees("Quarterdeck is not running")
