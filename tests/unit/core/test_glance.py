"""The glance: judged once, bounded, and by the whole of what a request is."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.quick_risk import LONGEST, UNREAD, glance
from tests.support.scene import Scene, bash


def asked(request_id: str, command: str) -> Request:
    return Scene(hold="always").hears("PermissionRequest", id=request_id, **bash(command)).request(request_id)


@pytest.mark.law("I4")
def test_a_long_command_is_not_read_at_a_glance() -> None:
    assert glance(asked("long", "ls; " * LONGEST), "/w", "/home/ann") == UNREAD


def test_the_same_words_elsewhere_are_another_risk() -> None:
    request = asked("same", "rm -rf /w/app/build")
    assert glance(request, "/w/app", "/home/ann").level == "medium"
    assert glance(request, "/w/other", "/home/ann").level == "high"
    assert glance(request, "/w/app", "/home/ann", ("/w/app/build",)).level == "critical"


def test_another_digest_is_judged_anew() -> None:
    levels: list[Any] = [glance(asked("again", command), "/w", "/home/ann").level for command in ("ls", "rm -rf /")]
    assert levels == ["low", "critical"]
