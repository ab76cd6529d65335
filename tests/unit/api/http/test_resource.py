"""The machine of each resource."""

from __future__ import annotations

import pytest
from msgspec import Struct

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.resource import on_machine, one_of, without_items
from quarterdeck.views.resources.runner_resource import Resource


class Ship(Resource, kw_only=True):
    name: str


class Fleet(Struct, kw_only=True):
    ships: list[Ship]
    notes: list[str]
    harbour: str
    next: int | None = None


def test_every_resource_names_its_machine() -> None:
    fleet = on_machine(Fleet(ships=[Ship(name="a"), Ship(name="b", runner_id="other")], notes=[], harbour="x"), "otter")
    assert [ship.runner_id for ship in fleet.ships] == ["otter", "other"]
    assert on_machine(Ship(name="a"), "otter").runner_id == "otter"


def test_an_answer_that_is_no_resource_stays_as_it_is() -> None:
    assert on_machine(None, "otter") is None
    assert on_machine({"a": 1}, "otter") == {"a": 1}


def test_a_list_about_another_machine_is_empty() -> None:
    fleet = without_items(Fleet(ships=[Ship(name="a")], notes=["n"], harbour="x", next=3))
    assert fleet == Fleet(ships=[], notes=[], harbour="x", next=None)


def test_an_id_that_one_machine_has_is_that_one() -> None:
    assert one_of({"otter": "the session"}, "session", "s1", "qd sessions") == "the session"


def test_an_id_that_several_machines_have_names_them() -> None:
    with pytest.raises(ApiError) as refused:
        one_of({"otter": 1, "heron": 2}, "session", "s1", "qd sessions")
    assert refused.value.code == 409
    error = refused.value.body["error"]
    assert (error["kind"], error["runner_ids"]) == ("ambiguous", ["heron", "otter"])
    assert error["message"] == "2 machines have the session s1; add runner_id: heron, otter"


def test_an_id_that_no_machine_has_is_not_found() -> None:
    with pytest.raises(ApiError) as refused:
        one_of({}, "request", "q" * 500, "qd requests")
    assert refused.value.code == 404
    assert refused.value.body["error"]["message"] == f"no such request: {'q' * 200}; see: qd requests"
