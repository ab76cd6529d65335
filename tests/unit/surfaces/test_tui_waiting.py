"""Who waits at a terminal of its own: said in the header and on the desk, gone to by a key."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from tests.support.pilot import Face
from tests.support.tui import NOW, Json, RecordedTalk, connected, ours, request, session, snapshot

NOBODY: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}


@asynccontextmanager
async def shown(
    sessions: list[Json], requests: list[Json], size: tuple[int, int] = (100, 30), **answers: Json
) -> AsyncGenerator[Face]:
    talk = RecordedTalk([connected(__version__), snapshot(sessions=sessions, requests=requests)], NOBODY | answers)
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
    async with shown([session("there", pending=0)], [], **{"/sessions/there": where}) as face:
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
