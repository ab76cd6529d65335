"""The feed on a screen: following, reading, opening, searching, and hostile content."""

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
from quarterdeck.surfaces.terminal.styled_text import row_text
from quarterdeck.surfaces.tui.feed.rows.filter import FeedFilter
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import Event, EventStory, FeedLog, turns
from tests.support.hostile import HOSTILE, HUGE

DEADLINE = 60.0


class FeedApp(App[None]):
    """An app with a feed, and the messages of the feed."""

    CSS = "FeedView { height: 1fr; }"

    def __init__(self, events: list[Event]) -> None:
        super().__init__()
        self.log_of_events = FeedLog(events)
        self.view = FeedView(FeedSource(self.log_of_events.get))
        self.behind: list[int] = []
        self.words: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self.view.follow(None)

    def on_feed_view_behind(self, message: FeedView.Behind) -> None:
        self.behind.append(message.count)

    def on_feed_view_found(self, message: FeedView.Found) -> None:
        self.words.append(message.words)


class Stage:
    """A running app, and the text on its screen."""

    def __init__(self, app: FeedApp, pilot: Pilot[None]) -> None:
        self.app, self.view, self.pilot = app, app.view, pilot

    @property
    def screen(self) -> list[str]:
        return [self.view.render_line(y).text[:-1].rstrip() for y in range(self.view.size.height)]

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for it as long as the feed makes progress; fail when nothing has moved for DEADLINE seconds."""
        seen, deadline = None, 0.0
        while not condition():
            state = (self.view.rows.first, self.view.rows.last, self.view.rows.height, len(self.view._queue))
            if state != seen:
                seen, deadline = state, time.monotonic() + DEADLINE
            assert time.monotonic() < deadline, self.text
            await asyncio.sleep(0.005)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


@asynccontextmanager
async def stage(events: list[Event], size: tuple[int, int] = (120, 30)) -> AsyncIterator[Stage]:
    app = FeedApp(events)
    async with app.run_test(size=size) as pilot:
        made = Stage(app, pilot)
        last = events[-1]["seq_no"] if events else 0
        await made.until(lambda: app.view.rows.last == last)
        yield made


async def test_the_end_of_the_log_is_shown_first_and_followed() -> None:
    log = list(turns(1000))
    async with stage(log) as it:
        assert "run 38" in it.text
        more = EventStory(first=1001).says("And one more thing.").events
        it.view.append(more)
        await it.until(lambda: "And one more thing." in it.text)
        assert it.view.following
        assert it.app.behind == []


async def test_new_events_are_counted_and_move_nothing_on_screen() -> None:
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


async def test_a_result_above_the_screen_moves_nothing_on_it() -> None:
    book = EventStory()
    book.add("tool.pre", {"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "t"})
    for n in range(200):
        book.says(f"line {n}")
    async with stage(book.events) as it:
        await it.press("pageup")
        before = it.screen
        failed = {"tool_name": "Read", "tool_input": {}, "tool_use_id": "t", "error": "no such file\nin /a"}
        it.view.append([book.add("tool.failure", failed, level="error")])
        await it.until(lambda: it.view.rows.window.height_of(1) == 2)
        assert it.screen == before


async def test_a_running_call_changes_into_its_outcome() -> None:
    book = EventStory().call("Bash", {"stdout": "43 passed"}, command="pytest")
    async with stage(book.events[:1]) as it:
        assert "running" in it.screen[0]
        it.view.append(book.events[1:])
        await it.until(lambda: "43 passed" in it.text)
        assert "running" not in it.text


@pytest.mark.timeout(600)
async def test_a_hundred_thousand_events_come_in_slices_and_all_arrive() -> None:
    async with stage([]) as it:
        it.view.append(list(turns(100_000)))
        while not it.view.rows.last:
            await asyncio.sleep(0)
        assert it.view.rows.last < 100_000
        await it.press("up")
        await it.until(lambda: it.view.rows.last == 100_000)
        assert len(it.view.rows) == 100_000
        for line in (0, it.view.rows.height // 3, it.view.rows.height):
            it.view.scroll_to(y=line, animate=False, force=True)
            await it.pilot.pause()
            assert len([line for line in it.screen if line]) >= 25


class HeldLog(FeedLog):
    """Reads at once; a page before or after an event is returned only when `answers` is set."""

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
    """Neighbours in the window that are not neighbours in the log."""
    known = [seq_no for block in view.rows.window.blocks for seq_no in block.seq_no]
    return [(a, b) for a, b in itertools.pairwise(known) if b != a + 1]


@pytest.mark.parametrize("came", [10, 2_000, 2_001, 9_000])
async def test_events_during_the_first_read_leave_no_gap(came: int) -> None:
    events = list(turns(1_000 + came))
    app = FeedApp(events[:1_000])
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


async def test_events_during_a_jump_out_of_the_window_leave_no_gap() -> None:
    events = list(turns(1_000))
    async with stage(events[:600]) as made:
        made.view.source = FeedSource((log := HeldLog(events[:600], "after")).get)
        jump = asyncio.create_task(made.view._go_to_result(300, "nothing"))
        await made.until(log.read.is_set)
        log.events = events
        made.view.append(events[600:999])
        log.answers.set()
        await jump
        made.view.append(events[999:])
        await made.press(*["pagedown"] * 100)
        await made.until(lambda: made.view.rows.last == 1_000)
        assert gaps(made.view) == []


async def test_scrolling_up_reads_older_events() -> None:
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
    book = EventStory().prompt("go").call("Bash", {"stdout": "one\ntwo\nthree", "stderr": "warned"}, command="make all")
    async with stage(book.says("fine").events) as it:
        await it.press("up", "up", "enter")
        await it.until(lambda: "$ make all" in it.text)
        assert all(words in it.text for words in ("two", "stderr", "warned", "#3 tool.pre · #4 tool.post"))
        await it.press("o")
        await it.until(lambda: '"tool_name": "Bash"' in it.text)
        await it.press("enter")
        assert "tool_name" not in it.text
        await it.until(lambda: it.view.source.cached(3))


async def test_an_edit_opens_as_a_diff() -> None:
    tool_input = {
        "file_path": "/home/you/api/a.py",
        "old_string": "def f():\n    return 1",
        "new_string": "def f():\n    return 2",
    }
    async with stage(EventStory().prompt("go").call("Edit", {}, **tool_input).events) as it:
        assert "a.py  +1 −1" in it.text
        assert "/home/you" not in it.text
        await it.press("up", "enter")
        await it.until(lambda: "return 2" in it.text)
        assert [line.split("│")[1].strip() for line in it.screen if "return" in line] == [
            "2 −     return 1",
            "2 +     return 2",
        ]


async def test_an_opened_event_names_its_cause() -> None:
    book = EventStory()
    first = book.add("notification", {"message": "look"}, title="◌ look")
    cause = {"parent_event_id": first["event_id"]}
    book.add("notification", {"message": "again"}, title="◌ again", cause=cause)
    async with stage(book.events) as it:
        await it.press("up", "enter")
        await it.until(lambda: "because of #1 ◌ look" in it.text)


async def test_an_event_dropped_from_the_cache_is_fetched_again() -> None:
    log = list(turns(3000))
    async with stage(log) as it:
        it.view.source._cache.clear()
        calls = it.app.log_of_events.calls
        await it.press("up", "up", "enter")
        await it.until(lambda: "#" in it.text)
        assert it.app.log_of_events.calls > calls


async def test_ten_megabytes_on_one_line_are_cut_and_more_is_one_key_away() -> None:
    text = "\n".join(f"row {n}" for n in range(5000))
    book = EventStory().call("Agent", [{"type": "text", "text": text}], prompt=HUGE, description="huge")
    async with stage(book.says(HUGE).events) as it:
        await it.press("up", "up", "enter")
        await it.until(lambda: it.view.rows.window.height_of(1) > 40)
        small = it.view.rows.window.height_of(1)
        await it.press("m")
        await it.until(lambda: it.view.rows.window.height_of(1) > small)
        it.view.scroll_to(y=0, animate=False, force=True)
        await it.pilot.pause()
        assert "10.0 MB more" in "\n".join(row_text(line) for line in it.view._opened[1].lines or [])
        assert "m: more of it" in (it.view._opened[1].lines or [])[-1][-1].text


async def test_a_sub_agent_opens_and_folds_with_enter_and_z() -> None:
    book = EventStory().agent("a1", lambda b, actor: b.call("Glob", {"numFiles": 4}, actor=actor, pattern="*.py"))
    async with stage(book.events) as it:
        assert "▸ 1 tool" in it.text
        await it.press("up", "enter")
        assert "┆ ● Glob" in it.text
        await it.press("z")
        assert "Glob" not in it.text


async def test_a_filter_hides_other_rows_and_removing_it_shows_all_again() -> None:
    async with stage(list(turns(2000))) as it:
        before = it.text
        it.view.set_filter(FeedFilter(level="error"))
        await it.until(lambda: not it.view._settling)
        assert all("pytest" in line or "exit 1" in line for line in it.screen if line)
        await it.until(lambda: len([line for line in it.screen if line]) == 30)
        it.view.set_filter(FeedFilter())
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
        await it.until(lambda: "✓ cli" in next(line for line in it.screen if line.startswith("▌")))


async def test_v_shows_every_event_as_it_is_stored_and_back() -> None:
    book = EventStory().prompt("go").gated_call("Bash", {"stdout": "made"}, command="mkdir out2")
    book.add("agent.note", {"name": "init"}, level="debug", title="· init")
    async with stage(book.events) as it:
        await it.until(lambda: "mkdir out2" in it.text)
        assert "agent.note" not in it.text
        await it.press("v")
        await it.until(lambda: "agent.note" in it.text)
        kinds = [line.split()[2] for line in it.screen if line.strip()]
        assert kinds == [event["kind"] for event in book.events]
        await it.press("v")
        await it.until(lambda: "agent.note" not in it.text and "✓ rule Bash(*)" in it.text)


async def test_v_keeps_the_place() -> None:
    async with stage(list(turns(2000))) as it:
        it.view.search("route 60")
        await it.until(lambda: it.view.cursor is not None)
        before = it.view.cursor
        await it.press("v")
        await it.until(lambda: it.view.stored and it.view.cursor == before)
        assert "route 60" in it.text


async def test_a_search_tells_which_of_its_matches_the_cursor_is_on() -> None:
    book = EventStory()
    for n in range(40):
        book.says(f"{'sails' if n % 4 == 0 else 'ropes'} {n}")
    async with stage(book.events) as it:
        it.view.search("sails")
        await it.until(lambda: it.view.match_place == "10 of 10")
        await it.press("n", "n")
        await it.until(lambda: it.view.match_place == "8 of 10")
        await it.press("N")
        await it.until(lambda: it.view.match_place == "9 of 10")


async def test_a_search_highlights_its_matches_and_n_goes_through_them() -> None:
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
    log[3000:3001] = EventStory(first=3001).says("Here is the xylophone.").events
    async with stage(log) as it:
        it.view.search("Xylophone")
        await it.until(lambda: it.view.cursor == 3001)
        assert any("xylophone" in line for line in it.screen if line.startswith("▌"))
        assert it.view.rows.last < 4000
        assert not it.view.following
        it.view.append(EventStory(first=5001).says("later").events)
        await it.until(lambda: it.view.behind == 1)
        await it.press("G")
        await it.until(lambda: it.view.rows.last == 5000)


async def test_a_search_finds_text_that_is_not_in_the_row() -> None:
    book = (
        EventStory()
        .call("Bash", {"stdout": "a\nxylophone\nz"}, command="one")
        .call("Bash", {"stdout": "b"}, command="two")
    )
    async with stage(book.says("end").events) as it:
        it.view.search("xylophone")
        await it.until(lambda: it.view.cursor == 1)
        await it.press("enter")
        await it.until(lambda: "xylophone" in it.text)
        await it.press("n")
        await it.until(lambda: it.app.words[-1:] == ["nothing more with “xylophone”"])


async def test_a_search_without_a_match_says_so() -> None:
    async with stage(list(turns(100))) as it:
        it.view.search("zebra")
        await it.until(lambda: it.app.words)
        assert it.app.words == ["nothing more with “zebra”"]


async def test_one_session_is_followed_and_others_are_left_out() -> None:
    mine, theirs = EventStory("ours"), EventStory("theirs", first=4)
    mine.prompt("our prompt").says("ours")
    theirs.says("theirs")
    async with stage([*mine.events, *theirs.events]) as it:
        assert "theirs" in it.text
        it.view.follow("ours")
        await it.until(lambda: it.view.rows.last == 3)
        it.view.append(
            [
                *EventStory("theirs", first=5).says("not this").events,
                *EventStory("ours", first=6).says("but this").events,
            ]
        )
        await it.until(lambda: "but this" in it.text)
        assert "theirs" not in it.text
        assert "not this" not in it.text


async def test_many_resizes_leave_a_correct_screen() -> None:
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
    book = EventStory()
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
            it.view.scroll_to(y=line, animate=False, force=True, immediate=True)
            strips = [it.view.render_line(y) for y in range(size[1])]
            assert not any(UNSEEN.search(strip.text) for strip in strips)
            assert {strip.cell_length for strip in strips} == {size[0]}
        assert "[bold]" in "\n".join(row_text(line) for o in it.view._opened.values() for line in o.lines or [])


async def test_copied_text_is_the_event_made_visible() -> None:
    async with stage(EventStory().call("Bash", {"stdout": "a\x1b[31mb"}, command="ls\nrm").events) as it:
        await it.press("up")
        assert it.view.copy_text().splitlines()[:4] == ["$ ls", "  rm", "⎿", "a⟨1b⟩[31mb"]


async def test_the_mouse_selects_opens_and_scrolls() -> None:
    async with stage(list(turns(2000))) as it:
        await it.pilot.click(FeedView, offset=(40, 10))
        assert it.screen[10].startswith("▌")
        await it.pilot.click(FeedView, offset=(119, 0))
        await it.until(lambda: it.view.rows.first < 1600)


async def test_a_feed_with_a_border_is_drawn_and_clicked_like_one_without() -> None:
    log = list(turns(2000))
    async with stage(log, (122, 32)) as framed, stage(log, (120, 30)) as bare:
        framed.view.styles.border = ("round", "green")
        await framed.until(lambda: framed.view.size == bare.view.size)
        await framed.until(lambda: framed.view._layout.width == 119)
        await framed.press("end")
        painted = [strip.text for strip in framed.view.render_lines(framed.view.region)]
        assert (painted[0][0], painted[-1][-1]) == ("╭", "╯")
        assert [line[1:-1] for line in painted[1:-1]] == [
            line.text for line in bare.view.render_lines(bare.view.region)
        ]
        assert {line[0] for line in painted[1:-1]} == {"│"}
        await framed.pilot.click(FeedView, offset=(40, 10))
        assert framed.screen[9].startswith("▌")


async def test_a_daemon_that_does_not_answer_is_reported_and_asked_again() -> None:
    async with stage(list(turns(1000))) as it:
        log = it.app.log_of_events
        log.is_away = True
        await it.press("g")
        await it.until(lambda: it.app.words)
        assert it.app.words[0] == "the daemon does not answer"
        log.is_away = False
        await it.press("G", "g")
        await it.until(lambda: it.view.rows.first < 600)


async def test_events_before_the_stream_begins_are_read_from_the_log() -> None:
    events = list(turns(700))
    async with stage(events[:600]) as made:
        made.app.log_of_events.events = events[:650]
        made.view.expect_after(650)
        made.view.append(events[650:])
        await made.until(lambda: made.view.rows.last == 700)
        assert gaps(made.view) == []
        assert made.view.following


async def test_a_stream_that_begins_where_the_feed_ends_reads_nothing_again() -> None:
    events = list(turns(600))
    async with stage(events) as made:
        calls = made.app.log_of_events.calls
        made.view.expect_after(600)
        await made.pilot.pause()
        assert made.app.log_of_events.calls == calls
