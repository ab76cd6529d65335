"""How the terminal face looks: SVG snapshots of the bridge at three sizes in three themes, of every other screen and of
the dialogs that decide on a small screen and on a usual one.

`QD_SNAPSHOTS=write pytest tests/contract/test_tui_looks.py` writes them anew; look at what changed, then keep it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.widgets.themes import NAMES
from tests.support.looks import ANSWERS, ASKED, LOOKED_AT, SESSIONS
from tests.support.pilot import Face
from tests.support.screenshots import picture
from tests.support.tui import (
    NOW,
    Json,
    RecordedTalk,
    connected,
    event,
    over,
    project,
    projects,
    request,
    session,
    snapshot,
    told,
)

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = ((60, 20), (110, 32), (170, 48))
TODOS = [{"text": "find the route", "status": "done"}, {"text": "add the limiter", "status": "doing"}]
SPENT = {"input_tokens": 4210, "output_tokens": 980, "cache_read_tokens": 61200, "cache_write_tokens": 8300}
DECIDED = over(request("q0", "pytest -q", opened_at=NOW - 90), by="owner via tui", delivery="confirmed")


def story() -> list[Connected | Lost | Message]:
    """A quiet moment: three sessions, two requests, one decision that was confirmed."""
    shop = session("shop", cwd="/home/ann/shop", todos=TODOS, usage=SPENT | {"cost_usd": 0.61})
    docs = session("docs", "running", cwd="/home/ann/docs", title="bring the reference up to date")
    infra = session("infra", "idle", cwd="/home/ann/infra", title="upgrade the cluster", state_source="process")
    first = request("q1", "git push --force origin feature/login", session_id="shop")
    second = request("q2", "make linkcheck", session_id="docs", opened_at=NOW - 3)
    tool = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "t1"}
    return [
        connected(__version__),
        snapshot(sessions=[shop, docs, infra], requests=[first, second]),
        told("request", DECIDED),
        *(
            Message("event", {"event": one})
            for one in (
                event(2, "tool.pre", "● Bash(pytest -q)", "shop", **tool),
                event(3, "tool.post", "⎿ Bash result", "shop", **tool, tool_response={"stdout": "43 passed"}),
            )
        ),
    ]


@pytest.fixture
def _in_utc() -> Iterator[None]:
    """Clocks show the same everywhere."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("theme", NAMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_bridge_looks_as_it_did(size: tuple[int, int], theme: str) -> None:
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}
    app = QuarterdeckApp(Path("/nowhere"), theme=theme, talk=RecordedTalk(story(), answers), clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.sees("43 passed")
        await face.card("git push")
        kept = SNAPSHOTS / f"bridge-{size[0]}x{size[1]}-{theme}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            SNAPSHOTS.mkdir(exist_ok=True)
            kept.write_text(picture(app))
        await face.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")


BRINGS: Json = {
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
PRIOR: Json = {"session_id": "old", "title": "mend the links", "last_used_at": NOW - 5 * 3600}
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
    "/projects": projects(*PROJECTS),
    "/projects/brings": BRINGS,
    "/plugins": {"plugins": PLUGINS},
    "/mcp": {"mcp": SERVERS},
}
LOOKS: dict[str, tuple[tuple[str, ...], str]] = {
    "start": (("s",), "infra"),
    "trust": (("s", *"shop", "enter", *"hi", "f2"), "its own rules hold"),
    "plugins": (("colon", *"plugins", "enter"), "spell"),
    "mcp": (("colon", *"mcp", "enter"), "sign in"),
    "mcp-add": (("colon", *"mcp", "enter", "plus"), "name, like files"),
}
"""Each look: the keys that lead to it, and words by which it is all there."""


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("size", [(60, 24), (110, 32)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_other_screens_look_as_they_did(size: tuple[int, int], name: str) -> None:
    shop = session("shop", "idle", cwd="/home/ann/shop")
    talk = RecordedTalk([connected(__version__), snapshot(sessions=[shop])], OTHERS)
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        keys, words = LOOKS[name]
        await face.sees("shop")
        await face.press(*keys)
        await face.sees(words)
        kept = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            kept.write_text(picture(app))
        await face.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")


SMALL_AND_USUAL = ((60, 20), (110, 32))
SEEN = [(name, size, "dark") for name in LOOKED_AT for size in SMALL_AND_USUAL]
SEEN += [(name, (110, 32), theme) for name in ("rules", "help", "batch") for theme in ("light", "contrast")]


@pytest.mark.usefixtures("_in_utc")
@pytest.mark.parametrize(("name", "size", "theme"), SEEN, ids=str)
async def test_every_screen_and_dialog_looks_as_it_did(name: str, size: tuple[int, int], theme: str) -> None:
    keys, words, asked = LOOKED_AT[name]
    requests = [ASKED[one] for one in asked]
    talk = RecordedTalk([connected(__version__), snapshot(sessions=SESSIONS, requests=requests)], ANSWERS)
    app = QuarterdeckApp(Path("/home/ann/.quarterdeck"), theme=theme, talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.stats and app.model.is_told, "the figures")
        await face.until(lambda: not asked or not face.desk.why_not("deny"), "a card that is settled")
        await face.until(lambda: "too small" not in face.desk.why_not("allow"), "a card that is laid out")
        await face.press(*keys)
        await face.sees(words)
        kept = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}-{theme}.svg"
        if os.environ.get("QD_SNAPSHOTS") == "write":
            await asyncio.sleep(1.5)
            kept.write_text(picture(app))
        await face.until(lambda: picture(app) == kept.read_text(), f"the look of {kept.name}")
