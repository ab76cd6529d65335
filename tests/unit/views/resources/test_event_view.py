"""An event of the feed as every surface sees it."""

from __future__ import annotations

from quarterdeck.core.engine.messages import CreateToken
from quarterdeck.views.resources.event_view import event_view
from tests.support.scene import Scene, bash
from tests.support.views import over_the_wire


def test_an_event_has_a_title_and_hints_for_display() -> None:
    scene = Scene().receives("PreToolUse", **bash("make test", "t1"))
    [event] = [event for event in scene.events if event.kind == "tool.pre"]
    view = event_view(event, "claude")
    assert "make test" in view.title
    assert (view.seq_no, view.kind, view.data) == (event.seq_no, event.kind, event.data)
    read = over_the_wire(view)
    assert (read.title, read.ui, read.cause, read.agent) == (view.title, view.ui, view.cause, "claude")


def test_the_verifier_of_a_token_is_never_shown() -> None:
    scene = Scene().submits(
        CreateToken(token_id="t1", name="ci", scopes=("observe",), verifier="v" * 64, expires_at=None, by="ann", at=1.0)
    )
    [event] = [event for event in scene.events if event.kind == "token.create"]
    assert event.data.verifier == "v" * 64
    assert event_view(event, None).data.verifier == ""
