"""The machine that each resource names."""

from __future__ import annotations

from quarterdeck.views.resources.runner_resource import Resource
from tests.support.views import as_json


def test_a_resource_names_its_machine() -> None:
    assert as_json(Resource(runner_id="otter")) == {"runner_id": "otter"}
    assert as_json(Resource()) == {"runner_id": ""}
