"""The one table of what a person can do with a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from quarterdeck.core.handlers.decisions import CLIENTS_ONLY, validation_error
from quarterdeck.core.model.decisions import ACTIONS, Allow, Answer, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.state import Request
from quarterdeck.surfaces.terminal.request_card import decisions_for

MADE: Mapping[type[Decision], Decision] = {
    Allow: Allow(),
    Deny: Deny("no"),
    Answer: Answer({}),
    Block: Block("go on"),
    NoOpinion: NoOpinion(),
}


def request_of(form: str) -> Request:
    known: dict[str, Any] = dict.fromkeys(("request_id", "session_id", "run_id", "event_id", "digest"), "x")
    rest: dict[str, Any] = {"seq_no": 1, "hook_name": "", "tool_name": "", "tool_input": {}, "opened_at": 0.0}
    return Request(kind=form, form=form, held=True, waiter="http", **known, **rest)


@pytest.mark.parametrize("form", ACTIONS)
def test_a_request_takes_exactly_the_decisions_of_its_actions(form: str) -> None:
    request = request_of(form)
    taken = {kind for kind in MADE if not (validation_error(request, MADE[kind]) or "").startswith("decision:")}
    assert taken == {*ACTIONS[form].values(), *CLIENTS_ONLY.get(form, ())}
    assert taken < set(get_args(Decision))


@pytest.mark.parametrize("form", ACTIONS)
@pytest.mark.parametrize("has_terminal", [True, False])
def test_a_surface_offers_all_of_them_but_to_pass_only_to_a_terminal(form: str, has_terminal: bool) -> None:
    offered = decisions_for({"form": form, "kind": "permission", "has_terminal": has_terminal})
    assert (*offered, *([] if has_terminal else ["pass"])) == tuple(ACTIONS[form])
