"""The actions of both sides."""

from __future__ import annotations

from typing import get_args

from quarterdeck.link.actions import CloseLink, HandleMessage, HubAction, RunnerAction, SaveCursor, SendMessage


def test_both_sides_send_close_and_hand_on() -> None:
    assert set(get_args(RunnerAction)) & set(get_args(HubAction)) == {SendMessage, CloseLink, HandleMessage}


def test_only_a_runner_has_a_cursor() -> None:
    assert SaveCursor in get_args(RunnerAction)
    assert SaveCursor not in get_args(HubAction)
