"""Session commands in the terminal UI: dialogs that keep typed text, commands that fit, errors in words."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from quarterdeck import __version__
from quarterdeck.surfaces.client.live import LiveMessage
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import ContinueDialog, PromptDialog, SwitchDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import ProjectFilter, StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.stop_dialog import StopDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.panes.speech import Speech
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.screens.workspace.mcp import McpPage
from quarterdeck.surfaces.tui.screens.workspace.plugins import PluginsPage
from quarterdeck.views.resources.session_view import SessionView
from tests.support.daemon import Daemon
from tests.support.pilot import TuiPilot, run_tui
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    event,
    live_message,
    owned_session,
    session,
    snapshot,
)

NOTHING: Json = {"hooks": [], "servers": [], "variables": [], "allows": [], "others": [], "troubles": []}


def project(path: str, **more: Any) -> Json:
    view: Json = {"name": path.rpartition("/")[2], "path": path, "git_branch": "main", "trusted": False}
    view |= {"last_modified": NOW, "live_sessions": 0, "prior_sessions": []}
    return view | more


def config_answer(path: str = "/home/ann/shop", *, trusted: bool = False, hooks: int = 1) -> Json:
    hook = {"event": "Stop", "matcher": "", "file": ".claude/settings.json"}
    return NOTHING | {
        "path": path,
        "trusted": trusted,
        "hooks": [hook | {"runs": f"./hook-{number}.sh"} for number in range(hooks)],
    }


ANSWERS: dict[str, Json] = {
    "/sessions": {"sessions": [], "next": None},
    "/projects": {
        "projects": [project("/home/ann/shop"), project("/home/ann/docs", trusted=True)],
        "scan": {"state": "done"},
    },
    "/projects/brings": config_answer(),
    "POST /projects/trust": {"path": "/home/ann/shop", "trust": "full"},
    "POST /sessions": owned_session("new", cwd="/home/ann/shop"),
}


@asynccontextmanager
async def tui_with(
    *sessions: Json, size: tuple[int, int] = (160, 40), answers: dict[str, Json] | None = None
) -> AsyncGenerator[tuple[TuiPilot, RecordedDaemon]]:
    """The terminal UI with these sessions, over a recorded daemon."""
    daemon = RecordedDaemon([connected(__version__), snapshot(sessions=list(sessions))], {**ANSWERS, **(answers or {})})
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        app.main_screen.shows_ended = True
        await tui.until(lambda: len(app.main_screen.sessions.rows) > 1 or not sessions, "sessions")
        await tui.press(*["down"] * bool(sessions))
        yield tui, daemon


def footer(tui: TuiPilot) -> str:
    return tui.text.splitlines()[-1]


@pytest.mark.parametrize(
    ("one", "there", "absent"),
    [
        (
            owned_session(),
            ["> write", "I interrupt", "E end", "F fork", "M mode"],
            ["t terminal", "R resume", "T take over"],
        ),
        (owned_session(mode="tmux"), ["> write", "t terminal"], ["R resume"]),
        (session(state="idle"), ["F fork"], ["> write", "E end", "T take over"]),
        (session("s1", "ended", ended_at=NOW), ["R resume", "T take over", "F fork"], ["> write", "E end"]),
        (owned_session(status="ending"), ["s start"], ["> write", "E end", "F fork", "R resume"]),
    ],
)
async def test_the_footer_shows_only_commands_the_session_takes(one: Json, there: list[str], absent: list[str]) -> None:
    async with tui_with(one) as (tui, _):
        await tui.until(lambda: all(words in footer(tui) for words in there), str(there))
        assert not [words for words in absent if words in footer(tui)]


@pytest.mark.law("S9")
async def test_a_session_is_started_only_once_its_project_was_shown_and_trusted() -> None:
    async with tui_with() as (tui, daemon):
        await tui.press("s")
        await tui.sees("✓ trusted   docs")
        await tui.press(*"shop", "enter", *"hello", "enter", *"there", "ctrl+s")
        await tui.shows_screen(TrustDialog)
        await tui.sees("Stop: ./hook-0.sh")
        await tui.press("n")
        await tui.sees("Not trusted, so nothing was started")
        assert daemon.sent == []
        await tui.press("ctrl+s")
        await tui.shows_screen(TrustDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, TrustDialog)
        await tui.until(lambda: not dialog.blocked_reason())
        await tui.press("y")
        await tui.shows_message("Started shop (new)")
        assert daemon.sent == [
            ("POST", "/projects/trust", {"path": "/home/ann/shop"}),
            (
                "POST",
                "/sessions",
                {"cwd": "/home/ann/shop", "mode": "sdk", "permission_mode": "default", "prompt": "hello\nthere"},
            ),
        ]
        assert tui.main_screen.sessions.chosen == "new"


async def test_mode_permissions_and_model_go_with_the_start() -> None:
    async with tui_with(answers={"/projects/brings": config_answer("/home/ann/docs", trusted=True)}) as (tui, daemon):
        await tui.press("s")
        await tui.sees("✓ trusted   docs")
        await tui.press("tab", "tab", "right", "tab", "right", "right", "tab", "tab", *"opus", "f2")
        await tui.shows_message("Started")
        ((_, path, body),) = daemon.sent
        assert path == "/sessions"
        assert body == {"cwd": "/home/ann/docs", "mode": "tmux", "permission_mode": "plan", "model": "opus"}


@pytest.mark.law("S9")
async def test_a_project_config_must_be_seen_to_its_end_before_it_is_trusted() -> None:
    async with tui_with(size=(60, 20), answers={"/projects/brings": config_answer(hooks=40)}) as (tui, daemon):
        await tui.press("s")
        await tui.sees("untrusted")
        await tui.press(*"shop", "enter", "ctrl+s")
        await tui.shows_screen(TrustDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, TrustDialog)
        await tui.until(lambda: "more below" in dialog.blocked_reason())
        await tui.press("y")
        await tui.sees("There is more below")
        assert daemon.sent == []
        await tui.press("end")
        await tui.until(lambda: not dialog.blocked_reason(), "seen to its end")
        await tui.sees("its own rules take effect")
        await tui.press("y")
        await tui.until(lambda: daemon.sent, "trusted")


async def test_an_error_is_shown_and_the_typed_text_stays() -> None:
    answers = {"/projects/brings": config_answer(trusted=True)}
    async with tui_with(owned_session(), answers=answers) as (tui, daemon):
        await tui.press("greater_than_sign")
        await tui.shows_screen(PromptDialog)
        await tui.press("ctrl+s")
        await tui.sees("Write something first")
        await tui.press(*"do it", "ctrl+s")
        await tui.sees("not recorded")
        assert tui.app.screen.query_one("#prompt", TextArea).text == "do it"
        assert daemon.sent == [("POST", "/sessions/s1/messages", {"prompt": "do it"})]
        await tui.press("escape")
        await tui.shows_screen(MainScreen)


async def test_a_session_gets_a_prompt_is_interrupted_and_ended_after_a_question() -> None:
    answers: dict[str, Json] = {
        "POST /sessions/s1/messages": {"message_id": "m1", "session_id": "s1"},
        "POST /sessions/s1/interrupt": owned_session(),
        "POST /sessions/s1/end": owned_session(status="ending"),
    }
    async with tui_with(owned_session(), answers=answers) as (tui, daemon):
        await tui.runs_command("write hello there")
        await tui.shows_message("Sent to shop (s1)")
        await tui.press("I")
        await tui.shows_message("Interrupted shop (s1)")
        await tui.press("E")
        await tui.shows_screen(ConfirmDialog)
        await tui.press("n")
        await tui.shows_screen(MainScreen)
        await tui.runs_command("end")
        await tui.shows_screen(ConfirmDialog)
        await tui.press("y")
        await tui.shows_message("Ending shop (s1)")
        assert [path.rpartition("/")[2] for _, path, _ in daemon.sent] == ["messages", "interrupt", "end"]


async def test_everything_is_stopped_after_the_list_of_what_will_stop() -> None:
    one = {
        "session_id": "s1",
        "cwd": "/home/ann/shop",
        "title": "",
        "agent_state": "running",
        "mode": "sdk",
        "ok": True,
    }
    results: Json = {"sessions": [one]}
    answers: dict[str, Json] = {"POST /sessions/interrupt": results, "POST /sessions/end": results}
    async with tui_with(owned_session(), answers=answers) as (tui, daemon):
        await tui.press("X")
        await tui.shows_screen(StopDialog)
        await tui.sees("Interrupt 1 session")
        await tui.sees("shop (s1) running")
        await tui.press("escape")
        await tui.shows_screen(MainScreen)
        await tui.runs_command("stop-all")
        await tui.shows_screen(StopDialog)
        await tui.press("E")
        await tui.shows_message("Ended 1 of 1")
        plans = [("POST", f"/sessions/{route}", {"all": True, "dry_run": True}) for route in ("interrupt", "end")]
        assert daemon.sent == [*plans, *plans, ("POST", "/sessions/end", {"session_ids": ["s1"]})]


async def test_a_conversation_is_continued_by_resume_or_fork() -> None:
    answers = {"/projects/brings": config_answer(trusted=True), "POST /sessions/s1/fork": owned_session("f1")}
    async with tui_with(owned_session(status="down", permission_mode="plan"), answers=answers) as (tui, daemon):
        await tui.press("R")
        await tui.shows_screen(ContinueDialog)
        await tui.sees("(•) plan")
        tui.app.screen.query_one("#permission_mode", WordChoice).choose(0)
        await tui.press(*"go on", "ctrl+s")
        await tui.shows_message("Started shop (new)")
        tui.main_screen.go_to_session("s1")
        await tui.runs_command("fork another way")
        await tui.shows_screen(ContinueDialog)
        await tui.press("ctrl+s")
        await tui.shows_message("Started shop (f1)")
        assert daemon.sent == [
            ("POST", "/sessions", {"mode": "sdk", "permission_mode": "default", "prompt": "go on", "resume": "s1"}),
            ("POST", "/sessions/s1/fork", {"mode": "sdk", "permission_mode": "plan", "prompt": "another way"}),
        ]


async def test_a_session_that_has_ended_elsewhere_is_taken_over_once_its_project_is_trusted() -> None:
    answers = {"/projects/brings": config_answer(hooks=0), "POST /sessions/s1/takeover": owned_session("s1")}
    async with tui_with(session("s1", "ended", ended_at=NOW), answers=answers) as (tui, daemon):
        await tui.press("T")
        await tui.shows_screen(ContinueDialog)
        await tui.press("ctrl+s")
        await tui.shows_screen(TrustDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, TrustDialog)
        await tui.until(lambda: not dialog.blocked_reason())
        await tui.press("y")
        await tui.shows_message("Started shop (s1)")
        assert [path for _, path, _ in daemon.sent] == ["/projects/trust", "/sessions/s1/takeover"]


async def test_one_setting_at_a_time_is_changed() -> None:
    async with tui_with(owned_session(), answers={"POST /sessions/s1/mode": owned_session(mode="tmux")}) as (
        tui,
        daemon,
    ):
        await tui.press("M")
        await tui.shows_screen(SwitchDialog)
        await tui.press("ctrl+s")
        await tui.sees("Choose what to change")
        tui.app.screen.query_one("#permission_mode", WordChoice).choose(3)
        tui.app.screen.query_one("#mode", WordChoice).choose(1)
        await tui.press("ctrl+s")
        await tui.sees("Change one thing at a time")
        tui.app.screen.query_one("#permission_mode", WordChoice).choose(0)
        await tui.press("ctrl+s")
        await tui.shows_message("Changed: shop (s1)")
        assert daemon.sent == [("POST", "/sessions/s1/mode", {"mode": "tmux"})]


async def test_a_terminal_that_cannot_be_shown_here_is_named() -> None:
    async with tui_with(owned_session(mode="pty")) as (tui, _):
        await tui.press("t")
        await tui.shows_message("In another terminal: qd attach s1")


async def test_commands_that_do_not_fit_say_why() -> None:
    async with tui_with(session(state="idle")) as (tui, daemon):
        await tui.runs_command("end")
        await tui.shows_message("Shop (s1) takes fork")
        await tui.press("home")
        await tui.runs_command("resume")
        await tui.shows_message("Choose a session first")
        assert daemon.sent == []


@pytest.mark.parametrize("key", ["t", "I", "E", "greater_than_sign", "M", "W", "R", "T"])
async def test_a_key_that_the_session_does_not_take_says_why(key: str) -> None:
    async with tui_with(session(state="idle")) as (tui, daemon):
        await tui.press(key)
        await tui.shows_message("Shop (s1) still runs elsewhere" if key == "T" else "Shop (s1) takes fork")
        await tui.press("home", key)
        await tui.shows_message("Choose a session first")
        assert daemon.sent == []


def highlighted(tui: TuiPilot) -> SessionView:
    """The session under the cursor."""
    session = tui.main_screen.sessions.highlighted
    assert session is not None
    return session


async def test_a_session_that_ends_stays_under_the_cursor_until_it_moves() -> None:
    async with tui_with(owned_session("s1"), owned_session("s2")) as (tui, _):
        tui.main_screen.shows_ended = False
        held = highlighted(tui).session_id
        tui.app.model.receive(live_message("session", owned_session(held, status="down")), 0.0)
        tui.app.redraw_soon()
        await tui.until(
            lambda: highlighted(tui).ended_at,
            "the session has ended; resume it first",
        )
        assert highlighted(tui).session_id == held
        await tui.until(lambda: "R resume" in footer(tui), "R resume")
        await tui.press("home")
        tui.app.redraw_soon()
        await tui.until(lambda: held not in {one.session_id for one in tui.main_screen.sessions._sessions}, "gone")


async def test_streamed_text_is_shown_below_the_feed_until_the_feed_has_it() -> None:
    async with tui_with(owned_session(cwd="/home/ann/shop")) as (tui, _):
        speech = tui.main_screen.query_one(Speech)
        body = {"event": "content_block_delta", "delta": "text_delta", "text": "Well, [b]let[/b] me see"}
        speech.live_text.receive({"session_id": "s1", "kind": "text", "data": body}, 0.0)
        tui.app.redraw_soon()
        await tui.sees("● shop says")
        await tui.sees("Well, [b]let[/b] me see")
        tui.app.model.receive(LiveMessage("event", {"event": event(9, "message.assistant", "x")}), 0.0)
        tui.app.redraw_soon()
        await tui.until(lambda: "shop says" not in tui.text)


PLUGIN: Json = {"plugin_id": "lint@lab", "name": "lint", "marketplace": "lab", "version": "1.2", "enabled": True}
PLUGIN |= {"scope": "user", "project": None, "capabilities": ["hooks"], "errors": []}
OFFER: Json = {"plugin_id": "spell@lab", "name": "spell", "marketplace": "lab", "description": "spells"}
OFFER |= {"version": None}


async def test_plugins_are_turned_off_updated_installed_and_removed_with_claudes_own_words() -> None:
    answers: dict[str, Json] = {
        "/plugins": {"plugins": [PLUGIN]},
        "/plugins/available": {"available": [OFFER]},
        "POST /plugins/disable": {"said": "Disabled lint", "ok": True},
        "POST /plugins/install": {"said": "Installed spell", "ok": True},
        "POST /plugins/uninstall": {"said": "Gone: lint", "ok": True},
    }
    async with tui_with(answers=answers) as (tui, daemon):
        await tui.runs_command("plugins")
        await tui.shows_screen(PluginsPage)
        await tui.sees("✓ on  lint")
        await tui.press("enter")
        await tui.sees("contains hooks")
        await tui.press("space")
        await tui.shows_message("Disabled lint")
        await tui.press("u")
        await tui.sees("not recorded")
        await tui.press("minus")
        await tui.shows_screen(ConfirmDialog)
        await tui.press("y")
        await tui.shows_message("Gone: lint")
        await tui.press("o")
        await tui.sees("1 to install")
        await tui.press("plus")
        await tui.sees("runs in every new session")
        await tui.press("y")
        await tui.shows_message("Installed spell")
        await tui.press("escape")
        await tui.shows_screen(MainScreen)
        assert [(path, body["name"]) for _, path, body in daemon.sent] == [
            ("/plugins/disable", "lint@lab"),
            ("/plugins/update", "lint@lab"),
            ("/plugins/uninstall", "lint@lab"),
            ("/plugins/install", "spell@lab"),
        ]


async def test_when_there_is_nothing_to_install_esc_goes_back_to_the_plugins() -> None:
    async with tui_with(answers={"/plugins": {"plugins": [PLUGIN]}, "/plugins/available": {"available": []}}) as (
        tui,
        _,
    ):
        await tui.runs_command("plugins")
        await tui.sees("✓ on  lint")
        await tui.press("o")
        await tui.sees("Nothing more to install")
        await tui.press("escape")
        await tui.sees("✓ on  lint")
        await tui.shows_screen(PluginsPage)


MARKET: Json = {"name": "lab", "source": "directory", "location": "/home/ann/market"}


async def test_marketplaces_are_added_updated_and_removed_from_the_plugins() -> None:
    answers: dict[str, Json] = {
        "/plugins": {"plugins": [PLUGIN]},
        "/plugins/marketplaces": {"marketplaces": [MARKET]},
        "POST /plugins/marketplaces": {"said": "Added team", "ok": True},
        "POST /plugins/marketplaces/update": {"said": "Updated", "ok": True},
        "DELETE /plugins/marketplaces/lab": {"said": "Removed lab", "ok": True},
    }
    async with tui_with(answers=answers) as (tui, daemon):
        await tui.runs_command("plugins")
        await tui.sees("✓ on  lint")
        await tui.press("m")
        await tui.shows_screen(MarketplacesPage)
        await tui.sees("/home/ann/market")
        await tui.press("enter")
        await tui.sees("where: /home/ann/market")
        await tui.press("plus")
        await tui.sees("Add a marketplace")
        await tui.press("ctrl+s")
        await tui.sees("Name a folder")
        await tui.press(*"./market", "ctrl+s")
        await tui.sees("A folder must start with /")
        await tui.press("home", "delete", "delete", *"acme/", "ctrl+s")
        await tui.shows_message("Added team")
        await tui.press("u")
        await tui.shows_message("Updated")
        await tui.press("U", "minus")
        await tui.sees("What was installed from it goes with it")
        await tui.press("y")
        await tui.shows_message("Removed lab")
        await tui.press("escape")
        await tui.shows_screen(PluginsPage)
        assert daemon.sent == [
            ("POST", "/plugins/marketplaces", {"source": "acme/market"}),
            ("POST", "/plugins/marketplaces/update", {"name": "lab"}),
            ("POST", "/plugins/marketplaces/update", {}),
            ("DELETE", "/plugins/marketplaces/lab", {}),
        ]


async def test_without_a_marketplace_the_page_says_what_to_do() -> None:
    async with tui_with(answers={"/plugins/marketplaces": {"marketplaces": []}}) as (tui, daemon):
        await tui.runs_command("marketplaces")
        await tui.sees("None yet: + adds one")
        assert "open" not in footer(tui)
        await tui.press("u", "U", "minus")
        assert daemon.sent == []


SERVER: Json = {"name": "files", "transport": "stdio", "scope": "local", "project": "/home/ann/shop"}
SERVER |= {"status": "failed", "last_error": "it went away", "checked_at": NOW - 5, "tools": None, "login": None}
SERVER |= {"config": {"command": "npx", "args": ["-y", "files"], "env": {"KEY": "•••"}}}


async def test_mcp_servers_are_tested_added_and_removed() -> None:
    answers: dict[str, Json] = {
        "/mcp": {"mcp": [SERVER]},
        "POST /mcp": {"said": "Added far", "ok": True},
        "POST /mcp/check": {"mcp": []},
        "DELETE /mcp/files": {"said": "Removed files", "ok": True},
    }
    async with tui_with(answers=answers) as (tui, daemon):
        await tui.runs_command("mcp")
        await tui.shows_screen(McpPage)
        await tui.sees("✕ failed")
        await tui.press("enter")
        await tui.sees("! it went away")
        await tui.press("v")
        await tui.until(lambda: daemon.sent, "tried")
        await tui.press("plus")
        await tui.sees("Add an MCP server")
        await tui.press("ctrl+s")
        await tui.sees("A server needs a name")
        await tui.press(*"far", "tab", "right", "tab", *"https://far.example/mcp", "tab", *"X-Key: 1", "ctrl+s")
        await tui.shows_message("Added far")
        await tui.press("minus")
        await tui.shows_screen(ConfirmDialog)
        await tui.press("y")
        await tui.shows_message("Removed files")
        there = {"name": "far", "transport": "http", "scope": "user", "url": "https://far.example/mcp"}
        assert daemon.sent == [
            ("POST", "/mcp/check", {"project": "/home/ann/shop"}),
            ("POST", "/mcp", there | {"headers": {"X-Key": "1"}}),
            ("DELETE", "/mcp/files?scope=local&project=%2Fhome%2Fann%2Fshop", {}),
        ]


async def test_a_real_daemon_shows_the_project_config_and_why_it_cannot_start(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text('{"env": {"ODD": "1"}}')
    env = {"QUARTERDECK_CLAUDE_PATH": str(tmp_path / "no-claude"), "HOME": str(tmp_path)}
    with Daemon(tmp_path / "home", env=env) as daemon:
        async with run_tui(daemon.home, (120, 40)) as tui:
            await tui.press("s")
            await tui.shows_screen(StartDialog)
            tui.app.screen.query_one(ProjectFilter).value = str(folder)
            await tui.press("ctrl+s")
            await tui.shows_screen(TrustDialog)
            await tui.sees("ODD")
            dialog = tui.app.screen
            assert isinstance(dialog, TrustDialog)
            await tui.until(lambda: not dialog.blocked_reason())
            await tui.press("y")
            await tui.until(lambda: daemon.api("GET", f"/projects/brings?path={folder}")[1]["trusted"], "trusted")
            await tui.sees("no-claude")
            await tui.press("escape")
            await tui.shows_screen(MainScreen)
