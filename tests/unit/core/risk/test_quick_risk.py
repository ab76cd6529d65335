"""Quick risk: assessed once, bounded, and cached by everything that matters."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.quick_risk import MAX_LENGTH, TOO_LONG, quick_risk
from tests.support.scene import Scene, bash


def request_for(request_id: str, command: str) -> Request:
    return Scene(hold="always").receives("PermissionRequest", id=request_id, **bash(command)).request(request_id)


@pytest.mark.law("I4")
def test_a_long_command_is_not_read_by_quick_risk() -> None:
    assert quick_risk(request_for("long", "ls; " * MAX_LENGTH), "/w", "/home/ann") == TOO_LONG


def test_the_same_command_in_another_folder_has_its_own_risk() -> None:
    request = request_for("same", "rm -rf /w/app/build")
    assert quick_risk(request, "/w/app", "/home/ann").level == "medium"
    assert quick_risk(request, "/w/other", "/home/ann").level == "high"
    assert quick_risk(request, "/w/app", "/home/ann", ("/w/app/build",)).level == "critical"


def test_another_digest_is_assessed_again() -> None:
    levels: list[Any] = [
        quick_risk(request_for("again", command), "/w", "/home/ann").level for command in ("ls", "rm -rf /")
    ]
    assert levels == ["low", "critical"]
