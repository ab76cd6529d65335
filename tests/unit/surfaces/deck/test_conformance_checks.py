"""The rules of a model: each finds what breaks it."""

from __future__ import annotations

import pytest

from quarterdeck.surfaces.deck.conformance_checks import MODEL_CHECKS
from quarterdeck.wire import read_json, write_json
from tests.support.deck_scene import DeckScene
from tests.support.deck_server import MODEL_FAULTS, Json


def model() -> Json:
    found: Json = read_json(write_json(DeckScene().model))
    return found


@pytest.mark.parametrize("name", MODEL_CHECKS)
def test_a_right_model_keeps_every_rule(name: str) -> None:
    assert MODEL_CHECKS[name](model()) is None


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_a_fault_is_found_by_its_rule(fault: str) -> None:
    broken = model()
    change, rule = MODEL_FAULTS[fault]
    change(broken)
    assert MODEL_CHECKS[rule](broken)
