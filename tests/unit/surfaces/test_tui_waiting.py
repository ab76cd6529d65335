"""Who waits, and who is who: at a terminal of its own one is told and gone to, in one project each is told apart."""

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
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog, Marks
from quarterdeck.surfaces.tui.panes.command_line import CommandLine
from quarterdeck.surfaces.tui.widgets.themes import style_of
from tests.support.pilot import Face
from tests.support.tui import NOW, Json, RecordedTalk, connected, event, ours, over, request, session, snapshot

NOBODY: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}


@asynccontextmanager
async def shown(
    sessions: list[Json],
    requests: list[Json],
    size: tuple[int, int] = (100, 30),
    happened: Iterable[Json] = (),
    answers: dict[str, Json] | None = None,
) -> AsyncGenerator[Face]:
    told = [Message("event", {"event": one}) for one in happened]
    start = snapshot(sessions=sessions, requests=requests)
    talk = RecordedTalk([connected(__version__), start, *told], NOBODY | (answers or {}))
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: len(app.bridge.sessions.rows) > 1, "sessions")
        yield face


def pointed(face: Face) -> str:
    return str((face.bridge.sessions.pointed or {}).get("session_id", ""))


async def test_who_waits_at_its_own_terminal_is_told_with_the_way_there_and_gone_to() -> None:
    async with shown([session("busy", "running", cwd="/home/ann/docs"), session("there", pending=0)], []) as face:
        await face.sees("1 waits at its own terminal: n goes there")
        assert "nobody waits" not in face.text
        assert "Nobody waits" not in face.text
        assert "shop in /home/ann/shop, process 4711" in face.text
        assert face.text.splitlines()[0].count("1 waits at its own terminal") == 1
        await face.press("n")
        await face.hears("shop waits at its own terminal: in /home/ann/shop")
        assert pointed(face) == face.bridge.sessions.chosen == "there"


async def test_a_pane_of_the_persons_own_tmux_is_opened_by_t() -> None:
    where: Json = {"where": "tmux -S /tmp/tmux-1/default attach -t %3"}
    async with shown([session("there", pending=0)], [], answers={"/sessions/there": where}) as face:
        await face.sees("t goes to its tmux pane")
        await face.press("n")
        await face.sees("t terminal")


async def test_the_next_after_the_last_card_is_who_waits_elsewhere_and_then_the_first_card() -> None:
    here, there = session("here", cwd="/home/ann/docs"), ours("there", mode="tmux")
    stands = there | {"agent_state": "waiting_input"}
    asked = [request("q1", session_id="here"), request("q2", session_id="here", opened_at=NOW)]
    async with shown([here, stands, session("other", pending=0)], asked) as face:
        await face.sees("2 need you · 2 at their terminals")
        await face.sees("Desk 1 of 2 · 2 wait at their own terminals")
        face.desk.focus()
        await face.until(lambda: face.desk.has_focus, "the desk")
        await face.press("n")
        await face.sees("Desk 2 of 2")
        gone_to = []
        for _ in range(2):
            await face.press("n")
            gone_to.append(pointed(face))
        assert sorted(gone_to) == ["other", "there"]
        await face.hears("waits at its own terminal: ")
        await face.press("n")
        await face.until(lambda: face.desk.has_focus, "back on the desk")
        await face.sees("Desk 1 of 2")


def alike(*ids: str) -> list[Json]:
    return [session(one, cwd="/home/ann/proj", title=f"title of {one[:1]}") for one in ids]


@pytest.mark.parametrize("size", [(60, 20), (100, 30), (180, 50)], ids=str)
async def test_sessions_of_one_project_are_told_apart_in_the_list_on_the_card_and_in_the_feed(
    size: tuple[int, int],
) -> None:
    twins = alike("aaaa1111", "bbbb2222", "cccc3333")
    said = event(3, "message.assistant", "◂ hello", "bbbb2222", text="hello")
    async with shown(twins, [request("q1", session_id="aaaa1111")], size, [said]) as face:
        await face.sees("proj·aaaa wants to run · 12 s ago · title of a")
        assert all(f"◆ proj·{one}" in face.bridge.sessions.text for one in ("aaaa", "bbbb", "cccc"))
        assert "title of c" in face.bridge.sessions.text
        assert face.bridge.feed.project_of("bbbb2222") == "proj·bbbb"


async def test_the_feed_calls_a_session_otherwise_once_another_works_beside_it() -> None:
    said = [event(3, "message.assistant", "◂ hello", "aaaa1111", text="hello")]
    async with shown(alike("aaaa1111"), [], (120, 30), said) as face:
        await face.sees("proj        ◂ claude")
        face.app.model.hear(snapshot(sessions=alike("aaaa1111", "bbbb2222")), 101.0)
        face.app.dirty()
        await face.sees("proj·aaaa   ◂ claude")


@pytest.mark.parametrize(
    ("burst", "typed"), [(":audit", "audit"), ("/allow", "find allow"), ("fkind=a", "filter kind=a")]
)
async def test_what_is_typed_in_one_breath_lands_in_the_line_and_decides_nothing(burst: str, typed: str) -> None:
    async with shown([session()], [request()]) as face:
        await face.card("git push")
        for character in burst:
            face.app.post_message(Key(character, character) if character.isalpha() else Key(_key(character), character))
        line = face.bridge.query_one(CommandLine)
        await face.until(lambda: line.value == typed, typed)
        assert face.desk.asked is not None
        assert not face.desk.asked.sending
        await face.press("colon", "slash")
        await face.until(lambda: line.value == f"{typed}:/", "signs are typed like letters")


def _key(character: str) -> str:
    return {":": "colon", "/": "slash", "=": "equals_sign"}[character]


async def test_that_something_hides_is_no_longer_said_once_it_was_shown() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as face:
        await face.card("line 1")
        await face.press("a")
        await face.hears("press x to see everything first")
        await face.press("x")
        await face.until(lambda: face.desk.expanded, "all of it")
        assert face.app.status.shown(time.monotonic()) is None


async def test_a_small_screen_shows_what_is_wanted_also_while_another_pane_has_the_focus() -> None:
    async with shown([session()], [request(command="make waves \u202e now")], (60, 20)) as face:
        await face.card("make waves")
        face.bridge.sessions.focus()
        await face.until(lambda: face.desk.most_rows < 6, "less room")
        await face.sees("make waves")
        await face.sees("… x shows everything: 1 character that does not show")
        await face.sees("n goes to it")
        assert len(face.desk.rows) <= face.desk.most_rows


async def test_a_card_that_was_expanded_takes_the_room_of_a_wider_screen() -> None:
    async with shown([session()], [request(command="echo " + "word " * 30)], (60, 20)) as face:
        await face.card("word")
        await face.press("x")
        await face.until(lambda: face.desk.expanded, "all of it")
        await face.pilot.resize_terminal(180, 20)
        await face.sees("word " * 25)
        assert face.desk.expanded


async def test_a_request_that_ended_while_the_daemon_was_away_says_how() -> None:
    asked = request("q1", "make waves")
    gone = over(asked, "withdrawn", word="pass", source="elsewhere", reason="the agent let go of it") | {"rule": None}
    async with shown([session()], [asked], answers={"/requests/q1": gone}) as face:
        await face.card("make waves", settled=False)
        face.app.model.hear(snapshot(sessions=[session()]), time.monotonic())
        face.app.dirty()
        await face.sees("→ The agent let go of it")


async def test_a_card_that_was_read_whole_and_is_small_again_says_that_there_is_more() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as face:
        await face.card("line 1")
        await face.press("x")
        await face.until(lambda: face.desk.allow_vertical_scroll and face.desk.max_scroll_y > 0, "all of it")
        await face.press("end")
        await face.until(lambda: not face.desk.why_not(), "its end")
        await face.press("x")
        await face.sees("x shows everything: there is more below")
        assert face.desk.why_not() == ""


async def test_a_card_that_comes_in_the_place_of_another_has_to_be_seen_before_it_is_decided() -> None:
    two = [request("q1", "make one"), request("q2", "make two", opened_at=NOW)]
    async with shown([session(pending=2)], two) as face:
        first, desk = await face.card("make one"), face.desk
        assert desk.shown_at is not None
        since = desk.shown_at
        face.app.model.hear(Message("request", {"request": over(first.view, "decided", word="deny")}), since)
        face.app.dirty()
        second = await face.card("make two")
        assert desk.shown_at > since
        soon = face.app.model.why_not(second, desk.shown_at + 0.29, desk.shown_at, True, verb="allow")
        assert soon == "it has only just come on screen"
        before = desk.shown_at
        await face.press("question_mark")
        await face.until(lambda: face.app.screen is not face.bridge, "another screen")
        await face.press("escape")
        await face.until(lambda: (desk.shown_at or before) > before, "back on screen")


async def test_a_card_that_is_over_is_greyed_and_says_who_ended_it() -> None:
    async with shown([session()], [request("q1", "make waves")]) as face:
        asked = await face.card("make waves")
        assert colours(face, "make waves") != {style_of("dark", "dim").color}
        done = over(asked.view, "decided", word="deny", by="ann via phone")
        face.app.model.hear(Message("request", {"request": done}), time.monotonic() + 60)
        face.app.dirty()
        await face.sees("→ Denied by ann from phone")
        assert colours(face, "make waves") == {style_of("dark", "dim").color}


def colours(face: Face, words: str) -> set[Color | None]:
    """The colours in which the desk shows these words."""
    strips = [face.desk.render_line(y) for y in range(face.desk.size.height)]
    return {s.style.color for strip in strips for s in strip if words in s.text and s.style is not None}


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
async def test_a_risk_that_is_not_told_to_its_end_must_be_seen_before_an_allow(size: tuple[int, int]) -> None:
    risk = {"level": "critical", "reasons": [f"reason {n} of many that it is harmful" for n in range(30)]}
    async with shown([session()], [request(command="make harm", risk=risk)], size) as face:
        asked = await face.card("make harm")
        await face.sees("x shows everything: there is more below")
        assert "press x" in face.desk.why_not("allow")
        await face.press("x")
        await face.until(lambda: face.desk.expanded and face.desk.allow_vertical_scroll, "all of it")
        await face.press("end")
        await face.until(lambda: asked.seen, "its end")
        await face.sees("reason 29")


@pytest.mark.law("S11")
@pytest.mark.parametrize("verb", ["d", "r", "e"])
async def test_what_was_typed_stays_in_its_dialog_while_nobody_may_decide(verb: str) -> None:
    async with shown([session()], [request()]) as face:
        asked = await face.card("git push")
        asked.patterns = ["Bash(git push --force)"]
        await face.press(verb)
        await face.until(lambda: isinstance(face.app.screen, DecisionDialog), "the dialog")
        face.app.model.hear(Lost("gone"), time.monotonic())
        await face.press("ctrl+s" if verb != "d" else "enter")
        await face.until(lambda: "Not sent: what is shown may be old" in face.text or not asked.is_pending, "a word")
        assert isinstance(face.app.screen, DecisionDialog)
        assert not asked.sending


@pytest.mark.law("S11")
async def test_of_many_none_is_decided_whose_session_nobody_knows() -> None:
    two = [request("q1", "make one"), request("q2", "make two", session_id="s2")]
    async with shown([session(), session("s2", "unknown", pending=1)], two) as face:
        await face.card("make one")
        await face.press("m")
        await face.until(lambda: isinstance(face.app.screen, BatchDialog), "the dialog")
        opened = time.monotonic()
        await face.until(lambda: time.monotonic() > opened + SETTLE_SECONDS, "a while")
        await face.press("asterisk")
        await face.until(lambda: len(face.app.screen.query_one(Marks).marked) == 2, "both")
        await face.press("a")
        await face.sees("Nothing was sent. make two: the state of this session is unknown")
        assert isinstance(face.app.screen, BatchDialog)


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    ("size", "more"),
    [((80, 24), {"agent_id": "a1", "agent_type": "x" * 1400}), ((80, 24), {"tool_name": "mcp__" + "x" * 1800})],
    ids=["agent", "tool"],
)
async def test_who_asks_never_crowds_out_what_is_wanted(size: tuple[int, int], more: Json) -> None:
    async with shown([session()], [request(command="make harm", **more)], size) as face:
        await face.card("make harm")
        await face.sees("x shows everything: there is more below")
        await face.press("a")
        await face.hears("Not all of it shows")


@pytest.mark.law("D10")
@pytest.mark.parametrize("size", [(120, 5), (120, 4), (12, 40), (15, 30)], ids=str)
async def test_a_terminal_that_is_too_small_lets_nothing_through(size: tuple[int, int]) -> None:
    async with shown([session()], [request(command="make harm and hide it far to the right of what shows")]) as face:
        asked = await face.card("make harm")
        await face.pilot.resize_terminal(*size)
        await face.until(lambda: face.app.size == size, "small")
        await face.until(lambda: face.desk.why_not("allow"), "a reason")
        await face.press("a")
        assert not asked.sending
        assert not face.desk.why_not("deny")


async def test_keys_act_in_the_order_in_which_they_come() -> None:
    async with shown([session()], [request()]) as face:
        await face.card("git push")
        await face.press("d")
        await face.until(lambda: isinstance(face.app.screen, DecisionDialog), "the dialog")
        line = face.app.screen.query_one(Input)
        await face.until(lambda: line.has_focus, "the line")
        for key in ("a", "b", "c", "backspace", "backspace", "x", "home", "y"):
            face.app.post_message(Key(key, key if len(key) == 1 else None))
        await face.until(lambda: len(line.value) == 3, "all of it")
        assert line.value == "yax"


@pytest.mark.parametrize("keys", [("m", "a"), ("question_mark", "a")], ids=str)
async def test_what_is_typed_as_something_opens_decides_nothing(keys: tuple[str, ...]) -> None:
    two = [request("q1", "make one"), request("q2", "make two", opened_at=NOW)]
    async with shown([session(pending=2)], two) as face:
        asked = await face.card("make one")
        for key in keys:
            face.app.post_message(Key(key, key if len(key) == 1 else None))
        await face.until(lambda: face.app.screen is not face.bridge, "what was opened")
        assert not asked.sending


@pytest.mark.parametrize("key", ["r", "e"])
async def test_a_dialog_that_lets_something_through_is_seen_first(key: str) -> None:
    async with shown([session()], [request()]) as face:
        asked = await face.card("git push")
        asked.patterns = ["Bash(git push --force)"]
        await face.pilot.press(key)
        await face.until(lambda: isinstance(face.app.screen, DecisionDialog), "the dialog")
        dialog = face.app.screen
        assert isinstance(dialog, DecisionDialog)
        dialog.shown_at = time.monotonic() + 60
        await face.pilot.press("f2")
        await face.sees("Not sent: this has only just come on screen")
        assert not asked.sending


@pytest.mark.law("D11")
async def test_a_request_that_waits_again_stays_on_the_desk() -> None:
    async with shown([session()], [request("q1", "make waves")]) as face:
        view, model = (await face.card("make waves")).view, face.app.model
        model.hear(snapshot(sessions=[session()]), 100.0)
        model.hear(Message("request", {"request": view}), 101.0)
        assert not model.forget_over(200.0)
        assert [one.request_id for one in model.pending] == ["q1"]


async def test_a_daemon_with_another_log_is_shown_from_its_beginning() -> None:
    said = event(30, "message.assistant", "◂ hello", text="of the old log")
    async with shown([session("old")], [request(session_id="old")], happened=[said]) as face:
        await face.sees("of the old log")
        model = face.app.model
        model.hear(Connected(2, "otter-2", __version__, False), time.monotonic())
        model.hear(snapshot(sessions=[session("new", "running")]), time.monotonic())
        face.app.dirty()
        await face.hears("the daemon has another log")
        await face.until(lambda: "of the old log" not in face.text, "the old rows gone")
        assert [one["session_id"] for one in model.shown_sessions(True)] == ["new"]
        model.hear(
            Message("event", {"event": event(3, "message.assistant", "◂ hi", "new", text="of the new log")}), 0.0
        )
        face.app.dirty()
        await face.sees("of the new log")


async def test_the_foot_of_an_expanded_card_changes_and_its_rows_stay() -> None:
    async with shown([session()], [request(command="\n".join(f"line {n}" for n in range(60)))]) as face:
        asked = await face.card("line 1")
        await face.press("x")
        await face.until(lambda: face.desk.expanded and face.desk.allow_vertical_scroll, "all of it")
        await face.press("end")
        await face.until(lambda: asked.seen, "its end")
        before = face.desk.rows
        done = over(asked.view, "decided", word="deny", by="ann via phone")
        face.app.model.hear(Message("request", {"request": done}), time.monotonic() + 60)
        face.app.dirty()
        await face.sees("→ Denied by ann from phone")
        assert face.desk.rows is before
        assert colours(face, "line 59") == {style_of("dark", "dim").color}
