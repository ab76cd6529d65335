"""What the daemon can say about itself: what is wrong, and how to fix it. Pure: facts in, checks out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.durations import age_words
from quarterdeck.views.versions import UPGRADE_COMMAND, version_fix

MANY_CALLS = 20
SLOW_HOOK_SECONDS = 0.1
LAG_SECONDS = 0.05
START_SECONDS = 10.0
"""A daemon that has just started is late by its own start, which says nothing about the machine."""
SLOW_DISK_SECONDS = 0.05
LONG_QUEUE = 5_000
FAR_BEHIND = 50_000
FULL_BYTES, NEARLY_FULL_BYTES = 100_000_000, 1_000_000_000
MUCH_MEMORY = 2_000_000_000
STEP_SECONDS = 60.0
LONG_WAIT_SECONDS = 3600.0

REFUSED = {
    "not_json": "a client sends something that is not JSON: check what else posts to the socket or to /hook",
    "duplicate_key": "a client repeats a key in an object, which is ambiguous: fix that client",
    "too_large": "a payload is over 32 MiB: its tool call is missing from the record",
    "too_deep": "a payload is nested over 64 levels: its tool call is missing from the record",
    "too_many_keys": "a payload has over 50,000 keys: its tool call is missing from the record",
    "too_many_items": "a payload has over a million items: its tool call is missing from the record",
    "huge_integer": "a payload has an integer beyond 64 bits: send it as text",
    "not_an_envelope": "a client of the socket must send an object with request_id and payload: see docs/api.md",
    "bad_request_id": "a client of the socket must use ids of 1 to 128 characters of A-Z a-z 0-9 _ . : -",
    "unknown_call": "the enforce gate got a call that it cannot read, and blocked it: update Quarterdeck",
    "after_uninstall": "sessions that began before qd uninstall still call: run /reload-plugins in them, or end them",
    "malformed": "the forwarder and the daemon have different versions: qd install, then restart Claude Code",
}
"""The advice for each kind of refused input."""


HUB_FIXES = {
    "conflict": "another machine uses this identity or the log was replaced: qd hub expel at the hub, then enrol again",
    "unauthorized": "ask for a new token at the hub: qd hub enroll; then here: qd hub join",
    "expelled": "ask for a new token at the hub: qd hub enroll; then here: qd hub join",
    "certificate": "use a certificate that this machine trusts, or set SSL_CERT_FILE for the daemon",
    "config": "correct it, or leave the hub: qd hub leave",
}
"""The advice for each kind of trouble with the link to a hub."""


class HealthCheck(Struct, frozen=True):
    """One finding. `fix` may also be advice when nothing is wrong."""

    name: str
    ok: bool
    says: str
    fix: str = ""

    @property
    def level(self) -> str:
        """`good`, `advice` or `problem`."""
        return "problem" if not self.ok else "advice" if self.fix else "good"


MARKS = {"good": "✓", "advice": "i", "problem": "✗"}
"""The mark of each level of a finding."""


UNWELL = {
    "read_only": "its log is damaged and read-only",
    "nearly_full": "its disk is nearly full",
    "not_recording": "its log cannot be written",
}
"""The daemon's states other than `ok`, in words."""


class DaemonFacts(Struct, frozen=True, kw_only=True):
    """What a daemon knows about itself: its state as in `/healthz`, its address if it has only one, its numbers,
    and how it notices changes in projects."""

    status: str
    url: str = ""
    stats: Mapping[str, Any]
    watch: str = "off"
    scan_notes: Sequence[str] = ()


def daemon_checks(facts: DaemonFacts, version: str) -> list[HealthCheck]:
    """Everything that a daemon can say about itself, good or not, in the order in which problems must be fixed."""
    return [_running(facts), *findings(facts.stats, version), *_projects(facts)]


def _running(facts: DaemonFacts) -> HealthCheck:
    at = f" at {facts.url}" if facts.url else ""
    if facts.status == "ok":
        return HealthCheck("daemon", True, f"running{at}")
    unwell = UNWELL.get(facts.status, facts.status)
    return HealthCheck("daemon", False, f"it is running{at}, but {unwell}", "see below")


def _projects(facts: DaemonFacts) -> Iterator[HealthCheck]:
    """How changes in projects are noticed; nothing before the first scan."""
    if facts.watch == "live":
        yield HealthCheck("projects", True, "changes are noticed as they happen")
    yield from (HealthCheck("projects", True, note) for note in facts.scan_notes)


def findings(stats: Mapping[str, Any], version: str, newer_daemon: str = UPGRADE_COMMAND) -> list[HealthCheck]:
    """Every finding in the stats; empty when all is well. `newer_daemon` is the fix for a daemon that is newer than
    this client's version."""
    checks = version_findings(stats["version"], version, newer_daemon)
    for check in (_speed, _store, _inputs, _sessions, _notify, _hub, _process, _clock):
        checks += check(stats)
    return checks


def version_findings(daemon: str, own: str, newer_daemon: str = UPGRADE_COMMAND) -> list[HealthCheck]:
    """The finding about a daemon of another version."""
    fix = version_fix(daemon, own, newer_daemon)
    return [HealthCheck("version", False, f"the daemon is {daemon}, this is {own}", fix)] if fix else []


def _speed(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    slow_disk = (quantile(stats["append_seconds"], 0.99) or 0) > SLOW_DISK_SECONDS
    disk = "put QUARTERDECK_HOME on a faster disk, or set store.durability: normal"
    if slow_disk:
        says = f"1 of 100 writes takes over {_ms(SLOW_DISK_SECONDS)}"
        yield HealthCheck("disk", True, says, disk)
    lag = stats["loop_lag_seconds"]["p99"]
    if lag is not None and lag > LAG_SECONDS and stats["uptime_seconds"] > START_SECONDS:
        says = f"it is {_ms(lag)} late (p99 of the last minute; should be under {_ms(LAG_SECONDS)})"
        yield HealthCheck(
            "loop", False, says, disk if slow_disk else "check what else keeps this machine busy, then: qd doctor"
        )
    peak = stats["inputs"]["queued_peak"]
    if peak > LONG_QUEUE:
        says = f"up to {peak:,} inputs were waiting at once"
        yield HealthCheck(
            "queue", False, says, disk if slow_disk else "stop the session that floods it; find it with: qd feed -f"
        )


def _store(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    store = stats["store"]
    free = store["free_bytes"]
    if free is not None and free < NEARLY_FULL_BYTES:
        full = free < FULL_BYTES
        says = f"the log's disk has {size(free)} free; the log takes {size(store['database_bytes'])}"
        yield HealthCheck("space", not full, says, "free some space: on a full disk nothing is held or recorded")
    if store["trouble"] is not None:
        fix = "fix that; until then agents run without Quarterdeck, the enforce gate blocks, and decisions are refused"
        yield HealthCheck("recording", False, f"nothing can be recorded: {store['trouble']}", fix)
    if store["damaged"] is not None:
        fix = "restore events.db from a backup, or move it away to start a new log"
        yield HealthCheck("log", False, f"it is damaged and read-only: {store['damaged']}", fix)
    if store["unindexed"] > FAR_BEHIND:
        says = f"the index is {store['unindexed']:,} events behind"
        yield HealthCheck(
            "index", True, says, "wait until it has caught up; until then the feed of one session is slow"
        )


def _inputs(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    for kind, count in sorted(stats["inputs"]["refused"].items()):
        fix = REFUSED.get(kind, "see log/daemon.log")
        yield HealthCheck("refused", True, f"{count:,} since the start: {kind}", fix)
    lost = stats["inputs"]["not_recorded"]
    if lost:
        says = f"{lost:,} inputs since the start were not recorded; their agents ran without Quarterdeck"
        yield HealthCheck(
            "recording", False, says, "see “not recorded” in log/daemon.log; fix it, then: qd stop, qd up"
        )
    if stats["subscriber_failures"]:
        says = f"a subscriber of the feed failed {stats['subscriber_failures']:,} times"
        yield HealthCheck("subscribers", False, says, "see “a subscriber failed” in log/daemon.log and report it")


def _sessions(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    for one in stats["hook_overhead"]:
        if one["calls"] >= MANY_CALLS and one["mean_seconds"] > SLOW_HOOK_SECONDS:
            says = f"session {one['session_id']} waits {_ms(one['mean_seconds'])} per hook call"
            yield HealthCheck(
                "overhead", False, says, "check what keeps this machine busy; qd uninstall removes the hooks"
            )
    waits = stats["requests"]["oldest_held_seconds"]
    if waits is not None and waits > LONG_WAIT_SECONDS:
        yield HealthCheck("requests", True, f"an agent has been waiting for you for {age_words(waits)}", "qd requests")


def _notify(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    for name, one in sorted(stats["notify"].items()):
        if one["trouble"] is not None:
            says = f"{name} does not work: {one['trouble']} ({one['failed']:,} failed since the start)"
            yield HealthCheck("notify", False, says, "fix it, then: qd notify test")
        if one["dropped"]:
            says = f"{name}: {one['dropped']:,} notifications were dropped because its queue was full"
            yield HealthCheck("notify", True, says, "its receiver is too slow; check it with: qd notify test")


def _hub(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    link = stats.get("hub")
    if link is None:
        return
    if link["trouble"] is not None:
        says = f"the link to {link['url'] or 'the hub'} is {link['state']}: {link['trouble']}"
        yield HealthCheck(
            "hub", False, says, HUB_FIXES.get(link["trouble_kind"], "qd hub status shows when it is back")
        )
    if link["backlog_warning"]:
        says = f"{link['behind']:,} events wait for the hub and take {link['backlog_used']:.0%} of their room"
        yield HealthCheck(
            "hub", False, says, "connect it again, or raise hub.backlog_bytes: then the oldest may be trimmed"
        )


def _process(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    process = stats["process"]
    fds, most = process["open_fds"], process["max_fds"]
    if fds is not None and most is not None and fds > 0.8 * most:
        fix = "restart it with a higher `ulimit -n`: without a free file no agent can connect"
        yield HealthCheck("files", False, f"it has {fds:,} of at most {most:,} files open", fix)
    if process["rss_bytes"] > MUCH_MEMORY:
        yield HealthCheck("memory", True, f"it uses {size(process['rss_bytes'])}", "qd stop, then qd up; report it")


def _clock(stats: Mapping[str, Any]) -> Iterator[HealthCheck]:
    step = stats["clock_step_seconds"]
    if abs(step) > STEP_SECONDS:
        says = f"the clock was set {'forward' if step > 0 else 'back'} by {abs(step):,.0f} s since the start"
        yield HealthCheck(
            "clock", True, says, "times before and after cannot be compared; the order of events is not affected"
        )


def summary(stats: Mapping[str, Any]) -> list[str]:
    """The daemon's main numbers in two lines."""
    store, lag, answer = stats["store"], stats["loop_lag_seconds"]["p99"], quantile(stats["hook_seconds"], 0.99)
    recorded, uptime = stats["events"]["recorded"], age_words(stats["uptime_seconds"])
    refused = sum(stats["inputs"]["refused"].values())
    free = f", {size(store['free_bytes'])} free" if store["free_bytes"] is not None else ""
    surfaces = f"{stats['surfaces']} surface{'s' if stats['surfaces'] != 1 else ''}"
    return [
        f"up {uptime} · {recorded:,} events since then, {store['seq_no']:,} in total"
        f" · log {size(store['database_bytes'] + store['wal_bytes'])}{free}",
        f"hook answers within {_quick(answer)} · loop late by {_quick(lag)} (p99)"
        f" · {stats['requests']['held']} held · {surfaces} · {refused} refused",
    ]


def _quick(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1000:.1f} ms"


def quantile(histogram: Mapping[str, Any], part: float) -> float | None:
    """A quantile, rounded up to the bound of its bucket; None without values, infinity beyond the last bucket."""
    if not histogram["count"]:
        return None
    rank = histogram["count"] * part
    return next((float(bound) for bound, count in histogram["buckets"] if count >= rank), float("inf"))


def size(count: float) -> str:
    """A number of bytes with a readable unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit in ("bytes", "kB") else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
