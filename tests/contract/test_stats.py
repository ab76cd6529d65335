"""`GET /stats` and `/metrics` of a real daemon, and what Prometheus' own parser reads in them."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from tests.support.daemon import PATIENCE_SECONDS, Daemon, permission, prompt, until
from tests.support.metrics import samples


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("stats") / "home") as running:
        running.hook(prompt("hello", "busy"))
        running.hook({"hook_event_name": "Stop", "session_id": "busy"})
        running.hook(b"{")
        with running.ndjson() as client:
            client.ask("n1", prompt("over the socket", "other"))
            client.ask("../", prompt("no id"))
        running.hold(permission("ls", "held"))
        running.until_pending(1)
        yield running


def scrape(daemon: Daemon, token: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    try:
        return response.status, response.headers["content-type"], response.read().decode()
    finally:
        connection.close()


def test_the_stats_match_what_happened(daemon: Daemon) -> None:
    until(lambda: daemon.api("GET", "/stats")[1]["loop_lag_seconds"]["count"] > 0, what="a look at the loop")
    status, stats = daemon.api("GET", "/stats")
    assert status == 200
    events = daemon.events()
    assert stats["events"]["recorded"] == stats["store"]["seq_no"] == len(events)
    assert stats["events"]["by_kind"] == {k: sum(e["kind"] == k for e in events) for k in {e["kind"] for e in events}}
    assert stats["inputs"]["refused"] == {"not_json": 1, "bad_request_id": 1}
    assert stats["inputs"]["not_recorded"] == 0
    assert stats["requests"]["pending"] == stats["requests"]["held"] == 1
    assert 0 <= stats["requests"]["oldest_held_seconds"] < 60
    assert {o["session_id"]: o["calls"] for o in stats["hook_overhead"]} == {"busy": 2, "other": 1}
    assert stats["hook_seconds"]["count"] == 3
    assert 0 < stats["hook_seconds"]["sum"] < 3
    assert stats["append_seconds"]["count"] == stats["inputs"]["batch_size"]["count"] > 0
    assert stats["store"]["database_bytes"] == (daemon.home / "events.db").stat().st_size
    assert stats["store"]["wal_bytes"] == (daemon.home / "events.db-wal").stat().st_size
    assert stats["store"]["free_bytes"] > 0
    assert stats["process"]["pid"] == daemon.pid
    assert stats["process"]["rss_bytes"] > 1_000_000
    assert abs(stats["clock_step_seconds"]) < 5
    assert 0 <= stats["loop_lag_seconds"]["p50"] <= stats["loop_lag_seconds"]["p99"] <= stats["loop_lag_seconds"]["max"]


def test_prometheus_reads_the_same_numbers(daemon: Daemon) -> None:
    status, media_type, text = scrape(daemon, daemon.token)
    assert (status, media_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert text.endswith("\n")
    found = samples(text)
    stats = daemon.api("GET", "/stats")[1]
    assert found["quarterdeck_requests_held", ()] == 1
    assert found["quarterdeck_inputs_refused_total", (("kind", "not_json"),)] == 1
    assert found["quarterdeck_session_hook_calls_total", (("session_id", "busy"),)] == 2
    assert found["quarterdeck_hook_seconds_bucket", (("le", "+Inf"),)] == 3
    assert found["quarterdeck_hook_seconds_count", ()] == 3
    assert found["quarterdeck_database_bytes", ()] == stats["store"]["database_bytes"]
    for kind, count in stats["events"]["by_kind"].items():
        assert found["quarterdeck_events_total", (("kind", kind),)] == count


def test_the_stats_need_the_scope_observe(daemon: Daemon) -> None:
    assert scrape(daemon, "wrong")[0] == 401
    assert scrape(daemon, daemon.hook_token)[0] == 403
