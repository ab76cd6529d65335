"""How the terminal face looks: SVG snapshots of the bridge at three sizes in three themes.

`QD_SNAPSHOTS=write pytest tests/contract/test_tui_looks.py` writes them anew; look at what changed, then keep it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.surfaces.live import Connected, Lost, Message
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.themes import NAMES
from tests.support.pilot import Face
from tests.support.screenshots import picture
from tests.support.tui import NOW, Json, RecordedTalk, connected, event, over, request, session, snapshot, told

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
