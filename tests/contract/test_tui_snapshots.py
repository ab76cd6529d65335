"""SVG snapshots of the terminal UI: the main screen at three sizes in three themes, every other screen, and the
decision dialogs on a small and on a usual screen.

`QD_SNAPSHOTS=write pytest tests/contract/test_tui_snapshots.py` writes them; look at what changed, then keep it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.widgets.themes import NAMES
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    event,
    live_message,
    project,
    project_list,
    request,
    resolved,
    session,
    snapshot,
)
from tests.support.snapshot_day import ANSWERS, REQUESTS, SESSIONS, VIEWS
from tools.screenshots import picture

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = ((60, 20), (110, 32), (170, 48))
TODOS = [{"text": "find the route", "status": "done"}, {"text": "add the limiter", "status": "doing"}]
USAGE = {"input_tokens": 4210, "output_tokens": 980, "cache_read_tokens": 61200, "cache_write_tokens": 8300}
DECIDED = resolved(request("q0", "pytest -q", opened_at=NOW - 90), by="owner via tui", delivery="confirmed")


def messages() -> list[Connected | Lost | LiveMessage]:
    """The messages of a quiet moment: three sessions, two requests, one confirmed decision."""
    shop = session("shop", cwd="/home/ann/shop", todos=TODOS, usage=USAGE | {"cost_usd": 0.61})
    docs = session("docs", "running", cwd="/home/ann/docs", title="update the reference")
    infra = session("infra", "idle", cwd="/home/ann/infra", title="upgrade the cluster", state_source="process")
    first = request("q1", "git push --force origin feature/login", session_id="shop")
    second = request("q2", "make linkcheck", session_id="docs", opened_at=NOW - 3)
    tool = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "t1"}
    return [
        connected(__version__),
        snapshot(sessions=[shop, docs, infra], requests=[first, second]),
        live_message("request", DECIDED),
        *(
            LiveMessage("event", {"event": one})
            for one in (
                event(2, "tool.pre", "● Bash(pytest -q)", "shop", **tool),
                event(3, "tool.post", "⎿ Bash result", "shop", **tool, tool_response={"stdout": "43 passed"}),
            )
        ),
    ]


@pytest.fixture
def _in_utc() -> Iterator[None]:
    """Run in UTC, so that clocks show the same everywhere."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("theme", NAMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_main_screen_looks_as_it_did(size: tuple[int, int], theme: str) -> None:
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}
    app = QuarterdeckApp(Path("/nowhere"), theme=theme, daemon=RecordedDaemon(messages(), answers), clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("43 passed")
        await tui.card("git push")
        kept = SNAPSHOTS / f"main-{size[0]}x{size[1]}-{theme}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            SNAPSHOTS.mkdir(exist_ok=True)
            kept.write_text(picture(app))
        await tui.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")


PROJECT_CONFIG: Json = {
    "path": "/home/ann/shop",
    "trusted": False,
    "hooks": [
        {"event": "PreToolUse", "matcher": "Bash", "runs": "./check.sh --strict", "file": ".claude/settings.json"},
        {"event": "Stop", "matcher": "", "runs": "make report", "file": ".claude/settings.json"},
    ],
    "servers": [{"name": "db", "transport": "stdio", "runs": "npx db", "gets": ["DSN"], "file": ".mcp.json"}],
    "variables": [{"name": "NODE_ENV", "says": "", "file": ".claude/settings.json"}],
    "allows": [{"name": "Bash(make test:*)", "says": "", "file": ".claude/settings.local.json"}],
    "others": [],
    "troubles": [".claude/settings.local.json: is reached through a link; look at it"],
}
PRIOR: Json = {"session_id": "old", "title": "fix the links", "last_used_at": NOW - 5 * 3600}
PROJECTS: list[Json] = [
    project("shop", git_branch="feature/login", is_dirty=True, ahead=2, project_id="p_1"),
    project("docs", trusted=True, trust="full", prior_sessions=[PRIOR]),
    project("infra", trust="rules", behind=3, git_remote="git@example.org:infra"),
]
PLUGINS: list[Json] = [
    {"plugin_id": f"{name}@lab", "name": name, "marketplace": "lab", "version": "1.2.0", "enabled": name == "lint"}
    | {"scope": "user", "project": None, "capabilities": ["hooks", "skills"], "errors": []}
    for name in ("lint", "spell")
]
SERVERS: list[Json] = [
    {"name": name, "transport": "stdio", "scope": "user", "project": None, "status": status, "last_error": None}
    | {"checked_at": NOW - 30, "config": {"command": "npx", "args": ["-y", name]}, "tools": None, "login": None}
    for name, status in (("files", "connected"), ("search", "failed"), ("mail", "needs_auth"))
]
OTHERS: dict[str, Json] = {
    "/sessions": {"sessions": [], "next": None},
    "/projects": project_list(*PROJECTS),
    "/projects/brings": PROJECT_CONFIG,
    "/plugins": {"plugins": PLUGINS},
    "/mcp": {"mcp": SERVERS},
}
SCREENS: dict[str, tuple[tuple[str, ...], str]] = {
    "start": (("s",), "infra"),
    "trust": (("s", *"shop", "enter", *"hi", "f2"), "its own rules take effect"),
    "plugins": (("colon", *"plugins", "enter"), "spell"),
    "mcp": (("colon", *"mcp", "enter"), "sign in"),
    "mcp-add": (("colon", *"mcp", "enter", "plus"), "name, like files"),
}
"""The keys that lead to each screen, and words that are there once it is complete."""


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("size", [(60, 24), (110, 32)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_other_screens_look_as_they_did(size: tuple[int, int], name: str) -> None:
    shop = session("shop", "idle", cwd="/home/ann/shop")
    daemon = RecordedDaemon([connected(__version__), snapshot(sessions=[shop])], OTHERS)
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        keys, words = SCREENS[name]
        await tui.sees("shop")
        await tui.press(*keys)
        await tui.sees(words)
        kept = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            kept.write_text(picture(app))
        await tui.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")


SMALL_AND_USUAL = ((60, 20), (110, 32))
CASES = [(name, size, "dark") for name in VIEWS for size in SMALL_AND_USUAL]
CASES += [(name, (110, 32), theme) for name in ("rules", "help", "batch") for theme in ("light", "contrast")]


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize(("name", "size", "theme"), CASES, ids=str)
async def test_every_screen_and_dialog_looks_as_it_did(name: str, size: tuple[int, int], theme: str) -> None:
    keys, words, names = VIEWS[name]
    requests = [REQUESTS[one] for one in names]
    daemon = RecordedDaemon([connected(__version__), snapshot(sessions=SESSIONS, requests=requests)], ANSWERS)
    app = QuarterdeckApp(Path("/home/ann/.quarterdeck"), theme=theme, daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.stats and app.model.has_snapshot, "the figures")
        await tui.until(lambda: not names or not tui.desk.blocked_reason("deny"), "a card that is settled")
        await tui.until(lambda: "too small" not in tui.desk.blocked_reason("allow"), "a card that is laid out")
        await tui.press(*keys)
        await tui.sees(words)
        kept = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}-{theme}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            kept.write_text(picture(app))
        await tui.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")
