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


class HubLinkView(Struct, kw_only=True):
    """The link to the hub of this machine. `state` is disconnected, connecting, registering, backfilling or ready;
    `behind` counts the events that the hub has not acknowledged, and `backlog_used` is the part of their room that they
    take. `trouble` says why the link is not ready. `may` is what the hub may do here, `share` what leaves, `people` who
    looks there now, `rules_refused` counts rules of the hub that this machine does not take."""

    url: str | None
    state: str
    since: float
    epoch: int
    acknowledged: int
    behind: int
    backlog_bytes: int
    backlog_used: float
    backlog_warning: bool
    trouble: str | None
    trouble_kind: str | None
    may: list[str]
    share: str
    shared_folders: dict[str, str]
    people: int
    rules_refused: int


class StatsView(Struct, kw_only=True):
    """Numbers about the daemon. `hub` is null for a machine that has joined none."""

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
    hub: HubLinkView | None
    store: StoreView
    process: ProcessView
