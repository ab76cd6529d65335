"""The text that an agent is writing, for a client that comes in the middle of it."""

from __future__ import annotations

from typing import Any

from quarterdeck.api.live.text_so_far import KEPT_CHARACTERS, MOST_PIECES, MOST_SESSIONS, TextSoFar
from quarterdeck.core.model.events import FeedEvent


def delta(text: str, **more: Any) -> dict[str, Any]:
    return {"event": "content_block_delta", "index": 0, "delta": "text_delta", "text": text, **more}


def streamed(*pieces: dict[str, Any], kind: str = "text") -> TextSoFar:
    so_far = TextSoFar()
    for piece in pieces:
        so_far.add("s1", kind, piece)
    return so_far


START, STOP = {"event": "message_start", "model": "m"}, {"event": "message_stop"}
BLOCK = {"event": "content_block_start", "index": 0, "block": "text"}


def test_the_pieces_of_one_block_are_one_piece() -> None:
    so_far = streamed(START, BLOCK, delta("Hel"), delta("lo"))
    assert so_far.of("s1") == [("text", START), ("text", BLOCK), ("text", delta("Hello"))]
    assert so_far.of("s2") == []


def test_text_and_thinking_stay_apart() -> None:
    thinking = {"event": "content_block_delta", "index": 0, "delta": "thinking_delta", "thinking": "hm"}
    assert len(streamed(START, thinking, thinking, delta("x"), delta("y", index=1)).of("s1")) == 5


def test_a_new_message_and_the_end_of_one_leave_nothing_of_it() -> None:
    assert streamed(START, delta("old"), START).of("s1") == [("text", START)]
    assert streamed(START, delta("old"), STOP).of("s1") == []


def test_the_text_of_a_sub_agent_is_left_out() -> None:
    assert streamed(delta("x", parent_tool_use_id="t1")).of("s1") == []


def test_an_observed_message_is_joined_until_it_is_whole() -> None:
    first, second = ({"message_id": "m1", "index": n, "delta": text} for n, text in enumerate(("a", "b")))
    assert streamed(first, second, kind="message").of("s1") == [("message", {**second, "delta": "ab"})]
    assert streamed(first, {**second, "final": True}, kind="message").of("s1") == []
    other = {"message_id": "m2", "index": 0, "delta": "c"}
    assert streamed(first, other, kind="message").of("s1") == [("message", other)]


def test_a_whole_message_replaces_what_was_written() -> None:
    so_far = streamed(START, delta("x"))
    so_far.add("s1", "message", {"role": "assistant", "content": []})
    assert so_far.of("s1") == []


def test_other_streams_and_odd_pieces_are_nothing_to_keep() -> None:
    so_far = streamed({}, kind="terminal.size")
    so_far.add("s1", "text", "odd")
    assert so_far.of("s1") == []


def test_an_event_that_holds_the_text_replaces_it() -> None:
    so_far = streamed(START, delta("x"))
    place: dict[str, Any] = {"session_id": "s1", "run_id": "s1:R1", "event_id": "s1:R1:E1", "seq": 1, "seq_no": 1}
    more: dict[str, Any] = {"runner_id": "r", "at": 1.0, "level": "info", "actor_id": "agent", "data": {}}
    so_far.drop_recorded([FeedEvent(kind="tool.pre", **place, **more)])
    assert so_far.of("s1")
    so_far.drop_recorded([FeedEvent(kind="message.assistant", **place, **more)])
    assert so_far.of("s1") == []


def test_what_is_kept_is_bounded() -> None:
    so_far = TextSoFar()
    for n in range(2 * MOST_SESSIONS):
        so_far.add(f"s{n}", "text", delta("x" * KEPT_CHARACTERS))
        so_far.add(f"s{n}", "text", delta("end"))
    assert so_far.of("s0") == []
    (piece,) = so_far.of(f"s{2 * MOST_SESSIONS - 1}")
    assert len(piece[1]["text"]) == KEPT_CHARACTERS
    assert piece[1]["text"].endswith("end")


def test_pieces_that_never_join_are_bounded() -> None:
    so_far = TextSoFar()
    for n in range(3 * MOST_PIECES):
        so_far.add("s1", "text", delta("x" * 100, index=n % 2))
        so_far.add("s1", "text", {"event": "content_block_delta", "index": 0, "delta": "input_json_delta", "n": n})
    pieces = so_far.of("s1")
    assert len(pieces) == MOST_PIECES
    assert pieces[-1][1]["n"] == 3 * MOST_PIECES - 1


def test_one_huge_piece_is_cut() -> None:
    ((_, piece),) = streamed(delta("x" * KEPT_CHARACTERS + "end")).of("s1")
    assert len(piece["text"]) == KEPT_CHARACTERS
    assert piece["text"].endswith("end")
