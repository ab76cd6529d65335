"""The machines of a hub, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli.hub.hub_machines import enroll, state_words
from quarterdeck.errors import Refused
from quarterdeck.hub.store.enrolments import enrolment_of
from quarterdeck.hub.store.hub_schema import open_hub_store


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"state": "ready"}, "ready"),
        ({"state": "catching_up", "behind": 1200}, "catching up, 1,200 to come"),
        ({"state": "conflict"}, "conflict"),
    ],
)
def test_the_state_of_a_machine_in_words(state: dict[str, Any], words: str) -> None:
    assert state_words(state) == words


def test_a_machine_is_enrolled_while_no_hub_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path / "home"))
    made = enroll("box").value
    found = enrolment_of(open_hub_store(tmp_path / "home" / "hub.db"), made["token"])
    assert found is not None
    assert found.enrolment_id == made["runner_id"]
    with pytest.raises(Refused):
        enroll("box")
