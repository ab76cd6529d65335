"""The end of a request as every surface sees it."""

from __future__ import annotations

import pytest

from quarterdeck.core.model.decisions import Allow, Decision, Deny, NoOpinion
from quarterdeck.views.resources.decision_view import decision_view
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back


def test_a_request_that_waits_has_no_decision() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("make", "t1"))
    assert decision_view(scene.request("r1")) is None


@pytest.mark.parametrize(
    ("decision", "word"), [(Allow(), "allow"), (Deny("not on main", interrupt=True), "deny"), (NoOpinion(), "pass")]
)
def test_the_decision_is_one_of_the_words_that_a_client_sends(decision: Decision, word: str) -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("make", "t1")).decides("r1", decision)
    view = decision_view(scene.request("r1"))
    assert view is not None
    assert is_read_back(view)
    assert (view.request_id, view.decision, view.source, view.by) == ("r1", word, "user", "ann")
    assert view.interrupt is isinstance(decision, Deny)
