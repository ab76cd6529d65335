"""Readers of payloads, and digests: one taken in pieces is that of the whole value."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model import payload
from quarterdeck.core.model.event_data.admin_data import RuleAddData
from quarterdeck.core.model.event_data.notice_data import ModelSwitchData, WorktreeData
from quarterdeck.core.model.rule import Rule

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
)


def encoded_at_once(value: Any) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).digest()


@given(values)
def test_a_digest_is_that_of_the_canonical_text(value: Any) -> None:
    assert payload.sha256_of(value) == encoded_at_once(value)


@pytest.mark.parametrize(
    "value",
    [
        "é\n😀" * payload.PIECE,
        {"b": "x" * (2 * payload.PIECE), "a": ["\\" * payload.PIECE, 1, None], "": {}},
        [{"n": n, "text": "☃" * 30} for n in range(30_000)],
        {str(n): [n] for n in range(90_000)},
        [[], {}, ["x" * (payload.PIECE + 1)], *range(2_500)],
    ],
    ids=["one text", "several texts", "a long list", "many keys", "empty ones beside a long one"],
)
def test_a_digest_taken_in_pieces_is_the_same(value: Any) -> None:
    assert payload.sha256_of(value) == encoded_at_once(value)


def test_fields_are_read_by_their_types_and_what_is_wrong_becomes_empty() -> None:
    found = {"from_model": "a", "to_model": 7, "source": [], "context_tokens": 12.9, "more": 1}
    read = payload.read_fields(ModelSwitchData, found)
    assert read == ModelSwitchData(from_model="a", to_model="", context_tokens=12)


def test_a_field_that_is_given_is_not_read() -> None:
    found = {"name": "w", "by": "an agent", "base": "main"}
    assert payload.read_fields(WorktreeData, found, by=None, base=None) == WorktreeData(name="w")


@pytest.mark.parametrize("value", [None, "5", True, float("inf"), -float("inf"), 1e300])
def test_a_number_without_a_whole_part_is_none(value: object) -> None:
    assert payload.whole({"n": value}, "n") is None


def test_shared_fields_make_one_struct_of_another() -> None:
    rule = Rule(rule_id="r", effect="deny", pattern="Bash", scope="user", created_at=1.0, created_by="ann", note="why")
    made = RuleAddData(by="ann", **payload.shared_fields(rule, RuleAddData))
    assert Rule(created_at=1.0, created_by=made.by, **payload.shared_fields(made, Rule)) == rule
