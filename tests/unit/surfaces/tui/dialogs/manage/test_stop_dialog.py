"""The dialog that stops everything lists what will stop."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.tui.dialogs.manage.stop_dialog import stop_plan_lines
from quarterdeck.views.resources.session_view import StopResult

ONE = StopResult(session_id="5bcc959a-1f0c", cwd="/shop", title="", agent_state="running", mode="sdk", ok=True)


def test_every_session_is_listed_below_the_key_that_stops_it() -> None:
    plan = {"interrupt": [ONE], "end": [ONE, replace(ONE, cwd="/docs")]}
    assert plain(fold(stop_plan_lines(plan), 80)).split("\n") == [
        "I  Interrupt 1 session; their turns stop:",
        "   ● shop (5bcc959a) running",
        "E  End 2 sessions; with everything they started:",
        "   ● shop (5bcc959a) running",
        "   ● docs (5bcc959a) running",
    ]


def test_nothing_to_stop_is_said() -> None:
    shown = plain(fold(stop_plan_lines({"interrupt": [], "end": []}), 80)).split("\n")
    assert shown == ["I  Nothing to interrupt: no session is at work.", "E  Nothing to end: no session is running."]
