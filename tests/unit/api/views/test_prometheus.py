"""The stats in Prometheus' text format."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.api.views.prometheus import exposition
from tests.support.metrics import samples

HISTOGRAM: dict[str, Any] = {"count": 2, "sum": 0.5, "buckets": [[0.1, 1], [1.0, 2]]}


def stats_with(kind: str, value: float) -> dict[str, Any]:
    inputs = {"refused": {kind: 3}, "not_recorded": 0, "queued": 0, "queued_peak": 0, "batch_size": HISTOGRAM}
    store = {"seq_no": 1, "unindexed": 0, "database_bytes": 1, "wal_bytes": 0, "free_bytes": None, "damaged": None}
    return {
        "version": kind,
        "started_at": value,
        "uptime_seconds": value,
        "clock_step_seconds": -value,
        "events": {"by_kind": {kind: 7}},
        "inputs": inputs,
        "append_seconds": HISTOGRAM,
        "hook_seconds": HISTOGRAM,
        "loop_lag_seconds": HISTOGRAM,
        "hook_overhead": [{"session_id": kind, "calls": 1, "seconds": value}],
        "requests": {"pending": 0, "held": 0, "oldest_held_seconds": None},
        "sessions": 0,
        "surfaces": 0,
        "subscriber_failures": 0,
        "notify": {"push": {"sent": 3, "failed": 2, "skipped": 1, "dropped": 0, "trouble": "it is away"}},
        "store": store,
        "process": {"rss_bytes": 1, "open_fds": None, "max_fds": None},
    }


LABEL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


@given(LABEL, st.floats(min_value=0, max_value=1e12))
def test_any_label_value_is_read_back_by_the_parser(kind: str, value: float) -> None:
    found = samples(exposition(stats_with(kind, value)))
    assert found["quarterdeck_events_total", (("kind", kind),)] == 7
    assert found["quarterdeck_notifications_total", (("channel", "push"), ("result", "failed"))] == 2
    assert found["quarterdeck_notify_failing", (("channel", "push"),)] == 1
    assert found["quarterdeck_session_hook_seconds_total", (("session_id", kind),)] == value
    assert found["quarterdeck_clock_step_seconds", ()] == -value
    assert ("quarterdeck_disk_free_bytes", ()) not in found
