"""The rest of the terminal face on a real daemon: its screens, its manners, and content that means harm."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from textual.binding import Binding
from textual.widgets import Input

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.commands import COMMANDS
from quarterdeck.surfaces.terminal.styled_text import fold
from quarterdeck.surfaces.terminal.styled_text import plain as plain_text
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.help_screen import command_lines, key_lines
from quarterdeck.surfaces.tui.key_tables import PLACES
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import Wall
from tests.support.daemon import Daemon, decision_in, permission, prompt
from tests.support.hostile import HOSTILE, SENT
from tests.support.pilot import Face, face_of

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that has heard hostile text in every place a session has."""
    with Daemon(tmp_path_factory.mktemp("face") / "home") as daemon:
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


async def page(face: Face, name: str) -> PageScreen:
    """Another screen, opened by its command."""
    await face.orders(name)
    await face.until(lambda: isinstance(face.app.screen, PageScreen), name)
    assert isinstance(face.app.screen, PageScreen)
    return face.app.screen


def is_harmless(text: str) -> bool:
    return not UNSEEN.search(text.replace("\n", ""))


@pytest.mark.law("I6")
@pytest.mark.law("I7")
async def test_hostile_content_is_shown_literally_on_every_screen(daemon: Daemon) -> None:
    for number, text in enumerate(SENT[:8]):
        daemon.hold(permission(text, f"hostile{number}"))
    daemon.until_pending(8)
    async with face_of(daemon.home, (140, 44)) as face:
        await face.sees("[bold red]not markup[/bold red]")
        assert is_harmless(face.text)
        for _ in range(4):
            await face.press("n")
            assert is_harmless(face.text)
        await face.press("x")
        await face.until(lambda: face.desk.expanded)
        await face.press("x", "m")
        await face.until(lambda: isinstance(face.app.screen, Dialog))
        assert is_harmless(face.text)
        await face.press("escape")
        for name in ("tasks", "projects", "audit", "health"):
            await page(face, name)
            await face.until(lambda: len(face.text.split()) > 5, name)
            assert is_harmless(face.text)
            await face.press("escape")
        daemon.decide(daemon.pending()[0], "deny", message=HOSTILE["colour"])
        await face.sees("Denied by owner")
        assert is_harmless(face.text)


async def test_a_line_of_megabytes_is_taken_in_and_shown(daemon: Daemon) -> None:
    held = daemon.hold(permission("printf " + "y" * 10_000_000, "large"))
    async with face_of(daemon.home) as face:
        asked = await face.card("yyy")
        await face.sees("10,000,")
        await face.press("x")
        await face.until(lambda: face.desk.allow_vertical_scroll and face.desk.max_scroll_y > 50_000, "all of it")
        assert not asked.seen
        await face.press("end")
        await face.until(lambda: asked.seen, "its end")
        assert sum(len(span.text) for row in face.desk.rows for span in row) > 10_000_000
        await face.press("a")
        assert decision_in((await asyncio.to_thread(held.answer))[1]) == "allow"


async def test_a_storm_of_sizes_leaves_the_card_whole(daemon: Daemon) -> None:
    daemon.hold(permission("make waves", "storm"))
    async with face_of(daemon.home) as face:
        await face.card("make waves")
        for number in range(10):
            await face.pilot.resize_terminal(20 + number * 37 % 180, 4 + number * 13 % 60)
        await face.pilot.resize_terminal(60, 20)
        await face.sees("make waves")
        await face.sees("[a]")
        assert face.text.index("Desk") < face.text.index("Sessions")
        face.bridge.feed.focus()
        await face.until(lambda: face.bridge.feed.size.height >= 4, "room for the feed")
        face.bridge.sessions.focus()
        await face.until(lambda: face.bridge.sessions.size.height >= 6, "room for the sessions")
        face.desk.focus()
        await face.pilot.resize_terminal(120, 40)
        await face.until(lambda: face.text.index("Sessions") < face.text.index("Desk"))


async def test_choosing_a_session_shows_its_feed_and_its_card(daemon: Daemon) -> None:
    daemon.hook(prompt("sail away", "mine") | {"cwd": "/w/mine"})
    daemon.hold(permission("ls other", "other") | {"cwd": "/w/other"})
    daemon.hold(permission("ls mine", "mine") | {"cwd": "/w/mine"})
    daemon.until_pending(2)
    async with face_of(daemon.home) as face:
        await face.card("ls other")
        await face.orders("session mine")
        await face.card("ls mine")
        await face.sees("Feed · mine · sail away")
        assert face.bridge.feed.session_id == "mine"
        await face.press("escape")
        await face.sees("Feed · everything")
        places = [n for n, row in enumerate(face.bridge.sessions.text.split("\n")) if " other " in row]
        await face.pilot.click(face.bridge.sessions, offset=(5, places[0] + 1))
        await face.sees("Feed · other")


async def test_the_feed_is_narrowed_searched_cleared_and_reset(daemon: Daemon) -> None:
    daemon.hook(prompt("hoist the colours", "feed"))
    async with face_of(daemon.home) as face:
        await face.sees("hoist the colours")
        await face.orders("filter kind=tool.failure")
        await face.until(lambda: "hoist the colours" not in str(face.bridge.feed.rows), "filtered")
        await face.sees("kind=tool.failure")
        await face.orders("filter colour=red")
        await face.hears("not a filter")
        await face.orders("find nowhere")
        await face.hears("nothing more")
        await face.orders("reset")
        await face.sees("hoist the colours")
        await face.orders("clear")
        await face.until(lambda: len(face.bridge.feed.rows) == 0, "cleared")
        await face.orders("fly")
        await face.hears("no such command: fly")


async def test_rules_are_made_explained_tried_and_taken_back(daemon: Daemon) -> None:
    daemon.api("POST", "/rules", {"effect": "deny", "pattern": "Bash(rm:*)", "note": "[/]"})
    async with face_of(daemon.home) as face:
        await page(face, "rules")
        await face.sees("Bash(rm:*)")
        await face.press("plus")
        await face.until(lambda: isinstance(face.app.screen, Dialog))
        await face.types("Bash(git log:*)")
        await face.sees("past requests")
        await face.press("enter")
        assert isinstance(face.app.screen, Dialog), "Enter goes on to the next choice"
        await face.press("ctrl+s")
        await face.until(lambda: not isinstance(face.app.screen, Dialog))
        await face.sees("Bash(git log:*)")
        await face.press("t")
        await face.until(lambda: isinstance(face.app.screen, Dialog))
        face.app.screen.query_one("#input", Input).value = ""
        await face.press("enter")
        await face.sees("Type what Bash would get")
        await face.types("git log")
        await face.press("enter")
        await face.sees("allow: Bash(git log:*)")
        await face.press("s")
        await face.sees("would have decided")
        await face.press("o")
        await face.sees("implied by")
        await face.sees("Your decisions imply no rule yet.")
        await face.press("escape")
        await face.until(lambda: "implied by" not in face.text)
        assert isinstance(face.app.screen, PageScreen)
        for _ in range(2):
            await face.press("minus")
            await face.until(lambda: isinstance(face.app.screen, Dialog))
            await face.press("y")
            await face.until(lambda: not isinstance(face.app.screen, Dialog))
        await face.sees("None yet")
    assert daemon.api("GET", "/rules")[1]["rules"] == []


KEPT = ("effect", "pattern", "scope", "scope_id", "scope_path", "expires_at", "note")
"""What of a rule comes back when its removal is undone."""


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
    async with face_of(daemon.home) as face:
        await page(face, "rules")
        await face.sees(rule["pattern"])
        assert "undo" not in face.text.splitlines()[-1]
        await face.press("minus")
        await face.until(lambda: isinstance(face.app.screen, Dialog))
        await face.press("y")
        await face.hears(f"Removed: {rule['effect']} {rule['pattern']}; u restores it")
        await face.sees("None yet")
        await face.press("u")
        await face.hears(f"Restored: {rule['effect']} {rule['pattern']}")
        await face.sees(rule["pattern"])
    [again] = daemon.api("GET", "/rules")[1]["rules"]
    daemon.api("DELETE", f"/rules/{again['rule_id']}")
    assert {name: again[name] for name in KEPT} == {name: made[name] for name in KEPT}


async def test_the_audit_shows_who_decided_what(daemon: Daemon) -> None:
    daemon.hold(permission("make audits", "audit"))
    daemon.decide(daemon.until_pending(1)[0], "deny", message="no")
    async with face_of(daemon.home) as face:
        await face.until(lambda: face.app.model.stats is not None)
        await page(face, "audit")
        await face.sees("denied")
        await face.press("enter")
        await face.sees("kind: permission.decision")
        await face.sees("hash in the chain")
        await face.press("y")
        assert "permission.decision" in face.app.clipboard


@pytest.mark.parametrize(
    ("name", "words"), [("tasks", "swab the deck"), ("health", "hook answers, p99"), ("projects", "/w/deck")]
)
async def test_health_tasks_and_projects_are_filled(daemon: Daemon, name: str, words: str) -> None:
    todos = [{"content": "swab the deck", "status": "in_progress", "activeForm": "x"}]
    used = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "swab"}
    daemon.hook({"hook_event_name": "PostToolUse", "session_id": "deck", "cwd": "/w/deck", **used})
    async with face_of(daemon.home) as face:
        await face.until(lambda: face.app.model.stats is not None)
        shown = await page(face, name)
        await face.until(lambda: words in face.text or words in _walls(shown), words)


def _walls(shown: PageScreen) -> str:
    return "\n".join(wall.text for wall in shown.query(Wall))


SPOKEN = {
    **{"question_mark": "?", "colon": ":", "slash": "/", "asterisk": "*", "plus": "+", "minus": "-", "escape": "esc"},
    **{"left_square_bracket": "[", "right_square_bracket": "]", "left_curly_bracket": "{", "right_curly_bracket": "}"},
    **{"greater_than_sign": ">", **{f"ctrl+{letter}": f"^{letter}" for letter in ascii_lowercase}},
}
"""Keys that a person calls otherwise than Textual does."""


def keys_of(binding: Any) -> list[str]:
    return str(binding.key if isinstance(binding, Binding) else binding[0]).split(",")


async def test_help_names_every_key_and_every_command(daemon: Daemon) -> None:
    async with face_of(daemon.home) as face:
        shown = await page(face, "help")
        await face.until(lambda: "daemon stays" in _walls(shown))
        text = _walls(shown)
    assert all(command.name in text and command.words in text for command in COMMANDS)
    for title, bindings in PLACES:
        assert title in text
        told = [row.split("  ")[1].split() for row in plain_text(fold(key_lines(title, bindings), 200)).split("\n")[2:]]
        assert told == [[SPOKEN.get(key, key) for key in keys_of(binding)] for binding in bindings]
    assert len(list(fold(command_lines(), 200))) == len(COMMANDS) + 2


async def test_the_command_palette_knows_the_commands(daemon: Daemon) -> None:
    async with face_of(daemon.home) as face:
        named = [command.title for command in face.app.get_system_commands(face.app.screen)]
        assert {"allow", "rules", "health", "theme light"} <= set(named)
        await face.press("ctrl+p")
        await face.types("health")
        await asyncio.sleep(0.5)
        await face.press("enter", "enter")
        await face.until(lambda: isinstance(face.app.screen, PageScreen), "the health screen")


async def test_themes_change_while_it_runs(daemon: Daemon) -> None:
    async with face_of(daemon.home) as face:
        await face.orders("theme light")
        await face.until(lambda: face.app.theme == "light")
        await face.orders("theme pink")
        await face.hears("themes are dark, light, contrast")


async def test_the_first_run_shows_three_lines_which_a_request_takes_away(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as fresh:
        async with face_of(fresh.home, (60, 20)) as face:
            await face.sees("connect Claude Code (shows the change first)")
            assert all(words in face.text for words in ("play the demo", "what this is"))
            await face.press("i")
            await face.hears("in another terminal: qd install")
            held = fresh.hold(permission("make first"))
            await face.card("make first")
            await face.until(lambda: "play the demo" not in face.text)
            await face.press("a")
            assert decision_in((await asyncio.to_thread(held.answer))[1]) == "allow"


async def test_where_no_daemon_runs_the_screen_says_so(tmp_path: Path) -> None:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

    app = QuarterdeckApp(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        face = Face(app, pilot)
        await face.sees("The daemon is away")
        await face.orders("rules")
        await face.sees("no Quarterdeck runs")
