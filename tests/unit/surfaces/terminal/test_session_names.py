"""Names of sessions: the project, the machine where there are several, and the start of the id where it is needed."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.session_names import session_names
from quarterdeck.views.resources.session_view import SessionView


def session(session_id: str, runner_id: str, **more: Any) -> SessionView:
    known = {"session_id": session_id, "runner_id": runner_id, "cwd": "/w/shop", "project_id": "p1", "ended_at": None}
    return read_view(SessionView, known | more)


def test_a_machine_is_named_only_where_there_are_several() -> None:
    one, two = session("aaaa1", "m-1", runner_name="laptop"), session("bbbb2", "m-2")
    assert str(session_names([one])["aaaa1"]) == "shop"
    assert {key: str(name) for key, name in session_names([one, two]).items()} == {
        "aaaa1": "laptop:shop",
        "bbbb2": "m-2:shop",
    }
