"""Counts over time as a resource."""

from __future__ import annotations

from quarterdeck.views.counts.series import SeriesAnswer, SeriesQuery, series_of
from quarterdeck.views.counts.series_view import series_view


def test_it_says_what_was_counted_and_how() -> None:
    query = SeriesQuery(metric="cost_usd", group="model", since=0.0, until=9.0)
    made = series_of("cost_usd", [("opus", 0, 1_500_000_000)], 1, {})
    view = series_view(query, SeriesAnswer(times=[0.0], until=9.0, series=made, counted_upto=7, first=2))
    assert (view.title, view.unit, view.group, view.by) == ("Cost", "usd", "model", "day")
    assert (view.first_seq_no, view.seq_no) == (2, 7)
    assert [(one.name, one.label, one.total, one.values, one.is_rest) for one in view.series] == [
        ("opus", "opus", 1.5, [1.5], False)
    ]
