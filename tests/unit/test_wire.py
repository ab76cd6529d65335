"""JSON from outside: what is refused, and what survives a round trip."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.event_data.tool_data import ToolPostData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.errors import BadInput
from quarterdeck.wire import (
    HEAVY,
    MAX_BYTES,
    MAX_DEPTH,
    compact_payload,
    full_payload,
    read_event,
    read_json,
    write_heavy,
    write_json,
)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@pytest.mark.law("I1")
@pytest.mark.law("I2")
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b'{"a":1}x', "not_json"),
        (b'{"a":NaN}', "not_json"),
        (b'{"a":Infinity}', "not_json"),
        (b'"\xff\xfe"', "not_json"),
        (b'{"\xed\xa0\x80":1}', "not_json"),
        (b'{"a":"\\ud800"}', "not_json"),
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'{"a" :1,"a":2}', "duplicate_key"),
        (b'{"a"\n:1,\t"a"\r:2}', "duplicate_key"),
        (b'{"b":{"a":1,"a":2}}', "duplicate_key"),
        (b'[{"x":[{"a":1,"\\u0061":2}]}]', "duplicate_key"),
        (b'{"a":99999999999999999999}', "huge_integer"),
        (b'{"a":' + b"9" * 5000 + b"}", "not_json"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "too_deep"),
        (b"[" * 100_000 + b"]" * 100_000, "not_json"),
        (b" " * (MAX_BYTES + 1), "too_large"),
    ],
    ids=lambda v: str(v)[:24],
)
def test_a_broken_limit_is_refused_by_its_name(body: bytes, kind: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_json(body)
    assert refused.value.kind == kind


@given(values)
def test_every_value_within_the_limits_survives(value: Any) -> None:
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(write_json(value)) == value


@given(values, st.sampled_from([(",", ":"), (" , ", " : "), (",\n", ":\n")]))
def test_blanks_and_colons_in_texts_raise_no_false_alarm(value: Any, separators: tuple[str, str]) -> None:
    body = json.dumps({"a": value, 'x":': '":"":'}, separators=separators).encode()
    assert read_json(body)["a"] == value


@pytest.mark.law("I4")
@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused_and_never_raise_otherwise(body: bytes) -> None:
    with contextlib.suppress(BadInput):
        write_json(read_json(body))


def event(kind: str, data: Any) -> FeedEvent:
    return FeedEvent(
        seq_no=1,
        event_id="s:R0:E1",
        seq=1,
        run_id="s:R0",
        session_id="s",
        runner_id="r",
        at=1.0,
        kind=kind,
        level="info",
        actor_id="system",
        data=data,
    )


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values))
def test_an_unknown_kind_survives_a_round_trip(data: dict[str, Any]) -> None:
    made = event("from.the.future", data)
    assert read_event(write_json(made)) == made


def test_data_of_another_shape_is_kept_as_it_is() -> None:
    assert read_event(write_json(event("tool.pre", {"tool_name": 7}))).data == {"tool_name": 7}


@given(st.dictionaries(st.sampled_from(("tool_name", "tool_input", "tool_response", "other")), values))
def test_a_stored_payload_is_complete_again_with_its_event(payload: dict[str, Any]) -> None:
    data = ToolPostData(
        tool_name=payload.get("tool_name", ""),
        tool_input=payload.get("tool_input", {}),
        tool_use_id=None,
        tool_response=payload.get("tool_response"),
    )
    assert full_payload(compact_payload(payload, data), data) == payload


def test_a_null_that_the_event_does_not_have_keeps_the_whole_payload() -> None:
    data = ToolPostData(tool_name="Bash", tool_input={}, tool_use_id=None, tool_response=None)
    assert compact_payload({"tool_name": "Bash", "tool_response": None, "x": 1}, data) == (
        '{"tool_name":null,"tool_response":null,"x":1}'
    )
    kept = compact_payload({"tool_name": None}, data)
    assert kept == b'{"tool_name":null}'
    assert full_payload(kept, data) == {"tool_name": None}


@given(values)
def test_a_heavy_value_is_written_as_any_other(value: Any) -> None:
    assert write_heavy(value) == write_json(value)


def test_a_long_text_is_written_in_pieces_that_join() -> None:
    value = {"content": 'é"\\\n😀\u2028' * (HEAVY // 2), "n": [1.5, None]}
    assert write_heavy(value) == write_json(value)
