"""The desk: cards, sessions that wait elsewhere, names of sessions, and keys that must not decide by accident."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.color import Color
from textual.events import Key
from textual.widgets import Input

from quarterdeck import __version__
from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, BatchList
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.widgets.themes import style_of
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    event,
    owned_session,
    request,
    resolved,
    session,
    snapshot,
)

NO_SESSIONS: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}


@asynccontextmanager
async def shown(
    sessions: list[Json],
    requests: list[Json],
    size: tuple[int, int] = (100, 30),
    happened: Iterable[Json] = (),
    answers: dict[str, Json] | None = None,
) -> AsyncGenerator[TuiPilot]:
    messages = [LiveMessage("event", {"event": one}) for one in happened]
    start = snapshot(sessions=sessions, requests=requests)
    daemon = RecordedDaemon([connected(__version__), start, *messages], NO_SESSIONS | (answers or {}))
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: len(app.main_screen.sessions.rows) > 1, "sessions")
        yield tui


def highlighted_id(tui: TuiPilot) -> str:
    session = tui.main_screen.sessions.highlighted
    return session.session_id if session else ""


async def test_a_session_waiting_at_its_own_terminal_is_shown_and_n_goes_there() -> None:
    async with shown([session("busy", "running", cwd="/home/ann/docs"), session("there", pending=0)], []) as tui:
        await tui.sees("1 waits at its own terminal: n goes there")
        assert "none waiting" not in tui.text
        assert "No requests are waiting" not in tui.text
        assert "shop in /home/ann/shop, process 4711" in tui.text
        assert tui.text.splitlines()[0].count("1 waits at its own terminal") == 1
        await tui.press("n")
        await tui.shows_message("shop waits at its own terminal: in /home/ann/shop")
        assert highlighted_id(tui) == tui.main_screen.sessions.chosen == "there"


async def test_t_opens_a_pane_of_your_own_tmux() -> None:
    where: Json = {"where": "tmux -S /tmp/tmux-1/default attach -t %3"}
    async with shown([session("there", pending=0)], [], answers={"/sessions/there": where}) as tui:
        await tui.sees("t goes to its tmux pane")
        await tui.press("n")
        shown_at = tui.app.status.shown(time.monotonic())
        assert shown_at is not None
        tui.app.status.retract(shown_at.words)  # it would cover the keys for some seconds
        await tui.sees("t terminal")


async def test_after_the_last_card_n_goes_to_sessions_waiting_elsewhere_and_then_to_the_first_card() -> None:
    here, there = session("here", cwd="/home/ann/docs"), owned_session("there", mode="tmux")
    waiting_there = there | {"agent_state": "waiting_input"}
    item = [request("q1", session_id="here"), request("q2", session_id="here", opened_at=NOW)]
    async with shown([here, waiting_there, session("other", pending=0)], item) as tui:
        await tui.sees("2 need you · 2 at their terminals")
        await tui.sees("Desk 1 of 2 · 2 wait at their own terminals")
        tui.desk.focus()
        await tui.until(lambda: tui.desk.has_focus, "the desk")
        await tui.press("n")
        await tui.sees("Desk 2 of 2")
        visited = []
        for _ in range(2):
            await tui.press("n")
            visited.append(highlighted_id(tui))
        assert sorted(visited) == ["other", "there"]
        await tui.shows_message("waits at its own terminal: ")
        await tui.press("n")
        await tui.until(lambda: tui.desk.has_focus, "back on the desk")
        await tui.sees("Desk 1 of 2")


def alike(*ids: str) -> list[Json]:
    return [session(one, cwd="/home/ann/proj", title=f"title of {one[:1]}") for one in ids]


@pytest.mark.parametrize("size", [(60, 20), (100, 30), (180, 50)], ids=str)
async def test_sessions_of_one_project_have_different_names_in_the_list_on_the_card_and_in_the_feed(
    size: tuple[int, int],
) -> None:
    twins = alike("aaaa1111", "bbbb2222", "cccc3333")
    message_event = event(3, "message.assistant", "◂ hello", "bbbb2222", text="hello")
    async with shown(twins, [request("q1", session_id="aaaa1111")], size, [message_event]) as tui:
        await tui.sees("proj·aaaa wants to run · 12 s ago · title of a")
        assert all(f"◆ proj·{one}" in tui.main_screen.sessions.text for one in ("aaaa", "bbbb", "cccc"))
        assert "title of c" in tui.main_screen.sessions.text
        assert tui.main_screen.feed.label_of("bbbb2222") == "proj·bbbb"


async def test_the_feed_renames_a_session_once_another_runs_in_its_project() -> None:
    message_event = [event(3, "message.assistant", "◂ hello", "aaaa1111", text="hello")]
    async with shown(alike("aaaa1111"), [], (120, 30), message_event) as tui:
        await tui.sees("proj        ◂ claude")
        tui.app.model.receive(snapshot(sessions=alike("aaaa1111", "bbbb2222")), 101.0)
        tui.app.redraw_soon()
        await tui.sees("proj·aaaa   ◂ claude")


@pytest.mark.parametrize(
    ("burst", "typed"), [(":audit", "audit"), ("/allow", "find allow"), ("fkind=a", "filter kind=a")]
)
async def test_keys_typed_right_after_the_line_opens_go_into_it_and_decide_nothing(burst: str, typed: str) -> None:
    async with shown([session()], [request()]) as tui:
        await tui.card("git push")
        for character in burst:
            tui.app.post_message(Key(character, character) if character.isalpha() else Key(_key(character), character))
        line = tui.main_screen.query_one(CommandLine)
        await tui.until(lambda: line.value == typed, typed)
        assert tui.desk.item is not None
        assert not tui.desk.item.sending
        await tui.press("colon", "slash")
        await tui.until(lambda: line.value == f"{typed}:/", "signs are typed like letters")


def _key(character: str) -> str:
    return {":": "colon", "/": "slash", "=": "equals_sign"}[character]


async def test_a_notice_about_hidden_parts_goes_once_they_were_shown() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as tui:
        await tui.card("line 1")
        await tui.press("a")
        await tui.shows_message("press x to see everything first")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded, "all of it")
        assert tui.app.status.shown(time.monotonic()) is None


@pytest.mark.parametrize("key", ["right", ""], ids=["turned", "withdrawn"])
async def test_a_notice_about_hidden_parts_goes_with_its_card(key: str) -> None:
    long = request("q1", command="\n".join(f"line {n}" for n in range(60)))
    async with shown([session(pending=2)], [long, request("q2", "make two")]) as tui:
        item = await tui.card("line 1")
        await tui.press("a")
        await tui.shows_message("press x to see everything first")
        tui.app.model.receive(LiveMessage("request", {"request": resolved(item.view, "withdrawn")}), 1.0)
        await tui.press(*filter(None, [key]))
        await tui.sees("make two")
        assert tui.app.status.shown(time.monotonic()) is None


async def test_a_small_screen_shows_the_input_also_while_another_pane_has_the_focus() -> None:
    async with shown([session()], [request(command="make waves \u202e now")], (60, 20)) as tui:
        await tui.card("make waves")
        tui.main_screen.sessions.focus()
        await tui.until(lambda: tui.desk.max_rows < 6, "less room")
        await tui.sees("make waves")
        await tui.sees("… x shows everything: 1 hidden character")
        await tui.sees("n goes to it")
        assert len(tui.desk.rows) <= tui.desk.max_rows


async def test_an_expanded_card_uses_the_width_of_a_larger_screen() -> None:
    async with shown([session()], [request(command="echo " + "word " * 30)], (60, 20)) as tui:
        await tui.card("word")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded, "all of it")
        await tui.pilot.resize_terminal(180, 20)
        await tui.sees("word " * 25)
        assert tui.desk.expanded


async def test_a_request_that_ended_during_a_disconnection_shows_its_outcome() -> None:
    item = request("q1", "make waves")
    gone = resolved(item, "withdrawn", word="pass", source="elsewhere", reason="the agent let go of it") | {
        "rule": None
    }
    async with shown([session()], [item], answers={"/requests/q1": gone}) as tui:
        await tui.card("make waves", settled=False)
        tui.app.model.receive(snapshot(sessions=[session()]), time.monotonic())
        tui.app.redraw_soon()
        await tui.sees("→ The agent let go of it")


async def test_a_collapsed_card_still_says_that_there_is_more() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as tui:
        await tui.card("line 1")
        await tui.press("x")
        await tui.until(lambda: tui.desk.allow_vertical_scroll and tui.desk.max_scroll_y > 0, "all of it")
        await tui.press("end")
        await tui.until(lambda: not tui.desk.blocked_reason(), "its end")
        await tui.press("x")
        await tui.sees("x shows everything: there is more below")
        assert tui.desk.blocked_reason() == ""


async def test_a_long_change_leaves_room_for_what_was_asked_for() -> None:
    view = request("q1", tool_name="Write", tool_input={"file_path": "/w/a", "content": "\n".join(map(str, range(60)))})
    details = view | {"rule": None, "suggested": [], "run": {"prompt": "count to sixty"}}
    async with shown([session()], [view], size=(100, 30), answers={"/requests/q1": details}) as tui:
        await tui.card("/w/a")
        await tui.sees("asked for: count to sixty")
        await tui.sees("x shows everything: there is more below")


async def test_a_card_that_replaces_another_must_be_seen_before_it_is_decided() -> None:
    two = [request("q1", "make one"), request("q2", "make two", opened_at=NOW)]
    async with shown([session(pending=2)], two) as tui:
        first, desk = await tui.card("make one"), tui.desk
        assert desk.shown_at is not None
        since = desk.shown_at
        tui.app.model.receive(LiveMessage("request", {"request": resolved(first.view, "decided", word="deny")}), since)
        tui.app.redraw_soon()
        second = await tui.card("make two")
        assert desk.shown_at > since
        soon = tui.app.model.blocked_reason(second, desk.shown_at + 0.29, desk.shown_at, True, verb="allow")
        assert soon == "the card has only just appeared"
        before = desk.shown_at
        await tui.press("question_mark")
        await tui.until(lambda: tui.app.screen is not tui.main_screen, "another screen")
        await tui.press("escape")
        await tui.until(lambda: (desk.shown_at or before) > before, "back on screen")


async def test_a_resolved_card_is_greyed_and_names_who_decided() -> None:
    async with shown([session()], [request("q1", "make waves")]) as tui:
        item = await tui.card("make waves")
        assert colours(tui, "make waves") != {style_of("dark", "dim").color}
        done = resolved(item.view, "decided", word="deny", by="ann via phone")
        tui.app.model.receive(LiveMessage("request", {"request": done}), time.monotonic() + 60)
        tui.app.redraw_soon()
        await tui.sees("→ Denied by ann from phone")
        assert colours(tui, "make waves") == {style_of("dark", "dim").color}


def colours(tui: TuiPilot, words: str) -> set[Color | None]:
    """The colours in which the desk shows these words."""
    strips = [tui.desk.render_line(y) for y in range(tui.desk.size.height)]
    return {s.style.color for strip in strips for s in strip if words in s.text and s.style is not None}


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
async def test_a_risk_that_is_cut_must_be_seen_in_full_before_an_allow(size: tuple[int, int]) -> None:
    risk = {"level": "critical", "reasons": [f"reason {n} of many that it is harmful" for n in range(30)]}
    async with shown([session()], [request(command="make harm", risk=risk)], size) as tui:
        item = await tui.card("make harm")
        await tui.sees("x shows everything: there is more below")
        assert "press x" in tui.desk.blocked_reason("allow")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.allow_vertical_scroll, "all of it")
        await tui.press("end")
        await tui.until(lambda: item.seen, "its end")
        await tui.sees("reason 29")


@pytest.mark.law("S11")
@pytest.mark.parametrize("verb", ["d", "r", "e"])
async def test_typed_text_stays_in_its_dialog_while_no_decision_can_be_sent(verb: str) -> None:
    async with shown([session()], [request()]) as tui:
        item = await tui.card("git push")
        item.patterns = ["Bash(git push --force)"]
        await tui.press(verb)
        await tui.shows_screen(DecisionDialog)
        tui.app.model.receive(Lost("gone"), time.monotonic())
        await tui.press("ctrl+s" if verb != "d" else "enter")
        await tui.until(lambda: "Not sent: what you see may be old" in tui.text or not item.is_pending, "a word")
        assert isinstance(tui.app.screen, DecisionDialog)
        assert not item.sending


@pytest.mark.law("S11")
async def test_many_at_once_decides_nothing_if_the_state_of_a_session_is_unknown() -> None:
    two = [request("q1", "make one"), request("q2", "make two", session_id="s2")]
    async with shown([session(), session("s2", "unknown", pending=1)], two) as tui:
        await tui.card("make one")
        await tui.press("m")
        await tui.shows_screen(BatchDialog)
        opened = time.monotonic()
        await tui.until(lambda: time.monotonic() > opened + SETTLE_SECONDS, "a while")
        await tui.press("asterisk")
        await tui.until(lambda: len(tui.app.screen.query_one(BatchList).marked) == 2, "both")
        await tui.press("a")
        await tui.sees("Nothing was sent. make two: the state of this session is unknown")
        assert isinstance(tui.app.screen, BatchDialog)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    ("size", "more"),
    [((80, 24), {"agent_id": "a1", "agent_type": "x" * 1400}), ((80, 24), {"tool_name": "mcp__" + "x" * 1800})],
    ids=["agent", "tool"],
)
async def test_a_long_agent_or_tool_name_never_hides_the_input(size: tuple[int, int], more: Json) -> None:
    async with shown([session()], [request(command="make harm", **more)], size) as tui:
        await tui.card("make harm")
        await tui.sees("x shows everything: there is more below")
        await tui.press("a")
        await tui.shows_message("Not all of it shows")


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(120, 5), (120, 4), (12, 40), (15, 30)], ids=str)
async def test_a_terminal_that_is_too_small_allows_nothing(size: tuple[int, int]) -> None:
    async with shown([session()], [request(command="make harm and hide it far to the right of what shows")]) as tui:
        item = await tui.card("make harm")
        await tui.pilot.resize_terminal(*size)
        await tui.until(lambda: tui.app.size == size, "small")
        await tui.until(lambda: tui.desk.blocked_reason("allow"), "a reason")
        await tui.press("a")
        assert not item.sending
        assert not tui.desk.blocked_reason("deny")


async def test_keys_act_in_the_order_they_were_pressed() -> None:
    async with shown([session()], [request()]) as tui:
        await tui.card("git push")
        await tui.press("d")
        await tui.shows_screen(DecisionDialog)
        line = tui.app.screen.query_one(Input)
        await tui.until(lambda: line.has_focus, "the line")
        for key in ("a", "b", "c", "backspace", "backspace", "x", "home", "y"):
            tui.app.post_message(Key(key, key if len(key) == 1 else None))
        await tui.until(lambda: len(line.value) == 3, "all of it")
        assert line.value == "yax"


@pytest.mark.parametrize("keys", [("m", "a"), ("question_mark", "a")], ids=str)
async def test_keys_typed_while_a_screen_opens_decide_nothing(keys: tuple[str, ...]) -> None:
    two = [request("q1", "make one"), request("q2", "make two", opened_at=NOW)]
    async with shown([session(pending=2)], two) as tui:
        item = await tui.card("make one")
        for key in keys:
            tui.app.post_message(Key(key, key if len(key) == 1 else None))
        await tui.until(lambda: tui.app.screen is not tui.main_screen, "what was opened")
        assert not item.sending


@pytest.mark.parametrize("key", ["r", "e"])
async def test_a_dialog_that_allows_something_must_be_seen_first(key: str) -> None:
    async with shown([session()], [request()]) as tui:
        item = await tui.card("git push")
        item.patterns = ["Bash(git push --force)"]
        await tui.pilot.press(key)
        await tui.shows_screen(DecisionDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, DecisionDialog)
        dialog.shown_at = time.monotonic() + 60
        await tui.pilot.press("f2")
        await tui.sees("Not sent: the dialog has only just appeared")
        assert not item.sending


@pytest.mark.law("D11")
async def test_a_request_that_is_pending_again_stays_on_the_desk() -> None:
    async with shown([session()], [request("q1", "make waves")]) as tui:
        view, model = (await tui.card("make waves")).view, tui.app.model
        model.receive(snapshot(sessions=[session()]), 100.0)
        model.receive(LiveMessage("request", {"request": view}), 101.0)
        assert not model.remove_expired(200.0)
        assert [one.request_id for one in model.pending] == ["q1"]


async def test_a_daemon_with_another_log_replaces_everything_shown() -> None:
    message_event = event(30, "message.assistant", "◂ hello", text="of the old log")
    async with shown([session("old")], [request(session_id="old")], happened=[message_event]) as tui:
        await tui.sees("of the old log")
        model = tui.app.model
        model.receive(Connected(2, "otter-2", __version__, False), time.monotonic())
        model.receive(snapshot(sessions=[session("new", "running")]), time.monotonic())
        tui.app.redraw_soon()
        await tui.shows_message("the daemon has another log")
        await tui.until(lambda: "of the old log" not in tui.text, "the old rows gone")
        assert [one.session_id for one in model.shown_sessions(True)] == ["new"]
        model.receive(
            LiveMessage("event", {"event": event(3, "message.assistant", "◂ hi", "new", text="of the new log")}), 0.0
        )
        tui.app.redraw_soon()
        await tui.sees("of the new log")


async def test_an_expanded_card_changes_only_its_foot_when_it_is_resolved() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as tui:
        item = await tui.card("line 1")
        await tui.press("x")
        await tui.until(lambda: tui.desk.expanded and tui.desk.allow_vertical_scroll, "all of it")
        await tui.press("end")
        await tui.until(lambda: item.seen, "its end")
        before = tui.desk.rows
        done = resolved(item.view, "decided", word="deny", by="ann via phone")
        tui.app.model.receive(LiveMessage("request", {"request": done}), time.monotonic() + 60)
        tui.app.redraw_soon()
        await tui.sees("→ Denied by ann from phone")
        assert tui.desk.rows is before
        assert colours(tui, "line 59") == {style_of("dark", "dim").color}
