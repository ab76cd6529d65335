"""The daemon's numbers as every surface sees them."""

from __future__ import annotations

import msgspec

from quarterdeck.views.resources.stats_view import HistogramView, LagView
from tests.support.views import is_read_back


def test_the_buckets_of_a_histogram_keep_their_bounds() -> None:
    view = msgspec.convert({"count": 2, "sum": 0.5, "buckets": [[0.1, 1], [1.0, 2]]}, HistogramView)
    assert view.buckets == [(0.1, 1), (1.0, 2)]
    assert is_read_back(view)


def test_a_percentile_is_unknown_before_the_first_sample() -> None:
    view = LagView(count=0, sum=0.0, buckets=[], window_seconds=60.0, samples=0, p50=None, p99=None, max=None)
    assert is_read_back(view)
