"""A request as lists and messages show it."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.views.resources.request_view import (
    LIST_HEAD,
    LIST_INPUT,
    RequestFacts,
    RequestView,
    request_view,
    shortened,
    whole_request_view,
)
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back

FACTS = RequestFacts(
    runner_id="otter",
    risk=Risk("high", ["rewrites history"]),
    needs_second_key=True,
    suggested=["allow make"],
    holder="connected",
    has_terminal=True,
)


def test_a_request_says_what_fits_and_how_it_stands() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("make", "t1"))
    view = request_view(scene.request("r1"), FACTS)
    assert is_read_back(view)
    assert (view.runner_id, view.holder, view.needs_second_key) == ("otter", "connected", True)
    assert (view.risk.level, list(view.risk.reasons)) == ("high", ["rewrites history"])
    assert view.decisions == ["allow", "deny", "pass"]
    assert view.outcome == "Waiting"
    assert view.decision is None
    assert view.hides == []


def test_a_large_input_is_shortened_in_lists_and_whole_otherwise() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("x" * LIST_INPUT, "t1"))
    request = scene.request("r1")
    short = request_view(request, FACTS)
    assert short.tool_input == {}
    assert short.truncated is not None
    assert short.hides != []
    assert whole_request_view(RequestView, request, FACTS).tool_input == request.tool_input


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=2 * LIST_INPUT), max_size=2))
def test_the_stand_in_names_exactly_what_it_stands_for(tool_input: dict[str, str]) -> None:
    body = json.dumps(tool_input, ensure_ascii=False, separators=(",", ":")).encode()
    short = shortened(tool_input)
    assert (short is None) == (len(body) <= LIST_INPUT)
    if short is not None:
        assert (short.bytes, short.sha256) == (len(body), hashlib.sha256(body).hexdigest())
        assert body.startswith(short.begins.encode())
        assert len(short.begins.encode()) > LIST_HEAD - 4
