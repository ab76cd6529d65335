"""Sessions steered at the terminal face: dialogs that keep what was typed, orders that fit, refusals in words."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from quarterdeck import __version__
from quarterdeck.surfaces.client.live import Message
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import GoOnDialog, SwitchDialog, WriteDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import Filter, StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.panes.speech import Speech
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.screens.workspace.mcp import McpPage
from quarterdeck.surfaces.tui.screens.workspace.plugins import PluginsPage
from tests.support.daemon import Daemon
from tests.support.pilot import Face, face_of
from tests.support.tui import NOW, Json, RecordedTalk, connected, event, ours, session, snapshot, told

pytestmark = pytest.mark.timeout(60)
NOTHING: Json = {"hooks": [], "servers": [], "variables": [], "allows": [], "others": [], "troubles": []}


def project(path: str, **more: Any) -> Json:
    view: Json = {"name": path.rpartition("/")[2], "path": path, "git_branch": "main", "trusted": False}
    view |= {"last_modified": NOW, "live_sessions": 0, "prior_sessions": []}
    return view | more


def brings(path: str = "/home/ann/shop", *, trusted: bool = False, hooks: int = 1) -> Json:
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
    "/projects/brings": brings(),
    "POST /projects/trust": {"path": "/home/ann/shop", "trust": "full"},
    "POST /sessions": ours("new", cwd="/home/ann/shop"),
}


@asynccontextmanager
async def recorded(
    *sessions: Json, size: tuple[int, int] = (160, 40), answers: dict[str, Json] | None = None
) -> AsyncGenerator[tuple[Face, RecordedTalk]]:
    """A face that knows these sessions, over a way to a daemon that was recorded."""
    talk = RecordedTalk([connected(__version__), snapshot(sessions=list(sessions))], {**ANSWERS, **(answers or {})})
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        app.bridge.ended = True
        await face.until(lambda: len(app.bridge.sessions.rows) > 1 or not sessions, "sessions")
        await face.press(*["down"] * bool(sessions))
        yield face, talk


async def shows(face: Face, dialog: type) -> None:
    await face.until(lambda: isinstance(face.app.screen, dialog), dialog.__name__)


def foot(face: Face) -> str:
    return face.text.splitlines()[-1]


@pytest.mark.parametrize(
    ("one", "there", "absent"),
    [
        (ours(), ["> write", "I interrupt", "E end", "F fork", "M mode"], ["t terminal", "R resume", "T take over"]),
        (ours(mode="tmux"), ["> write", "t terminal"], ["R resume"]),
        (session(state="idle"), ["F fork"], ["> write", "E end", "T take over"]),
        (session("s1", "ended", ended_at=NOW), ["R resume", "T take over", "F fork"], ["> write", "E end"]),
        (ours(status="ending"), ["s start"], ["> write", "E end", "F fork", "R resume"]),
    ],
)
async def test_the_foot_shows_only_what_the_session_takes(one: Json, there: list[str], absent: list[str]) -> None:
    async with recorded(one) as (face, _):
        await face.until(lambda: all(words in foot(face) for words in there), str(there))
        assert not [words for words in absent if words in foot(face)]


@pytest.mark.law("S9")
async def test_a_session_is_started_only_once_its_project_was_shown_and_trusted() -> None:
    async with recorded() as (face, talk):
        await face.press("s")
        await face.sees("✓ trusted   docs")
        await face.press(*"shop", "enter", *"hello", "enter", *"there", "ctrl+s")
        await shows(face, TrustDialog)
        await face.sees("Stop: ./hook-0.sh")
        await face.press("n")
        await face.sees("Not trusted, so nothing was started")
        assert talk.ordered == []
        await face.press("ctrl+s")
        await shows(face, TrustDialog)
        dialog = face.app.screen
        assert isinstance(dialog, TrustDialog)
        await face.until(lambda: not dialog.why_not())
        await face.press("y")
        await face.hears("Started shop (new)")
        assert talk.ordered == [
            ("POST", "/projects/trust", {"path": "/home/ann/shop"}),
            (
                "POST",
                "/sessions",
                {"cwd": "/home/ann/shop", "mode": "sdk", "permission_mode": "default", "prompt": "hello\nthere"},
            ),
        ]
        assert face.bridge.sessions.chosen == "new"


async def test_mode_permissions_and_model_go_with_the_start() -> None:
    async with recorded(answers={"/projects/brings": brings("/home/ann/docs", trusted=True)}) as (face, talk):
        await face.press("s")
        await face.sees("✓ trusted   docs")
        await face.press("tab", "tab", "right", "tab", "right", "right", "tab", "tab", *"opus", "f2")
        await face.hears("Started")
        ((_, path, body),) = talk.ordered
        assert path == "/sessions"
        assert body == {"cwd": "/home/ann/docs", "mode": "tmux", "permission_mode": "plan", "model": "opus"}


@pytest.mark.law("S9")
async def test_what_does_not_all_show_cannot_be_trusted() -> None:
    async with recorded(size=(60, 20), answers={"/projects/brings": brings(hooks=40)}) as (face, talk):
        await face.press("s")
        await face.sees("untrusted")
        await face.press(*"shop", "enter", "ctrl+s")
        await shows(face, TrustDialog)
        dialog = face.app.screen
        assert isinstance(dialog, TrustDialog)
        await face.until(lambda: "more below" in dialog.why_not())
        await face.press("y")
        await face.sees("There is more below")
        assert talk.ordered == []
        await face.press("end")
        await face.until(lambda: not dialog.why_not(), "seen to its end")
        await face.sees("its own rules hold")
        await face.press("y")
        await face.until(lambda: talk.ordered, "trusted")


async def test_a_refusal_is_said_and_what_was_typed_stays() -> None:
    answers = {"/projects/brings": brings(trusted=True)}
    async with recorded(ours(), answers=answers) as (face, talk):
        await face.press("greater_than_sign")
        await shows(face, WriteDialog)
        await face.press("ctrl+s")
        await face.sees("Write something first")
        await face.press(*"do it", "ctrl+s")
        await face.sees("not recorded")
        assert face.app.screen.query_one("#prompt", TextArea).text == "do it"
        assert talk.ordered == [("POST", "/sessions/s1/messages", {"prompt": "do it"})]
        await face.press("escape")
        await shows(face, Bridge)


async def test_a_session_is_written_to_interrupted_and_ended_after_a_question() -> None:
    answers: dict[str, Json] = {
        "POST /sessions/s1/messages": {"message_id": "m1", "session_id": "s1"},
        "POST /sessions/s1/interrupt": ours(),
        "POST /sessions/s1/end": ours(status="ending"),
    }
    async with recorded(ours(), answers=answers) as (face, talk):
        await face.orders("write hello there")
        await face.hears("Sent to shop (s1)")
        await face.press("I")
        await face.hears("Interrupted shop (s1)")
        await face.press("E")
        await shows(face, SureDialog)
        await face.press("n")
        await shows(face, Bridge)
        await face.orders("end")
        await shows(face, SureDialog)
        await face.press("y")
        await face.hears("Ending shop (s1)")
        assert [path.rpartition("/")[2] for _, path, _ in talk.ordered] == ["messages", "interrupt", "end"]


async def test_a_conversation_goes_on_resumed_or_forked() -> None:
    answers = {"/projects/brings": brings(trusted=True), "POST /sessions/s1/fork": ours("f1")}
    async with recorded(ours(status="down", permission_mode="plan"), answers=answers) as (face, talk):
        await face.press("R")
        await shows(face, GoOnDialog)
        await face.sees("(•) plan")
        face.app.screen.query_one("#permissions", OneWord).choose(0)
        await face.press(*"go on", "ctrl+s")
        await face.hears("Started shop (new)")
        face.bridge.look_at("s1")
        await face.orders("fork another way")
        await shows(face, GoOnDialog)
        await face.press("ctrl+s")
        await face.hears("Started shop (f1)")
        assert talk.ordered == [
            ("POST", "/sessions", {"mode": "sdk", "permission_mode": "default", "prompt": "go on", "resume": "s1"}),
            ("POST", "/sessions/s1/fork", {"mode": "sdk", "permission_mode": "plan", "prompt": "another way"}),
        ]


async def test_a_session_that_has_ended_elsewhere_is_taken_over_once_its_project_is_trusted() -> None:
    answers = {"/projects/brings": brings(hooks=0), "POST /sessions/s1/takeover": ours("s1")}
    async with recorded(session("s1", "ended", ended_at=NOW), answers=answers) as (face, talk):
        await face.press("T")
        await shows(face, GoOnDialog)
        await face.press("ctrl+s")
        await shows(face, TrustDialog)
        dialog = face.app.screen
        assert isinstance(dialog, TrustDialog)
        await face.until(lambda: not dialog.why_not())
        await face.press("y")
        await face.hears("Started shop (s1)")
        assert [path for _, path, _ in talk.ordered] == ["/projects/trust", "/sessions/s1/takeover"]


async def test_one_thing_at_a_time_is_changed() -> None:
    async with recorded(ours(), answers={"POST /sessions/s1/mode": ours(mode="tmux")}) as (face, talk):
        await face.press("M")
        await shows(face, SwitchDialog)
        await face.press("ctrl+s")
        await face.sees("Choose what shall be otherwise")
        face.app.screen.query_one("#permissions", OneWord).choose(3)
        face.app.screen.query_one("#mode", OneWord).choose(1)
        await face.press("ctrl+s")
        await face.sees("One thing at a time")
        face.app.screen.query_one("#permissions", OneWord).choose(0)
        await face.press("ctrl+s")
        await face.hears("Changed: shop (s1)")
        assert talk.ordered == [("POST", "/sessions/s1/mode", {"mode": "tmux"})]


async def test_a_terminal_that_cannot_be_handed_over_is_named() -> None:
    async with recorded(ours(mode="pty")) as (face, _):
        await face.press("t")
        await face.hears("In another terminal: qd attach s1")


async def test_orders_that_do_not_fit_say_why() -> None:
    async with recorded(session(state="idle")) as (face, talk):
        await face.orders("end")
        await face.hears("Shop (s1) takes fork")
        await face.press("home")
        await face.orders("resume")
        await face.hears("Choose a session first")
        assert talk.ordered == []


@pytest.mark.parametrize("key", ["t", "I", "E", "greater_than_sign", "M", "W", "R", "T"])
async def test_a_key_that_the_session_does_not_take_says_why(key: str) -> None:
    async with recorded(session(state="idle")) as (face, talk):
        await face.press(key)
        await face.hears("Shop (s1) still runs elsewhere" if key == "T" else "Shop (s1) takes fork")
        await face.press("home", key)
        await face.hears("Choose a session first")
        assert talk.ordered == []


async def test_a_session_that_ends_stays_under_the_cursor_until_it_is_left() -> None:
    async with recorded(ours("s1"), ours("s2")) as (face, _):
        face.bridge.ended = False
        held = (face.bridge.sessions.pointed or {})["session_id"]
        face.app.model.hear(told("session", ours(held, status="down")), 0.0)
        face.app.dirty()
        await face.until(lambda: (face.bridge.sessions.pointed or {}).get("ended_at"), "it has ended")
        assert (face.bridge.sessions.pointed or {})["session_id"] == held
        await face.until(lambda: "R resume" in foot(face), "R resume")
        await face.press("home")
        face.app.dirty()
        await face.until(lambda: held not in {one["session_id"] for one in face.bridge.sessions._sessions}, "gone")


async def test_what_a_model_says_stands_at_the_end_of_the_feed_until_the_feed_has_it() -> None:
    async with recorded(ours(cwd="/home/ann/shop")) as (face, _):
        speech = face.bridge.query_one(Speech)
        body = {"event": "content_block_delta", "delta": "text_delta", "text": "Well, [b]let[/b] me see"}
        speech.spoken.hear({"session_id": "s1", "kind": "text", "data": body}, 0.0)
        face.app.dirty()
        await face.sees("● shop says")
        await face.sees("Well, [b]let[/b] me see")
        face.app.model.hear(Message("event", {"event": event(9, "message.assistant", "x")}), 0.0)
        face.app.dirty()
        await face.until(lambda: "shop says" not in face.text)


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
    async with recorded(answers=answers) as (face, talk):
        await face.orders("plugins")
        await shows(face, PluginsPage)
        await face.sees("✓ on  lint")
        await face.press("enter")
        await face.sees("brings hooks")
        await face.press("space")
        await face.hears("Disabled lint")
        await face.press("u")
        await face.sees("not recorded")
        await face.press("minus")
        await shows(face, SureDialog)
        await face.press("y")
        await face.hears("Gone: lint")
        await face.press("o")
        await face.sees("1 to install")
        await face.press("plus")
        await face.sees("runs in every new session")
        await face.press("y")
        await face.hears("Installed spell")
        await face.press("escape")
        await shows(face, Bridge)
        assert [(path, body["name"]) for _, path, body in talk.ordered] == [
            ("/plugins/disable", "lint@lab"),
            ("/plugins/update", "lint@lab"),
            ("/plugins/uninstall", "lint@lab"),
            ("/plugins/install", "spell@lab"),
        ]


async def test_when_there_is_nothing_to_install_esc_goes_back_to_the_plugins() -> None:
    async with recorded(answers={"/plugins": {"plugins": [PLUGIN]}, "/plugins/available": {"available": []}}) as (
        face,
        _,
    ):
        await face.orders("plugins")
        await face.sees("✓ on  lint")
        await face.press("o")
        await face.sees("Nothing more to install")
        await face.press("escape")
        await face.sees("✓ on  lint")
        await shows(face, PluginsPage)


MARKET: Json = {"name": "lab", "source": "directory", "location": "/home/ann/market"}


async def test_marketplaces_are_added_updated_and_removed_from_the_plugins() -> None:
    answers: dict[str, Json] = {
        "/plugins": {"plugins": [PLUGIN]},
        "/plugins/marketplaces": {"marketplaces": [MARKET]},
        "POST /plugins/marketplaces": {"said": "Added team", "ok": True},
        "POST /plugins/marketplaces/update": {"said": "Updated", "ok": True},
        "DELETE /plugins/marketplaces/lab": {"said": "Removed lab", "ok": True},
    }
    async with recorded(answers=answers) as (face, talk):
        await face.orders("plugins")
        await face.sees("✓ on  lint")
        await face.press("m")
        await shows(face, MarketplacesPage)
        await face.sees("/home/ann/market")
        await face.press("enter")
        await face.sees("where: /home/ann/market")
        await face.press("plus")
        await face.sees("Add a marketplace")
        await face.press("ctrl+s")
        await face.sees("Name a folder")
        await face.press(*"./market", "ctrl+s")
        await face.sees("A folder is named from /")
        await face.press("home", "delete", "delete", *"acme/", "ctrl+s")
        await face.hears("Added team")
        await face.press("u")
        await face.hears("Updated")
        await face.press("U", "minus")
        await face.sees("What was installed from it goes with it")
        await face.press("y")
        await face.hears("Removed lab")
        await face.press("escape")
        await shows(face, PluginsPage)
        assert talk.ordered == [
            ("POST", "/plugins/marketplaces", {"source": "acme/market"}),
            ("POST", "/plugins/marketplaces/update", {"name": "lab"}),
            ("POST", "/plugins/marketplaces/update", {}),
            ("DELETE", "/plugins/marketplaces/lab", {}),
        ]


async def test_without_a_marketplace_the_page_says_what_to_do() -> None:
    async with recorded(answers={"/plugins/marketplaces": {"marketplaces": []}}) as (face, talk):
        await face.orders("marketplaces")
        await face.sees("None yet: + adds one")
        assert "open" not in foot(face)
        await face.press("u", "U", "minus")
        assert talk.ordered == []


SERVER: Json = {"name": "files", "transport": "stdio", "scope": "local", "project": "/home/ann/shop"}
SERVER |= {"status": "failed", "last_error": "it went away", "checked_at": NOW - 5, "tools": None, "login": None}
SERVER |= {"config": {"command": "npx", "args": ["-y", "files"], "env": {"KEY": "•••"}}}


async def test_servers_are_tried_added_and_removed() -> None:
    answers: dict[str, Json] = {
        "/mcp": {"mcp": [SERVER]},
        "POST /mcp": {"said": "Added far", "ok": True},
        "POST /mcp/check": {"mcp": []},
        "DELETE /mcp/files": {"said": "Removed files", "ok": True},
    }
    async with recorded(answers=answers) as (face, talk):
        await face.orders("mcp")
        await shows(face, McpPage)
        await face.sees("✕ failed")
        await face.press("enter")
        await face.sees("! it went away")
        await face.press("v")
        await face.until(lambda: talk.ordered, "tried")
        await face.press("plus")
        await face.sees("Add an MCP server")
        await face.press("ctrl+s")
        await face.sees("A server needs a name")
        await face.press(*"far", "tab", "right", "tab", *"https://far.example/mcp", "tab", *"X-Key: 1", "ctrl+s")
        await face.hears("Added far")
        await face.press("minus")
        await shows(face, SureDialog)
        await face.press("y")
        await face.hears("Removed files")
        there = {"name": "far", "transport": "http", "scope": "user", "url": "https://far.example/mcp"}
        assert talk.ordered == [
            ("POST", "/mcp/check", {"project": "/home/ann/shop"}),
            ("POST", "/mcp", there | {"headers": {"X-Key": "1"}}),
            ("DELETE", "/mcp/files?scope=local&project=%2Fhome%2Fann%2Fshop", {}),
        ]


async def test_a_real_daemon_says_why_it_starts_nothing_and_what_a_folder_brings(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text('{"env": {"ODD": "1"}}')
    env = {"QUARTERDECK_CLAUDE_PATH": str(tmp_path / "no-claude"), "HOME": str(tmp_path)}
    with Daemon(tmp_path / "home", env=env) as daemon:
        async with face_of(daemon.home, (120, 40)) as face:
            await face.press("s")
            await shows(face, StartDialog)
            face.app.screen.query_one(Filter).value = str(folder)
            await face.press("ctrl+s")
            await shows(face, TrustDialog)
            await face.sees("ODD")
            dialog = face.app.screen
            assert isinstance(dialog, TrustDialog)
            await face.until(lambda: not dialog.why_not())
            await face.press("y")
            await face.until(lambda: daemon.api("GET", f"/projects/brings?path={folder}")[1]["trusted"], "trusted")
            await face.sees("no-claude")
            await face.press("escape")
            await shows(face, Bridge)
