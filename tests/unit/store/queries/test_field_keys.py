"""The keys of an event: the same for the same value, in the order of a run, and never for what is no id."""

from __future__ import annotations

import pytest

from quarterdeck.store.queries.field_keys import PLAIN, keys_of, place_key, place_range, plain_key
from tests.support.scene import Scene, bash


def test_a_value_has_one_key_in_each_field() -> None:
    assert plain_key("tool", "Bash") == plain_key("tool", "Bash") >= PLAIN
    assert len({plain_key("tool", "Bash"), plain_key("kind", "Bash"), plain_key("tool", "Read")}) == 3
    assert plain_key("tool", "\ud800") < 2**63


def test_the_places_of_a_run_are_in_order_within_its_range() -> None:
    first, last = place_range("run", "s1:R3")
    places = [place_key("run", f"s1:R3:E{seq}") for seq in (1, 2, 10, 2_000_000_000)]
    assert places == sorted(places, key=lambda key: key or 0)
    assert all(key is not None and first <= key <= last < PLAIN for key in places)


@pytest.mark.parametrize("name", ["", "s1:R3", "s1:R3:E", "s1:R3:Ex", ":E1", "s1:R3:E-1", f"s1:R3:E{'9' * 40}"])
def test_a_name_that_is_no_id_of_an_event_has_no_key(name: str) -> None:
    assert place_key("run", name) is None


def test_an_event_is_filed_under_its_fields_and_its_cause() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go").receives("PreToolUse", **bash("make", "t1"))
    call = scene.events[-1]
    scene.receives("PostToolUse", **bash("make", "t1"), tool_response={})
    result = scene.events[-1]
    assert plain_key("tool", "Bash") in keys_of(call)
    assert plain_key("actor", "agent:root") in keys_of(call)
    assert place_key("run", call.event_id) in list(keys_of(call))
    assert place_key("cause", call.event_id) in list(keys_of(result))
