"""Findings from the daemon's stats."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import quarterdeck
from quarterdeck.views.health import (
    MARKS,
    REFUSED,
    UNWELL,
    DaemonFacts,
    HealthCheck,
    daemon_checks,
    findings,
    quantile,
    size,
    summary,
)

FAST: dict[str, Any] = {"count": 100, "sum": 0.1, "buckets": [[0.001, 100], [0.05, 100], [0.1, 100]]}
SLOW: dict[str, Any] = {"count": 100, "sum": 9.0, "buckets": [[0.001, 90], [0.05, 90], [0.1, 100]]}


def well() -> dict[str, Any]:
    return {
        "version": "1.0",
        "uptime_seconds": 3600.0,
        "clock_step_seconds": 0.01,
        "inputs": {"refused": {}, "not_recorded": 0, "queued_peak": 12},
        "append_seconds": FAST,
        "hook_overhead": [{"session_id": "s1", "calls": 500, "mean_seconds": 0.002}],
        "loop_lag_seconds": {"p99": 0.004},
        "requests": {"oldest_held_seconds": None},
        "subscriber_failures": 0,
        "notify": {"push": {"failed": 2, "dropped": 0, "trouble": None}},
        "store": {"unindexed": 3, "database_bytes": 5_000_000, "free_bytes": 10**11, "damaged": None, "trouble": None},
        "process": {"open_fds": 20, "max_fds": 1024, "rss_bytes": 10**8},
    }


def test_a_start_is_not_taken_for_a_busy_machine() -> None:
    late = {**well(), "loop_lag_seconds": {"p99": 0.4}}
    assert [check.name for check in findings(late, "1.0")] == ["loop"]
    assert findings({**late, "uptime_seconds": 1.0}, "1.0") == []


def test_advice_has_a_mark_of_its_own() -> None:
    checks = [HealthCheck("a", True, "x"), HealthCheck("a", True, "x", "do y"), HealthCheck("a", False, "x", "do y")]
    assert [check.level for check in checks] == ["good", "advice", "problem"]
    assert len({MARKS[check.level] for check in checks}) == 3


def test_when_all_is_well_nothing_is_found() -> None:
    assert findings(well(), "1.0") == []


@pytest.mark.parametrize(
    ("change", "name", "ok", "fix"),
    [
        ({"version": "0.9"}, "version", False, "qd stop"),
        ({"version": "1.1"}, "version", False, "upgrade this qd"),
        ({"loop_lag_seconds": {"p99": 0.2}}, "loop", False, "busy"),
        ({"append_seconds": SLOW}, "disk", True, "faster disk"),
        ({"inputs": {"refused": {}, "not_recorded": 0, "queued_peak": 9000}}, "queue", False, "floods"),
        ({"inputs": {"refused": {"not_json": 3}, "not_recorded": 0, "queued_peak": 0}}, "refused", True, "not JSON"),
        ({"inputs": {"refused": {"new": 3}, "not_recorded": 0, "queued_peak": 0}}, "refused", True, "daemon.log"),
        ({"inputs": {"refused": {}, "not_recorded": 4, "queued_peak": 0}}, "recording", False, "not recorded"),
        ({"store": {**well()["store"], "free_bytes": 5 * 10**8}}, "space", True, "free some space"),
        ({"store": {**well()["store"], "free_bytes": 5 * 10**7}}, "space", False, "free some space"),
        ({"store": {**well()["store"], "damaged": "row 3: bad"}}, "log", False, "backup"),
        ({"store": {**well()["store"], "trouble": "no room"}}, "recording", False, "decisions are refused"),
        ({"store": {**well()["store"], "unindexed": 60_000}}, "index", True, "caught up"),
        ({"hook_overhead": [{"session_id": "s9", "calls": 50, "mean_seconds": 0.3}]}, "overhead", False, "uninstall"),
        ({"requests": {"oldest_held_seconds": 7300.0}}, "requests", True, "qd requests"),
        ({"process": {"open_fds": 1000, "max_fds": 1024, "rss_bytes": 1}}, "files", False, "ulimit"),
        ({"process": {"open_fds": None, "max_fds": None, "rss_bytes": 3 * 10**9}}, "memory", True, "qd stop"),
        ({"clock_step_seconds": -86400.0}, "clock", True, "order"),
        ({"notify": {"push": {"failed": 2, "dropped": 0, "trouble": "away"}}}, "notify", False, "qd notify test"),
        ({"notify": {"push": {"failed": 2, "dropped": 5, "trouble": None}}}, "notify", True, "too slow"),
        ({"subscriber_failures": 1}, "subscribers", False, "daemon.log"),
    ],
)
def test_each_problem_is_shown_with_the_next_step(change: dict[str, Any], name: str, ok: bool, fix: str) -> None:
    [found] = findings({**well(), **change}, "1.0")
    assert (found.name, found.ok) == (name, ok)
    assert fix in found.fix
    assert found.says


def test_a_slow_disk_is_named_as_the_cause() -> None:
    found = findings({**well(), "append_seconds": SLOW, "loop_lag_seconds": {"p99": 0.2}}, "1.0")
    assert [c.name for c in found] == ["disk", "loop"]
    assert "faster disk" in found[1].fix


def test_a_session_with_few_calls_is_not_judged() -> None:
    few = [{"session_id": "s9", "calls": 3, "mean_seconds": 0.3}]
    assert findings({**well(), "hook_overhead": few}, "1.0") == []


def test_every_kind_of_refusal_is_explained() -> None:
    """The kinds are the first arguments of `BadInput` in the source, and the counter's own keys."""
    folder = Path(quarterdeck.__file__).parent
    files = [folder / "wire.py", *(folder / "daemon").rglob("*.py")]
    calls = [n for f in files for n in ast.walk(ast.parse(f.read_text())) if isinstance(n, ast.Call)]
    kinds = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "BadInput" and isinstance(call.args[0], ast.Constant)
    }
    assert kinds | {"malformed", "after_uninstall"} == REFUSED.keys()


def test_a_quantile_is_the_upper_bound_of_its_bucket() -> None:
    assert (quantile(FAST, 0.5), quantile(SLOW, 0.99)) == (0.001, 0.1)
    assert quantile({"count": 0, "buckets": []}, 0.5) is None
    assert quantile({"count": 2, "buckets": [[1.0, 1]]}, 0.99) == float("inf")


def test_the_summary_has_the_main_numbers_in_two_lines() -> None:
    stats = well() | {
        "uptime_seconds": 7200.0,
        "events": {"recorded": 1234},
        "hook_seconds": {"count": 0, "buckets": []},
        "requests": {"held": 2},
        "surfaces": 1,
        "store": {**well()["store"], "seq_no": 5678, "wal_bytes": 0},
    }
    assert summary(stats) == [
        "up 2 h · 1,234 events since then, 5,678 in total · log 5.0 MB, 100.0 GB free",
        "hook answers within – · loop late by 4.0 ms (p99) · 2 held · 1 surface · 0 refused",
    ]


def test_sizes_have_readable_units() -> None:
    assert [size(n) for n in (12, 4096, 5_240_000, 77_000_000_000, 5e12)] == [
        "12 bytes",
        "4 kB",
        "5.2 MB",
        "77.0 GB",
        "5.0 TB",
    ]


def facts(**changes: Any) -> DaemonFacts:
    return DaemonFacts(**{"status": "ok", "url": "http://127.0.0.1:4180", "stats": well(), "watch": "off", **changes})


def test_a_daemon_that_is_well_says_where_it_runs() -> None:
    assert [(check.level, check.says) for check in daemon_checks(facts(), "1.0")] == [
        ("good", "running at http://127.0.0.1:4180")
    ]


@pytest.mark.parametrize("status", UNWELL)
def test_a_daemon_that_records_nothing_says_so_first(status: str) -> None:
    [first, *_] = daemon_checks(facts(status=status), "1.0")
    assert (first.name, first.ok) == ("daemon", False)
    assert UNWELL[status] in first.says


def test_findings_come_before_how_projects_are_watched() -> None:
    late = {**well(), "loop_lag_seconds": {"p99": 0.4}}
    found = daemon_checks(facts(stats=late, watch="live", scan_notes=("2 folders were left out",)), "1.0")
    assert [check.name for check in found] == ["daemon", "loop", "projects", "projects"]
    assert [check.says for check in found[2:]] == ["changes are noticed as they happen", "2 folders were left out"]
