"""The table of metrics."""

from __future__ import annotations

import pytest

from quarterdeck.views.counts.metrics import METRICS, wait_group


@pytest.mark.parametrize(
    ("seconds", "group"),
    [(0, "up to 10 s"), (10, "up to 10 s"), (10.1, "up to 1 min"), (3600, "up to 1 h"), (3601, "over 1 h")],
)
def test_a_wait_is_in_the_first_group_that_holds_it(seconds: float, group: str) -> None:
    assert wait_group(seconds) == group


def test_no_metric_names_a_group_twice() -> None:
    assert all(len(set(metric.groups)) == len(metric.groups) for metric in METRICS.values())
