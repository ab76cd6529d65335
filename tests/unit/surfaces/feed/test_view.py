"""The feed on a screen: following, reading, opening, seeking, and content that means harm."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.tui.feed.rows.filter import Wanted
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import Book, Event, Log, turns
from tests.support.hostile import HOSTILE, HUGE

DEADLINE = 60.0


class Desk(App[None]):
    """A screen with a feed, and what it said."""

    CSS = "FeedView { height: 1fr; }"

    def __init__(self, events: list[Event]) -> None:
        super().__init__()
        self.log_of_events = Log(events)
        self.view = FeedView(FeedSource(self.log_of_events.get))
        self.selected: list[int] = []
        self.behind: list[int] = []
        self.words: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self.view.follow(None)

    def on_feed_view_selected(self, message: FeedView.Selected) -> None:
        self.selected.append(message.event["seq_no"])

    def on_feed_view_behind(self, message: FeedView.Behind) -> None:
        self.behind.append(message.count)

    def on_feed_view_found(self, message: FeedView.Found) -> None:
        self.words.append(message.words)


class Stage:
    """An app that runs, and what one sees of it."""

    def __init__(self, app: Desk, pilot: Pilot[None]) -> None:
        self.app, self.view, self.pilot = app, app.view, pilot

    @property
    def screen(self) -> list[str]:
        return [self.view.render_line(y).text[:-1].rstrip() for y in range(self.view.size.height)]

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    async def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, self.text
            await asyncio.sleep(0.005)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


@asynccontextmanager
async def stage(events: list[Event], size: tuple[int, int] = (120, 30)) -> AsyncIterator[Stage]:
    app = Desk(events)
    async with app.run_test(size=size) as pilot:
        made = Stage(app, pilot)
        last = events[-1]["seq_no"] if events else 0
        await made.until(lambda: app.view.rows.last == last)
        yield made


async def test_the_end_of_the_log_is_shown_first_and_followed() -> None:
    log = list(turns(1000))
    async with stage(log) as it:
        assert "run 38" in it.text
        more = Book(first=1001).says("And one more thing.").events
        it.view.append(more)
        await it.until(lambda: "And one more thing." in it.text)
        assert it.view.following
        assert it.app.behind == []


async def test_nothing_jumps_while_one_reads_and_new_events_are_counted() -> None:
    async with stage(list(turns(2000))) as it:
        await it.press("pageup")
        before = it.screen
        it.view.append([event for event in turns(2031) if event["seq_no"] > 2000])
        await it.until(lambda: it.view.rows.last == 2031)
        assert it.screen[:-1] == before[:-1]
        assert it.screen[-1].endswith(f"{it.view.behind} new ↓")
        assert it.app.behind == [it.view.behind]
        await it.press("G")
        assert it.app.behind[-1] == 0
        assert it.view.following
        assert "new ↓" not in it.text


async def test_a_result_that_comes_above_does_not_move_what_is_read() -> None:
    book = Book()
    book.add("tool.pre", {"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "t"})
    for n in range(200):
        book.says(f"line {n}")
    async with stage(book.events) as it:
        await it.press("pageup")
        before = it.screen
        failed = {"tool_name": "Read", "tool_input": {}, "tool_use_id": "t", "error": "no such file"}
        it.view.append([book.add("tool.failure", failed, level="error")])
        await it.until(lambda: it.view.rows.window.height_of(1) == 2)
        assert it.screen == before


async def test_a_call_under_way_turns_into_what_came_of_it() -> None:
    book = Book().call("Bash", {"stdout": "43 passed"}, command="pytest")
    async with stage(book.events[:1]) as it:
        assert "running" in it.screen[0]
        it.view.append(book.events[1:])
        await it.until(lambda: "43 passed" in it.text)
        assert "running" not in it.text


async def test_a_hundred_thousand_events_come_in_slices_and_all_arrive() -> None:
    async with stage([]) as it:
        it.view.append(list(turns(100_000)))
        await it.pilot.pause()
        assert it.view.rows.last < 100_000
        await it.press("up")
        await it.until(lambda: it.view.rows.last == 100_000)
        assert len(it.view.rows) == 100_000
        for line in (0, it.view.rows.height // 3, it.view.rows.height):
            it.view.scroll_to(y=line, animate=False, force=True)
            await it.pilot.pause()
            assert len([line for line in it.screen if line]) >= 25


class HeldLog(Log):
    """Reads at once; what was read before or after a place is told only when `answers` is set."""

    def __init__(self, events: list[Event], held: str = "before") -> None:
        super().__init__(events)
        self.held, self.read, self.answers = held, threading.Event(), threading.Event()

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        found = super().get(path, **query)
        if self.held in query:
            self.read.set()
            assert self.answers.wait(DEADLINE)
        return found


def gaps(view: FeedView) -> list[tuple[int, int]]:
    """Neighbours in the window that are none in the log."""
    known = [seq_no for block in view.rows.window.blocks for seq_no in block.seq_no]
    return [(a, b) for a, b in itertools.pairwise(known) if b != a + 1]


@pytest.mark.parametrize("came", [10, 2_000, 2_001, 9_000])
async def test_what_comes_while_the_end_is_read_leaves_no_gap(came: int) -> None:
    events = list(turns(1_000 + came))
    app = Desk(events[:1_000])
    app.view.source = FeedSource((log := HeldLog(events[:1_000])).get)
    async with app.run_test(size=(120, 30)) as pilot:
        made = Stage(app, pilot)
        await made.until(log.read.is_set)
        log.events = events
        app.view.append(events[1_000:])
        log.answers.set()
        await made.until(lambda: app.view.rows.last == events[-1]["seq_no"])
        assert app.view.following
        assert not app.view.behind
        assert gaps(app.view) == []
        assert len(app.view.rows) >= 300


async def test_what_comes_while_one_jumps_out_of_the_window_leaves_no_gap() -> None:
    events = list(turns(1_000))
    async with stage(events[:600]) as made:
        made.view.source = FeedSource((log := HeldLog(events[:600], "after")).get)
        jump = asyncio.create_task(made.view._arrive(300, "nothing"))
        await made.until(log.read.is_set)
        log.events = events
        made.view.append(events[600:999])
        log.answers.set()
        await jump
        made.view.append(events[999:])
        await made.press(*["pagedown"] * 100)
        await made.until(lambda: made.view.rows.last == 1_000)
        assert gaps(made.view) == []


async def test_older_events_are_read_when_one_scrolls_there() -> None:
    async with stage(list(turns(3000))) as it:
        assert it.view.rows.first > 2000
        await it.press("g")
        await it.until(lambda: it.view.rows.first < 2500)
        assert not it.view.following
        for _ in range(40):
            await it.press("g")
        await it.until(lambda: it.view.rows.first == 1)
        assert "run 1" in it.text


async def test_an_event_opens_in_place_and_closes() -> None:
    book = Book().prompt("go").call("Bash", {"stdout": "one\ntwo\nthree", "stderr": "warned"}, command="make all")
    async with stage(book.says("fine").events) as it:
        await it.press("up", "up", "enter")
        await it.until(lambda: "$ make all" in it.text)
        assert all(words in it.text for words in ("two", "stderr", "warned", "#3 · tool.pre"))
        await it.press("o")
        await it.until(lambda: '"tool_name": "Bash"' in it.text)
        await it.press("enter")
        assert "tool_name" not in it.text
        assert 3 in it.app.selected


async def test_an_edit_opens_as_a_diff() -> None:
    given = {
        "file_path": "/home/you/api/a.py",
        "old_string": "def f():\n    return 1",
        "new_string": "def f():\n    return 2",
    }
    async with stage(Book().prompt("go").call("Edit", {}, **given).events) as it:
        assert "a.py  +1 −1" in it.text
        assert "/home/you" not in it.text
        await it.press("up", "enter")
        await it.until(lambda: "return 2" in it.text)
        assert [line.split("│")[1].strip() for line in it.screen if "return" in line] == [
            "2 −     return 1",
            "2 +     return 2",
        ]


async def test_the_cause_of_an_event_is_told() -> None:
    book = Book()
    first = book.add("notification", {"message": "look"}, title="◌ look")
    cause = {"parent_event_id": first["event_id"]}
    book.add("notification", {"message": "again"}, title="◌ again", cause=cause)
    async with stage(book.events) as it:
        await it.press("up", "enter")
        await it.until(lambda: "because of #1 ◌ look" in it.text)


async def test_an_event_whose_text_was_let_go_is_fetched_again() -> None:
    log = list(turns(3000))
    async with stage(log) as it:
        it.view.source._held.clear()
        asked = it.app.log_of_events.asked
        await it.press("up", "up", "enter")
        await it.until(lambda: "#" in it.text)
        assert it.app.log_of_events.asked > asked


async def test_ten_megabytes_on_one_line_are_cut_and_more_is_one_key_away() -> None:
    text = "\n".join(f"row {n}" for n in range(5000))
    book = Book().call("Agent", [{"type": "text", "text": text}], prompt=HUGE, description="huge")
    async with stage(book.says(HUGE).events) as it:
        await it.press("up", "up", "enter")
        await it.until(lambda: it.view.rows.window.height_of(1) > 40)
        small = it.view.rows.window.height_of(1)
        await it.press("m")
        await it.until(lambda: it.view.rows.window.height_of(1) > small)
        it.view.scroll_to(y=0, animate=False, force=True)
        await it.pilot.pause()
        assert "10.0 MB more" in "\n".join(text for line in (it.view._opened[1].lines or []) for text, _ in line)
        assert "m: more of it" in (it.view._opened[1].lines or [])[-1][-1][0]


async def test_a_sub_agent_opens_and_folds_with_enter_and_z() -> None:
    book = Book().agent("a1", lambda b, actor: b.call("Glob", {"numFiles": 4}, actor=actor, pattern="*.py"))
    async with stage(book.events) as it:
        assert "▸ 1 tool" in it.text
        await it.press("up", "enter")
        assert "┆ ● Glob" in it.text
        await it.press("z")
        assert "Glob" not in it.text


async def test_a_filter_shows_what_passes_and_gives_all_back() -> None:
    async with stage(list(turns(2000))) as it:
        before = it.text
        it.view.set_filter(Wanted(level="error"))
        await it.until(lambda: not it.view._settling)
        assert all("pytest" in line or "exit 1" in line for line in it.screen if line)
        await it.until(lambda: len([line for line in it.screen if line]) == 30)
        it.view.set_filter(Wanted())
        await it.until(lambda: not it.view._settling)
        assert it.text == before


async def test_jumps_go_up_and_down_through_prompts_errors_and_decisions() -> None:
    async with stage(list(turns(620))) as it:
        await it.press("left_curly_bracket")
        await it.until(lambda: it.view.cursor == 596)
        await it.press("left_curly_bracket", "right_curly_bracket")
        await it.until(lambda: it.view.cursor == 596)
        it.view.jump("error")
        await it.until(lambda: it.view.rows.row(it.view.cursor or 0) and it.view.cursor and it.view.cursor < 596)
        row = it.view.rows.row(it.view.cursor or 0)
        assert row is not None
        assert row.level == 3
        it.view.jump("decision", 1)
        await it.until(lambda: "◆" in next(line for line in it.screen if line.startswith("▌")))


async def test_a_search_marks_what_it_finds_and_walks_through_it() -> None:
    async with stage(list(turns(2000))) as it:
        it.view.search("Route 60")
        await it.until(lambda: it.view.cursor is not None)
        assert "route 60" in it.text
        marked = [
            segment.text
            for y in range(30)
            for segment in it.view.render_line(y)
            if segment.style == it.view._styles.of("match", it.view._styles.cursor)
        ]
        assert marked
        assert {text.lower() for text in marked} == {"route 60"}
        first = it.view.cursor
        await it.press("n")
        await it.until(lambda: it.view.cursor != first)
        await it.press("N")
        await it.until(lambda: it.view.cursor == first)


async def test_a_search_goes_on_in_the_log_beyond_the_window() -> None:
    log = list(turns(5000))
    log[3000:3001] = Book(first=3001).says("Here is the xylophone.").events
    async with stage(log) as it:
        it.view.search("Xylophone")
        await it.until(lambda: it.view.cursor == 3001)
        assert any("xylophone" in line for line in it.screen if line.startswith("▌"))
        assert it.view.rows.last < 4000
        assert not it.view.following
        it.view.append(Book(first=5001).says("later").events)
        await it.until(lambda: it.view.behind == 1)
        await it.press("G")
        await it.until(lambda: it.view.rows.last == 5000)


async def test_a_search_finds_what_an_event_holds_and_its_row_does_not_say() -> None:
    book = (
        Book().call("Bash", {"stdout": "a\nxylophone\nz"}, command="one").call("Bash", {"stdout": "b"}, command="two")
    )
    async with stage(book.says("end").events) as it:
        it.view.search("xylophone")
        await it.until(lambda: it.view.cursor == 1)
        await it.press("enter")
        await it.until(lambda: "xylophone" in it.text)
        await it.press("n")
        await it.until(lambda: it.app.words[-1:] == ["nothing more with “xylophone”"])


async def test_what_is_found_nowhere_is_said() -> None:
    async with stage(list(turns(100))) as it:
        it.view.search("zebra")
        await it.until(lambda: it.app.words)
        assert it.app.words == ["nothing more with “zebra”"]


async def test_one_session_is_followed_and_others_are_left_out() -> None:
    ours, theirs = Book("ours"), Book("theirs", first=4)
    ours.prompt("our prompt").says("ours")
    theirs.says("theirs")
    async with stage([*ours.events, *theirs.events]) as it:
        assert "theirs" in it.text
        it.view.follow("ours")
        await it.until(lambda: it.view.rows.last == 3)
        it.view.append(
            [*Book("theirs", first=5).says("not this").events, *Book("ours", first=6).says("but this").events]
        )
        await it.until(lambda: "but this" in it.text)
        assert "theirs" not in it.text
        assert "not this" not in it.text


async def test_a_storm_of_resizes_leaves_a_screen_that_is_right() -> None:
    async with stage(list(turns(3000))) as it:
        await it.press("pageup", "up", "enter")
        for n in range(60):
            await it.pilot.resize_terminal(30 + (n * 37) % 150, 8 + (n * 13) % 50)
        await it.pilot.resize_terminal(100, 24)
        await it.until(lambda: not it.view._settling and it.view.size.width == 100)
        assert [it.view.render_line(y).cell_length for y in range(24)] == [100] * 24
        assert it.view.rows.window.height_of(it.view.cursor or 0) > 0
        seen = [it.view.rows.window.at_line(y) for y in range(it.view.rows.height)]
        assert None not in seen


@pytest.mark.law("I6")
@pytest.mark.law("I7")
@pytest.mark.parametrize("size", [(120, 40), (60, 20), (24, 10)])
async def test_hostile_content_is_shown_literally(size: tuple[int, int]) -> None:
    book = Book()
    for text in HOSTILE.values():
        book.prompt(text).says(text).call("Bash", {"stdout": text, "stderr": text}, command=text)
        book.call(text or "x", text, **{"file_path": text, text or "y": text})
        book.fails("Edit", text, file_path=text, old_string=text, new_string=text + text)
        book.add("unknown.hook", {"payload": {text: [text]}}, title=text, body=text, level=text, actor=text)
    async with stage(book.events, size) as it:
        it.view.search("x")
        for n, event in enumerate(book.events):
            it.view._select(event["seq_no"], show=False)
            it.view.toggle_expand()
            if n % 7 == 0:
                it.view.action_raw()
        await it.until(lambda: all(opened.lines is not None for opened in it.view._opened.values()))
        for line in range(0, it.view.rows.height, size[1]):
            it.view.scroll_to(y=line, animate=False, force=True)
            await it.pilot.pause()
            strips = [it.view.render_line(y) for y in range(size[1])]
            assert not any(UNSEEN.search(strip.text) for strip in strips)
            assert {strip.cell_length for strip in strips} == {size[0]}
        assert "[bold]" in "\n".join(
            text for o in it.view._opened.values() for line in o.lines or [] for text, _ in line
        )


async def test_copied_text_is_the_event_made_visible() -> None:
    async with stage(Book().call("Bash", {"stdout": "a\x1b[31mb"}, command="ls\nrm").events) as it:
        await it.press("up")
        assert it.view.copy_text().splitlines()[:4] == ["$ ls", "  rm", "⎿", "a⟨1b⟩[31mb"]


async def test_the_mouse_selects_opens_and_scrolls() -> None:
    async with stage(list(turns(2000))) as it:
        await it.pilot.click(FeedView, offset=(40, 10))
        assert it.screen[10].startswith("▌")
        await it.pilot.click(FeedView, offset=(119, 0))
        await it.until(lambda: it.view.rows.first < 1600)


async def test_a_feed_in_a_frame_is_drawn_and_clicked_like_one_without() -> None:
    log = list(turns(2000))
    async with stage(log, (122, 32)) as framed, stage(log, (120, 30)) as bare:
        framed.view.styles.border = ("round", "green")
        await framed.until(lambda: framed.view.size == bare.view.size)
        await framed.until(lambda: framed.view._look.width == 119)
        await framed.press("end")
        painted = [strip.text for strip in framed.view.render_lines(framed.view.region)]
        assert (painted[0][0], painted[-1][-1]) == ("╭", "╯")
        assert [line[1:-1] for line in painted[1:-1]] == [
            line.text for line in bare.view.render_lines(bare.view.region)
        ]
        assert {line[0] for line in painted[1:-1]} == {"│"}
        await framed.pilot.click(FeedView, offset=(40, 10))
        assert framed.screen[9].startswith("▌")


async def test_a_daemon_that_is_away_is_told_and_asked_again() -> None:
    async with stage(list(turns(1000))) as it:
        log = it.app.log_of_events
        log.away = True
        await it.press("g")
        await it.until(lambda: it.app.words)
        assert it.app.words[0] == "the daemon does not answer"
        log.away = False
        await it.press("G", "g")
        await it.until(lambda: it.view.rows.first < 600)


async def test_what_is_recorded_before_the_stream_begins_is_read_from_the_log() -> None:
    events = list(turns(700))
    async with stage(events[:600]) as made:
        made.app.log_of_events.events = events[:650]
        made.view.begin(650)
        made.view.append(events[650:])
        await made.until(lambda: made.view.rows.last == 700)
        assert gaps(made.view) == []
        assert made.view.following


async def test_a_stream_that_begins_where_the_feed_ends_reads_nothing_again() -> None:
    events = list(turns(600))
    async with stage(events) as made:
        asked = made.app.log_of_events.asked
        made.view.begin(600)
        await made.pilot.pause()
        assert made.app.log_of_events.asked == asked
