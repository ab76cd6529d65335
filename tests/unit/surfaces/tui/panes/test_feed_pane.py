"""The feed on the main screen: its frame, relative paths, and Escape."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.feed.source import FeedSource
from tests.support.feed import EventStory, turns
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import RecordedDaemon, connected, session, snapshot
from tests.unit.surfaces.tui.feed.test_view import HeldLog

READ = EventStory().call("Read", {}, file_path="/home/ann/shop/src/a.py").events


def feed_app() -> QuarterdeckApp:
    messages: list[Connected | Lost | LiveMessage] = [
        connected(),
        snapshot(sessions=[session("s1", "running", cwd="/home/ann/shop")]),
    ]
    daemon = RecordedDaemon(messages, {"/sessions": {"sessions": [], "next": None}})
    return QuarterdeckApp(Path("/nowhere"), daemon=daemon)


async def test_paths_are_relative_to_the_folder_of_the_session() -> None:
    app = feed_app()
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("running")
        tui.main_screen.feed.append(READ)
        await tui.sees("● Read     src/a.py")


async def test_a_cleared_feed_says_how_to_show_the_old_events_again() -> None:
    app = feed_app()
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("running")
        tui.main_screen.feed.append(READ)
        await tui.sees("● Read")
        await tui.press("ctrl+l")
        await tui.sees("Cleared: new events show here; ^r shows the old ones again")


async def test_a_running_search_is_shown_in_the_frame_and_escape_stops_it() -> None:
    app = feed_app()
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("running")
        tui.main_screen.feed.source = FeedSource((log := HeldLog(list(turns(50)))).get)
        tui.main_screen.feed.append(READ)
        tui.main_screen.feed.find("zebra")
        await tui.sees("“zebra” · searching … #")
        await tui.press("escape")
        await tui.shows_message("searching stopped at #")
        await tui.until(lambda: "searching …" not in tui.text)
        log.answers.set()


async def test_escape_removes_a_filter_that_the_title_names() -> None:
    app = feed_app()
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("running")
        tui.main_screen.feed.append(READ)
        await tui.sees("● Read")
        tui.main_screen.feed.apply_filter({"tool": "Bash"})
        await tui.sees("Feed · everything · only tool=Bash")
        await tui.sees("esc shows all")
        await tui.until(lambda: "● Read" not in tui.text)
        await tui.press("escape")
        await tui.until(lambda: "only tool=Bash" not in tui.text and "● Read" in tui.text)


async def test_escape_ends_a_search_whose_place_is_in_the_frame() -> None:
    app = feed_app()
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees("running")
        tui.main_screen.feed.append(EventStory(first=1).says("sails").says("ropes").says("more sails").events)
        await tui.sees("more sails")
        tui.main_screen.feed.find("sails")
        await tui.sees("“sails” 2 of 2")
        await tui.sees("n above · N below")
        await tui.press("escape")
        await tui.until(lambda: "“sails”" not in tui.text and not tui.main_screen.feed.term)
