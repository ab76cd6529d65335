"""Labels for stopping several sessions."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, stop_line, stop_result_line, stop_summary
from quarterdeck.views.resources.session_view import StopResult


def result(session_id: str = "5bcc959a-1f0c", **more: Any) -> StopResult:
    usual: dict[str, Any] = {"cwd": "/home/ann/shop", "title": "fix the login", "agent_state": "running"}
    return StopResult(**{"session_id": session_id, "mode": None, "ok": True} | usual | more)


WELL = result()
BADLY = result("1f0c22de-0000", ok=False, error={"message": "it shows a dialog"})


def test_a_session_that_will_stop_is_named_with_its_place() -> None:
    assert stop_line(result(mode="sdk")) == "● shop (5bcc959a) running  fix the login"
    assert stop_line(result(mode="observed", title="")) == "● shop (5bcc959a) running · in your terminal"


def test_a_long_title_does_not_push_the_other_sessions_off_the_screen() -> None:
    line = stop_line(result(mode="sdk", title="make the tests pass and " * 20))
    assert len(line) < 70
    assert "make the tests pass" in line


def test_a_reason_that_names_the_session_is_not_preceded_by_its_name() -> None:
    waits = replace(BADLY, error={"message": "1f0c22de-0000 waits for a decision"})
    assert stop_result_line(waits, END) == "Not ended: 1f0c22de-0000 waits for a decision"
    assert stop_summary([waits], END) == "Ended 0 of 1; 1f0c22de: waits for a decision"


def test_each_result_says_how_it_went() -> None:
    assert stop_result_line(WELL, END) == "Ended: 5bcc959a-1f0c"
    assert stop_result_line(BADLY, INTERRUPT) == "Not interrupted: 1f0c22de-0000: it shows a dialog"


def test_the_summary_counts_and_gives_the_first_reason() -> None:
    assert stop_summary([WELL, BADLY], INTERRUPT) == "Interrupted 1 of 2; 1f0c22de: it shows a dialog"
    assert stop_summary([WELL], END) == "Ended 1 of 1"
