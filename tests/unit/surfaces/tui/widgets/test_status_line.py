"""The message in the bottom line: joined, retracted, and gone with the next key once it could be read."""

from __future__ import annotations

from quarterdeck.surfaces.tui.widgets.status_line import READ_SECONDS, SHOWN_SECONDS, StatusLine


def line_with(severity: str = "warning") -> StatusLine:
    status = StatusLine()
    status.say("a acts on the card", severity, 10.0)
    return status


def test_a_message_goes_with_the_next_key_once_it_could_be_read() -> None:
    status = line_with()
    assert not status.forget_old(10.0 + READ_SECONDS / 2)
    assert status.holds("acts on", 10.0)
    assert status.forget_old(10.0 + READ_SECONDS)
    assert status.shown(10.0 + READ_SECONDS) is None


def test_an_error_stays_whatever_keys_are_pressed() -> None:
    status = line_with("error")
    assert not status.forget_old(10.0 + READ_SECONDS)
    assert status.shown(10.0 + SHOWN_SECONDS["error"] - 0.1) is not None


def test_a_retracted_message_leaves_the_one_it_was_joined_with() -> None:
    status = line_with()
    status.say("and this", "warning", 10.5)
    status.retract("a acts on the card")
    assert status.holds("and this", 10.6)
    assert not status.holds("acts on", 10.6)
