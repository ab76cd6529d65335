"""The frames between an agent's host and the daemon."""

from __future__ import annotations

from quarterdeck.drivers.claude.sdk_host.sdk_frames import (
    FROM_HOST,
    LINE,
    MAX_BODY,
    TO_HOST,
    numbered_frame,
    read_numbered,
)
from quarterdeck.sessions.host.frames import Frames


def test_a_numbered_frame_keeps_its_position_and_its_bytes() -> None:
    [(letter, body)] = Frames(FROM_HOST, MAX_BODY).feed(numbered_frame(LINE, 2**40, b"{}"))
    assert (letter, read_numbered(body)) == (LINE, (2**40, b"{}"))


def test_every_letter_means_one_thing() -> None:
    assert len(set(TO_HOST)) == len(TO_HOST)
    assert len(set(FROM_HOST)) == len(FROM_HOST)
