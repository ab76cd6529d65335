"""Heartbeat: a connection is dead after two pings without any sign of life."""

from __future__ import annotations

from quarterdeck.link.heartbeat import Heartbeat


def test_it_pings_when_due_and_is_dead_after_two_missed() -> None:
    heartbeat = Heartbeat(15.0, 0.0)
    assert [heartbeat.beat(now) for now in (14.9, 15.0, 29.0, 30.0, 45.0)] == [None, True, None, True, False]


def test_any_message_is_a_sign_of_life() -> None:
    heartbeat = Heartbeat(15.0, 0.0)
    for now in range(15, 150, 15):
        assert heartbeat.beat(now) is True
        heartbeat.reset()
    assert heartbeat.due_at == 150


def test_a_jump_of_the_clock_alone_ends_nothing() -> None:
    heartbeat = Heartbeat(15.0, 0.0)
    assert heartbeat.beat(86_400.0) is True
    assert heartbeat.due_at == 86_415.0
