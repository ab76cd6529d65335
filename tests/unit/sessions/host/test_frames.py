"""Frames come out as they went in, however the bytes are cut; invalid ones are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.sessions.host.frames import HEAD, BadFrame, Frames, frame, read_json_body

FRAMES = st.lists(st.tuples(st.sampled_from([b"V", b"W"]), st.binary(max_size=300)), max_size=20)


@given(FRAMES, st.lists(st.integers(1, 50), max_size=100))
def test_frames_come_out_as_they_went_in(sent: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    wire = b"".join(frame(letter, body) for letter, body in sent)
    reader = Frames(b"VW")
    received = []
    for cut in [*cuts, len(wire)]:
        received += list(reader.feed(wire[:cut]))
        wire = wire[cut:]
    assert received == sent


@pytest.mark.law("I1")
@pytest.mark.parametrize("wire", [frame(b"X", b""), HEAD.pack(b"V", 2**31), b"GET / HTTP/1.1\r\n"])
def test_bytes_that_are_not_a_frame_are_refused(wire: bytes) -> None:
    with pytest.raises(BadFrame):
        list(Frames(b"VW").feed(wire))


@pytest.mark.law("I2")
@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"{", b"[" * 100_000, b"null"])
def test_a_json_body_must_be_an_object(body: bytes) -> None:
    with pytest.raises(BadFrame):
        read_json_body(body)
