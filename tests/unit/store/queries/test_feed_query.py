"""The filters of a query as conditions, and the sessions they leave."""

from __future__ import annotations

import pytest

from quarterdeck.store.queries.feed_query import FeedQuery, conditions, order


def test_each_filter_is_one_condition_with_its_values() -> None:
    query = FeedQuery(after=3, tool="Bash", levels=("warn", "error"), run_id="s:R1")
    where, values = conditions(query, "seq_no")
    assert len(where) == 4
    assert values == [3, "s:R1", "Bash", "warn", "error"]


@pytest.mark.parametrize(
    ("session", "sessions", "left"),
    [(None, None, None), ("a", None, ("a",)), ("a", ("a", "b"), ("a",)), ("a", ("b",), ()), (None, ("b",), ("b",))],
)
def test_a_session_must_be_one_of_the_project(
    session: str | None, sessions: tuple[str, ...] | None, left: tuple[str, ...] | None
) -> None:
    assert FeedQuery(session_id=session, sessions=sessions).session_ids == left


def test_a_page_is_read_backwards_only_without_a_start() -> None:
    assert order(FeedQuery(before=9)) == "DESC"
    assert order(FeedQuery(before=9, after=1)) == order(FeedQuery()) == "ASC"
