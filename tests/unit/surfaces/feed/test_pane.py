"""The feed on the bridge: what its frame says, from where its paths are told, and what Escape stops."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.feed.source import FeedSource
from tests.support.feed import Book, turns
from tests.support.pilot import Face
from tests.support.tui import RecordedTalk, connected, session, snapshot
from tests.unit.surfaces.feed.test_view import HeldLog

READ = Book().call("Read", {}, file_path="/home/ann/shop/src/a.py").events


def bridge() -> QuarterdeckApp:
    said: list[Connected | Lost | Message] = [
        connected(),
        snapshot(sessions=[session("s1", "running", cwd="/home/ann/shop")]),
    ]
    talk = RecordedTalk(said, {"/sessions": {"sessions": [], "next": None}})
    return QuarterdeckApp(Path("/nowhere"), talk=talk)


async def test_paths_are_told_from_the_project_of_the_session() -> None:
    app = bridge()
    async with app.run_test(size=(120, 40)) as pilot:
        face = Face(app, pilot)
        await face.sees("running")
        face.bridge.feed.append(READ)
        await face.sees("● Read     src/a.py")


async def test_a_feed_that_is_cleared_says_how_to_bring_it_back() -> None:
    app = bridge()
    async with app.run_test(size=(120, 40)) as pilot:
        face = Face(app, pilot)
        await face.sees("running")
        face.bridge.feed.append(READ)
        await face.sees("● Read")
        await face.press("ctrl+l")
        await face.sees("Cleared: what comes next shows here; ^r brings back what was")


async def test_a_search_stands_in_the_frame_and_escape_stops_it() -> None:
    app = bridge()
    async with app.run_test(size=(120, 40)) as pilot:
        face = Face(app, pilot)
        await face.sees("running")
        face.bridge.feed.source = FeedSource((log := HeldLog(list(turns(50)))).get)
        face.bridge.feed.append(READ)
        face.bridge.feed.find("zebra")
        await face.sees("“zebra” · searching … #")
        await face.press("escape")
        await face.hears("searching stopped at #")
        await face.until(lambda: "searching …" not in face.text)
        log.answers.set()
