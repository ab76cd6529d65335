"""What the daemon's own figures tell a person: what is wrong, and what to do next. Pure: figures in, checks out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

MANY_CALLS = 20
SLOW_HOOK_SECONDS = 0.1
LAG_SECONDS = 0.05
SLOW_DISK_SECONDS = 0.05
LONG_QUEUE = 5_000
FAR_BEHIND = 50_000
FULL_BYTES, NEARLY_FULL_BYTES = 100_000_000, 1_000_000_000
MUCH_MEMORY = 2_000_000_000
STEP_SECONDS = 60.0
LONG_WAIT_SECONDS = 3600.0

REFUSED = {
    "not_json": "a sender writes something that is not JSON: see what else posts to the socket or to /hook",
    "duplicate_key": "a sender names a key twice in one object, which two readers would read differently: mend it",
    "too_large": "a payload is over 32 MiB: the tool call it tells of is missing from the record",
    "too_deep": "a payload is nested over 64 levels: the tool call it tells of is missing from the record",
    "too_many_keys": "a payload has over 50,000 keys: the tool call it tells of is missing from the record",
    "too_many_items": "a payload has over a million items: the tool call it tells of is missing from the record",
    "huge_integer": "a payload has an integer beyond 64 bits: send it as text",
    "not_an_envelope": "a client of the socket sends no object with request_id and payload: see docs/api.md",
    "bad_request_id": "a client of the socket needs ids of 1 to 128 characters of A-Z a-z 0-9 _ . : -",
    "unknown_call": "the enforce gate heard what it cannot read and blocked it: update Quarterdeck",
    "malformed": "the forwarder and the daemon do not fit: qd install, then restart Claude Code",
}
"""What each kind of refusal means for the person who reads of it."""


class Check(Struct, frozen=True):
    """One finding. A fix may also be advice where nothing is wrong."""

    name: str
    ok: bool
    says: str
    fix: str = ""


def findings(stats: Mapping[str, Any], version: str) -> list[Check]:
    """What a look at the figures shows; empty when all is well."""
    found: list[Check] = []
    for look in (_version, _speed, _store, _inputs, _sessions, _notify, _process, _clock):
        found += look(stats, version)
    return found


def _version(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    if stats["version"] != version:
        says = f"the daemon is {stats['version']}, this command is {version}"
        yield Check("version", False, says, "qd stop, then qd up")


def _speed(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    slow_disk = (quantile(stats["append_seconds"], 0.99) or 0) > SLOW_DISK_SECONDS
    disk = "put QUARTERDECK_HOME on a faster disk, or set store.durability: normal"
    if slow_disk:
        says = f"1 of 100 writes takes over {_ms(SLOW_DISK_SECONDS)}"
        yield Check("disk", True, says, disk)
    lag = stats["loop_lag_seconds"]["p99"]
    if lag is not None and lag > LAG_SECONDS:
        says = f"it is late by {_ms(lag)} (p99 of the last minute; at most {_ms(LAG_SECONDS)} is well)"
        yield Check("loop", False, says, disk if slow_disk else "see what else keeps this machine busy, then qd doctor")
    peak = stats["inputs"]["queued_peak"]
    if peak > LONG_QUEUE:
        says = f"up to {peak:,} inputs waited at once"
        yield Check("queue", False, says, disk if slow_disk else "stop what floods it; qd feed -f shows who speaks")


def _store(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    store = stats["store"]
    free = store["free_bytes"]
    if free is not None and free < NEARLY_FULL_BYTES:
        full = free < FULL_BYTES
        says = f"{size(free)} are free where the log lies; it has {size(store['database_bytes'])}"
        yield Check("space", not full, says, "free some space: a full disk means that nothing is held or recorded")
    if store["trouble"] is not None:
        fix = "mend that; until then agents go on without us, the gate blocks, and no decision is taken"
        yield Check("recording", False, f"nothing can be recorded: {store['trouble']}", fix)
    if store["damaged"] is not None:
        fix = "restore events.db from a backup, or move it away to begin a new log"
        yield Check("log", False, f"it is damaged and read-only: {store['damaged']}", fix)
    if store["unindexed"] > FAR_BEHIND:
        says = f"the index is {store['unindexed']:,} events behind"
        yield Check("index", True, says, "leave the daemon a quiet moment; until then reading one session is slow")


def _inputs(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    for kind, count in sorted(stats["inputs"]["refused"].items()):
        fix = REFUSED.get(kind, "see log/daemon.log")
        yield Check("refused", True, f"{count:,} since the start: {kind}", fix)
    lost = stats["inputs"]["not_recorded"]
    if lost:
        says = f"{lost:,} inputs since the start were not recorded, and their agents went on without us"
        yield Check("recording", False, says, "see “not recorded” in log/daemon.log; mend it, then qd stop and qd up")
    if stats["subscriber_failures"]:
        says = f"{stats['subscriber_failures']:,} times something that follows the feed failed"
        yield Check("subscribers", False, says, "see “a subscriber failed” in log/daemon.log and report it")


def _sessions(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    for one in stats["hook_overhead"]:
        if one["calls"] >= MANY_CALLS and one["mean_seconds"] > SLOW_HOOK_SECONDS:
            says = f"session {one['session_id']} waits {_ms(one['mean_seconds'])} per hook call"
            yield Check("overhead", False, says, "see what keeps this machine busy; qd uninstall takes the hooks away")
    waits = stats["requests"]["oldest_held_seconds"]
    if waits is not None and waits > LONG_WAIT_SECONDS:
        yield Check("requests", True, f"an agent waits for you since {waits / 3600:.1f} h", "qd requests")


def _notify(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    for name, one in sorted(stats["notify"].items()):
        if one["trouble"] is not None:
            says = f"{name} tells nobody: {one['trouble']} ({one['failed']:,} failed since the start)"
            yield Check("notify", False, says, "mend it, then qd notify test")
        if one["dropped"]:
            says = f"{name}: {one['dropped']:,} notifications found its queue full"
            yield Check("notify", True, says, "whatever takes them is too slow: qd notify test")


def _process(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    process = stats["process"]
    fds, most = process["open_fds"], process["max_fds"]
    if fds is not None and most is not None and fds > 0.8 * most:
        fix = "start it where `ulimit -n` is higher: a connection that cannot be opened is an agent that is not heard"
        yield Check("files", False, f"{fds:,} of {most:,} open files are used", fix)
    if process["rss_bytes"] > MUCH_MEMORY:
        yield Check("memory", True, f"it uses {size(process['rss_bytes'])}", "qd stop, then qd up; report it")


def _clock(stats: Mapping[str, Any], version: str) -> Iterator[Check]:
    step = stats["clock_step_seconds"]
    if abs(step) > STEP_SECONDS:
        says = f"the clock was set {'forward' if step > 0 else 'back'} by {abs(step):,.0f} s since the start"
        yield Check("clock", True, says, "times before and after do not compare; the order of events is not affected")


def summary(stats: Mapping[str, Any]) -> list[str]:
    """How the daemon does, in two lines."""
    store, lag, answer = stats["store"], stats["loop_lag_seconds"]["p99"], quantile(stats["hook_seconds"], 0.99)
    recorded, uptime = stats["events"]["recorded"], _long(stats["uptime_seconds"])
    refused = sum(stats["inputs"]["refused"].values())
    free = f", {size(store['free_bytes'])} free" if store["free_bytes"] is not None else ""
    surfaces = f"{stats['surfaces']} surface{'s' if stats['surfaces'] != 1 else ''}"
    return [
        f"up {uptime} · {recorded:,} events since, {store['seq_no']:,} in all"
        f" · log {size(store['database_bytes'] + store['wal_bytes'])}{free}",
        f"hook answers within {_quick(answer)} · loop late by {_quick(lag)} (p99 each)"
        f" · {stats['requests']['held']} held · {surfaces} · {refused} refused",
    ]


def _quick(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1000:.1f} ms"


def _long(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def quantile(histogram: Mapping[str, Any], part: float) -> float | None:
    """The upper end of the bucket in which this part of all values is reached; None when there are none, infinity when
    it is beyond the last bucket."""
    if not histogram["count"]:
        return None
    wanted = histogram["count"] * part
    return next((float(bound) for bound, count in histogram["buckets"] if count >= wanted), float("inf"))


def size(count: float) -> str:
    """Bytes for a person."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit in ("bytes", "kB") else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
