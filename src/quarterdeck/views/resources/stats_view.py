"""The numbers about the daemon: the shape of `GET /stats`."""

from __future__ import annotations

from msgspec import Struct


class HistogramView(Struct, kw_only=True):
    """A histogram. `buckets` are pairs of an upper bound and the number of values up to it."""

    count: int
    sum: float
    buckets: list[tuple[float, int]]


class LagView(HistogramView, kw_only=True):
    """Event loop lag. The percentiles cover the last `window_seconds`, the histogram everything since the start."""

    window_seconds: float
    samples: int
    p50: float | None
    p99: float | None
    max: float | None


class EventsView(Struct, kw_only=True):
    recorded: int
    by_kind: dict[str, int]


class InputsView(Struct, kw_only=True):
    refused: dict[str, int]
    not_recorded: int
    queued: int
    queued_peak: int
    batch_size: HistogramView


class OverheadView(Struct, kw_only=True):
    session_id: str
    calls: int
    seconds: float
    mean_seconds: float


class RequestsView(Struct, kw_only=True):
    pending: int
    held: int
    oldest_held_seconds: float | None


class StoreView(Struct, kw_only=True):
    seq_no: int
    unindexed: int
    database_bytes: int
    wal_bytes: int
    free_bytes: int | None
    damaged: str | None
    trouble: str | None


class ChannelView(Struct, kw_only=True):
    """One notification channel. `skipped` counts requests that were answered before their notification was sent,
    `dropped` those that found the queue full; `trouble` is the reason if the last one could not be sent."""

    sent: int
    failed: int
    skipped: int
    dropped: int
    queued: int
    trouble: str | None
    last_sent_at: float | None


class ProcessView(Struct, kw_only=True):
    pid: int
    rss_bytes: int
    open_fds: int | None
    max_fds: int | None


class StatsView(Struct, kw_only=True):
    """Numbers about the daemon."""

    version: str
    runner_id: str
    at: float
    started_at: float
    uptime_seconds: float
    clock_step_seconds: float
    events: EventsView
    inputs: InputsView
    append_seconds: HistogramView
    hook_seconds: HistogramView
    hook_overhead: list[OverheadView]
    loop_lag_seconds: LagView
    requests: RequestsView
    sessions: int
    surfaces: int
    subscriber_failures: int
    notify: dict[str, ChannelView]
    store: StoreView
    process: ProcessView
