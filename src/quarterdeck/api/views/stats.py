"""The shape of `GET /stats`."""

from __future__ import annotations

from msgspec import Struct


class HistogramView(Struct, kw_only=True):
    """`buckets` are pairs of an upper end and how many values do not exceed it."""

    count: int
    sum: float
    buckets: list[tuple[float, int]]


class LagView(HistogramView, kw_only=True):
    """The percentiles are of the last `window_seconds`, the histogram is since the start."""

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
    """One way to tell a person. `skipped` were answered before they were sent, `dropped` found its queue full;
    `trouble` is why the last one was not sent, if so."""

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
    """How the daemon does."""

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
