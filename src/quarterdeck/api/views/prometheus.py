"""The stats in Prometheus' text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MEDIA_TYPE = "text/plain; version=0.0.4"

Stats = Mapping[str, Any]
Samples = Iterable[tuple[Mapping[str, str], float | int | None]]


def exposition(stats: Stats) -> str:
    """Every metric with its help and type; unknown values are left out."""
    lines: list[str] = []
    for name, kind, help_text, samples in _families(stats):
        lines += _family(f"quarterdeck_{name}", kind, help_text, samples)
    for name, help_text, histogram in _histograms(stats):
        lines += _histogram(f"quarterdeck_{name}", help_text, histogram)
    return "\n".join(lines) + "\n"


def _families(stats: Stats) -> list[tuple[str, str, str, Samples]]:
    inputs, requests, store, process = stats["inputs"], stats["requests"], stats["store"], stats["process"]
    sessions = stats["hook_overhead"]
    return [
        ("build_info", "gauge", "Version of the running daemon.", [({"version": stats["version"]}, 1)]),
        ("started_at_seconds", "gauge", "Start of the daemon, in Unix time.", _of(stats["started_at"])),
        ("uptime_seconds", "gauge", "Time since the daemon started.", _of(stats["uptime_seconds"])),
        ("clock_step_seconds", "gauge", "How far the clock was changed since then.", _of(stats["clock_step_seconds"])),
        ("events_total", "counter", "Recorded events.", _by("kind", stats["events"]["by_kind"])),
        ("inputs_refused_total", "counter", "Payloads and envelopes refused.", _by("kind", inputs["refused"])),
        ("inputs_not_recorded_total", "counter", "Inputs that could not be recorded.", _of(inputs["not_recorded"])),
        ("queue_length", "gauge", "Inputs waiting to be processed.", _of(inputs["queued"])),
        ("queue_peak", "gauge", "Longest queue of the last minutes.", _of(inputs["queued_peak"])),
        ("requests_pending", "gauge", "Requests waiting for a decision.", _of(requests["pending"])),
        ("requests_held", "gauge", "Requests with an agent waiting on a connection.", _of(requests["held"])),
        ("oldest_held_seconds", "gauge", "Age of the oldest of them.", _of(requests["oldest_held_seconds"])),
        ("sessions", "gauge", "Live sessions.", _of(stats["sessions"])),
        ("surfaces", "gauge", "Surfaces connected.", _of(stats["surfaces"])),
        ("session_hook_calls_total", "counter", "Hook calls answered.", _of_sessions(sessions, "calls")),
        ("session_hook_seconds_total", "counter", "Time spent answering them.", _of_sessions(sessions, "seconds")),
        ("log_seq_no", "gauge", "Number of the last event.", _of(store["seq_no"])),
        ("log_unindexed", "gauge", "Events not indexed yet.", _of(store["unindexed"])),
        ("log_damaged", "gauge", "1 if the log is damaged and read-only.", _of(int(store["damaged"] is not None))),
        ("database_bytes", "gauge", "Size of events.db.", _of(store["database_bytes"])),
        ("database_wal_bytes", "gauge", "Size of its write-ahead log.", _of(store["wal_bytes"])),
        ("disk_free_bytes", "gauge", "Free space on its disk.", _of(store["free_bytes"])),
        ("subscriber_failures_total", "counter", "Failures of event subscribers.", _of(stats["subscriber_failures"])),
        ("notifications_total", "counter", "Notifications by channel and result.", _of_channels(stats["notify"])),
        ("notify_failing", "gauge", "1 if the last notification of a channel failed.", _failing(stats["notify"])),
        ("resident_memory_bytes", "gauge", "Resident memory of the daemon.", _of(process["rss_bytes"])),
        ("open_fds", "gauge", "Open files and connections.", _of(process["open_fds"])),
        ("max_fds", "gauge", "Limit of open files and connections.", _of(process["max_fds"])),
    ]


def _histograms(stats: Stats) -> list[tuple[str, str, Stats]]:
    return [
        ("batch_size", "Inputs per transaction.", stats["inputs"]["batch_size"]),
        ("append_seconds", "Time to write a batch to disk.", stats["append_seconds"]),
        ("hook_seconds", "Time to answer a hook that needs no decision.", stats["hook_seconds"]),
        ("loop_lag_seconds", "Delay of the event loop.", stats["loop_lag_seconds"]),
    ]


def _of(value: float | int | None) -> Samples:
    return [({}, value)]


def _by(label: str, counts: Mapping[str, int]) -> Samples:
    return [({label: name}, count) for name, count in sorted(counts.items())]


def _of_sessions(sessions: Iterable[Stats], key: str) -> Samples:
    return [({"session_id": s["session_id"]}, s[key]) for s in sessions]


def _of_channels(channels: Mapping[str, Stats]) -> Samples:
    results = ("sent", "failed", "skipped", "dropped")
    return [({"channel": name, "result": r}, one[r]) for name, one in sorted(channels.items()) for r in results]


def _failing(channels: Mapping[str, Stats]) -> Samples:
    return [({"channel": name}, int(one["trouble"] is not None)) for name, one in sorted(channels.items())]


def _family(name: str, kind: str, help_text: str, samples: Samples) -> list[str]:
    known = [f"{name}{_labels(labels)} {value!r}" for labels, value in samples if value is not None]
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *known] if known else []


def _histogram(name: str, help_text: str, histogram: Stats) -> list[str]:
    buckets = [*histogram["buckets"], ["+Inf", histogram["count"]]]
    return [
        f"# HELP {name} {help_text}",
        f"# TYPE {name} histogram",
        *(f"{name}_bucket{_labels({'le': str(bound)})} {count}" for bound, count in buckets),
        f"{name}_sum {histogram['sum']!r}",
        f"{name}_count {histogram['count']}",
    ]


def _labels(labels: Mapping[str, str]) -> str:
    """The labels, quoted as the format requires."""
    shown = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{shown}}}" if shown else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
