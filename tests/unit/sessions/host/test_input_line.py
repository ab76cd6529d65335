"""Unsent text at the prompt is noticed, whatever keys a terminal sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.sessions.host.input_line import TURNING, InputLine, typed_prompt

EMPTY = {
    "nothing": b"",
    "sent": b"hello\r",
    "taken back letter by letter": b"abc\x7f\x7f\x7f",
    "taken back by bytes of more than one": "äö€".encode() + b"\x7f\x7f\x7f",
    "given up": b"hello\x1b[A\x1b[D\t\x03",
    "cleared": b"hello\x15",
    "pasted and sent": b"\x1b[200~one\rtwo\x1b[201~\r",
    "focus comes and goes": b"\x1b[I\x1b[O",
    "a terminal answers": b"\x1b[?1;2c\x1b[>0;276;0c\x1b[24;80R\x1b]11;rgb:0/0/0\x07\x1bP1$r0m\x1b\\",
    "the mouse": b"\x1b[<35;10;4M\x1b[<0;1;1m\x1b[M !!",
    "another mode": b"\x1b[Z",
    "a lone escape": b"\x1b",
    "control-c as newer terminals write it": b"abc\x1b[99;5u",
    "enter as newer terminals write it": b"abc\x1b[13u",
    "control-u in the other form": b"abc\x1b[27;5;117~",
    "a completion, sent": b"see @READ\r\r",
    "a file named before other words": b"see @README.md now\r",
}
HALF = {
    "text": b"hello",
    "after another was sent": b"hello\rwor",
    "only blanks": b" ",
    "not quite taken back": b"abc\x7f\x7f",
    "pasted": b"\x1b[200~one\rtwo\x1b[201~",
    "pasted, and the end is missing": b"\x1b[200~one\r",
    "pasted and taken back by too few keys": b"\x1b[200~one\x1b[201~\x7f\x7f\x7f",
    "from the history": b"\x1b[A",
    "from the history in the other form": b"\x1bOA",
    "searched": b"\x12",
    "completed": b"\t",
    "put back": b"\x19",
    "a new line": b"one\\\r",
    "a new line by escape": b"one\x1b\r",
    "a new line by shift": b"one\x1b[13;2u",
    "a new line by control-j": b"one\n",
    "one of two rows cleared": b"one\ntwo\x15",
    "moved and taken back": b"abc\x1b[D\x7f\x7f\x7f",
    "a completion that enter takes": b"see @READ\r",
    "a letter as newer terminals write it": b"\x1b[97u",
    "in the middle of a key": b"abc\x1b[",
}


@pytest.mark.law("S8")
@pytest.mark.parametrize("keys", EMPTY.values(), ids=EMPTY.keys())
def test_the_line_is_empty(keys: bytes) -> None:
    line = InputLine(shell=False)
    line.feed(keys)
    assert not line.half_written


@pytest.mark.law("S8")
@pytest.mark.parametrize("keys", HALF.values(), ids=HALF.keys())
def test_the_line_holds_unsent_text(keys: bytes) -> None:
    line = InputLine(shell=False)
    line.feed(keys)
    assert line.half_written


def test_a_shell_takes_a_line_feed_for_enter() -> None:
    line = InputLine(shell=True)
    line.feed(b"ls\n")
    assert not line.half_written


KEYS = st.lists(
    st.one_of(
        st.sampled_from([*EMPTY.values(), *HALF.values(), b"\r", b"\x7f", b"\x1b[200~", b"\x1b[201~"]),
        st.binary(max_size=8),
    ),
    max_size=12,
).map(b"".join)


@given(KEYS, st.lists(st.integers(1, 7), max_size=60))
def test_ctrl_c_empties_the_line_after_any_keys(keys: bytes, cuts: list[int]) -> None:
    line = InputLine(shell=False)
    for cut in [*cuts, len(keys)]:
        line.feed(keys[:cut])
        keys = keys[cut:]
    line.feed(b"\x1b[201~\x1b[201~\x03")
    line.feed(b"\x1b\\\x07" * 2 + b"\x03")
    assert not line.half_written


@given(st.text(st.characters(min_codepoint=0x20, exclude_characters="\x7f@\\", exclude_categories=["Cs"]), min_size=1))
def test_text_is_unsent_until_every_character_is_deleted(text: str) -> None:
    line = InputLine(shell=False)
    for byte in text.encode():
        line.feed(bytes([byte]))
    line.feed(b"\x7f" * (len(text) - 1))
    assert line.half_written
    line.feed(b"\x7f")
    assert not line.half_written


PLAIN = st.characters(min_codepoint=0x20, exclude_categories=["Cs", "Cc"], exclude_characters=TURNING)


@pytest.mark.law("S8")
@given(st.text(st.one_of(PLAIN, st.sampled_from("\n\t"))).filter(str.strip))
def test_a_prompt_is_typed_as_it_is(text: str) -> None:
    assert typed_prompt(text).decode().lstrip(" ") == text.strip("\n").lstrip(" ")


@pytest.mark.law("S8")
@given(st.text(), st.characters(categories=["Cc", "Cs"], exclude_characters="\n\r\t"), st.text())
def test_a_prompt_with_a_key_in_it_is_refused(before: str, key: str, after: str) -> None:
    with pytest.raises(ValueError, match="remove it"):
        typed_prompt(f"x{before}{key}{after}")


@pytest.mark.law("S8")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a\x1b[201~\rrm -rf /\r",
        "nul\0",
        "del\x7f",
        "c1\x9b201~",
        "half \ud800",
        "turned \u202e",
        "turned \u2066",
    ],
)
def test_text_that_would_act_as_keys_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"; (remove it|write something)$"):
        typed_prompt(text)


def test_a_shell_command_is_typed_as_text() -> None:
    assert typed_prompt("!rm -rf /") == b" !rm -rf /"
