"""The ring keeps the last bytes of a terminal, and the position from which they draw its screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.sessions.host.replay_buffer import RESET, ReplayBuffer

SIZE = 4096
CLEAR = b"\x1b[2J"
PIECES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from([CLEAR, b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25l", b"\x1b[?2004;25h", b"\x1bc", b"\r\n"]),
        st.integers(1, 3000).map(lambda n: b"x" * n),
    ),
    max_size=40,
)


def ring_of(*output: bytes, size: int = SIZE) -> ReplayBuffer:
    ring = ReplayBuffer(size)
    for part in output:
        ring.add(part)
    return ring


@given(PIECES)
@pytest.mark.law("S6")
def test_it_keeps_the_last_bytes_and_never_more(output: list[bytes]) -> None:
    ring, whole = ring_of(*output), b"".join(output)
    assert ring.end == len(whole)
    assert ring.end - ring.start == min(len(whole), SIZE)
    assert ring.content(ring.start) == whole[-SIZE:] if whole else not ring.end


@given(PIECES, st.lists(st.integers(1, 60), min_size=1, max_size=200))
def test_the_result_does_not_depend_on_how_the_bytes_are_cut(output: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(output)
    at, parts = 0, []
    for cut in cuts:
        parts.append(whole[at : at + cut])
        at += cut
    cut_up, at_once = ring_of(*parts, whole[at:]), ring_of(whole)
    assert (cut_up.modes, cut_up.screen_start(), cut_up.prelude()) == (
        at_once.modes,
        at_once.screen_start(),
        at_once.prelude(),
    )


@given(PIECES)
def test_the_screen_begins_within_what_is_kept(output: list[bytes]) -> None:
    ring = ring_of(*output)
    point, _ = ring.screen_start()
    assert ring.start <= point <= ring.end


def test_the_screen_begins_at_the_last_clear() -> None:
    ring = ring_of(b"old", CLEAR, b"older", CLEAR, b"new")
    assert ring.content(ring.screen_start()[0]) == CLEAR + b"new"


def test_without_any_clear_the_screen_begins_at_the_start() -> None:
    ring = ring_of(b"one\r\ntwo")
    assert ring.screen_start() == (0, True)


def test_without_the_clear_the_screen_is_guessed_from_a_line_start() -> None:
    ring = ring_of(CLEAR, b"x" * SIZE, b"\x1b[31mhalf\r\nwhole")
    point, safe = ring.screen_start()
    assert not safe
    assert ring.content(point) == b"whole"


def test_behind_the_alternate_screen_the_main_one_is_kept_if_possible() -> None:
    ring = ring_of(CLEAR, b"main", b"\x1b[?1049h", CLEAR, b"alt")
    assert ring.content(ring.screen_start()[0]).startswith(CLEAR + b"main")
    ring.add(b"x" * (SIZE - 8) + b"\r\n" + CLEAR + b"alt")
    assert ring.content(ring.screen_start()[0]) == CLEAR + b"alt"
    ring.add(b"\x1b[?1049l")
    assert ring.screen_start()[1] is False


def test_modes_outlive_the_bytes_that_set_them() -> None:
    ring = ring_of(b"\x1b[?2004h\x1b[?25l\x1b[?2026h", b"x" * 2 * SIZE)
    assert ring.prelude() == RESET + b"\x1b[?2004h\x1b[?25l"


def test_modes_are_bounded() -> None:
    ring = ring_of(*(b"\x1b[?%dh" % n for n in range(1000)))
    assert len(ring.modes) == 64


def test_the_last_words_are_plain() -> None:
    ring = ring_of(b"\x1b]0;title\x07\x1b[1mone\x1b[0m\x1b[3Ctwo\r\n\r\n\x1b[2Kthree\x07  \r\n")
    assert ring.last_words() == "one two\nthree"
