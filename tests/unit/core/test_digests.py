"""One spelling per value: a digest taken in pieces is the digest of the whole."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model import payload

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
)


def spelled_at_once(value: Any) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).digest()


@given(values)
def test_a_digest_is_that_of_the_canonical_text(value: Any) -> None:
    assert payload.sha256_of(value) == spelled_at_once(value)


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
    assert payload.sha256_of(value) == spelled_at_once(value)
