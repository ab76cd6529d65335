"""Spans from a real daemon to a real receiver, and to one that is dead, broken or never answers."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quarterdeck.config.settings import OtelSettings
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.daemon.telemetry.otel_export import EXPORT_SECONDS, read_headers, traces_url
from quarterdeck.daemon.telemetry.spans import span_id_of, trace_id_of
from quarterdeck.errors import ConfigError
from tests.support.collector import Collector, attributes
from tests.support.daemon import Daemon, Json, launching, permission, prompt
from tests.support.failpoints import faulty

TRIES = 3


@contextmanager
def exporting(home: Path, url: str, **env: str) -> Iterator[Daemon]:
    with Daemon(home, env={"QUARTERDECK_OTEL_ENDPOINT": url, **env}) as daemon:
        yield daemon


def tool(hook: str, use: str = "t1", **more: object) -> Json:
    call = {"tool_name": "Bash", "tool_input": {"command": "cat SECRETFILE"}, "tool_use_id": use}
    return {"hook_event_name": hook, "session_id": "s1", "cwd": "/w", **call, **more}


def work(daemon: Daemon) -> None:
    """One run with a tool call that a person allows."""
    daemon.hook(prompt("read SECRETFILE"))
    daemon.hook(tool("PreToolUse"))
    held = daemon.hold({**permission("cat SECRETFILE"), "tool_use_id": "t1"})
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "allow")[0] == 200
    assert held.answer()[0] == 200
    daemon.hook(tool("PostToolUse", tool_response={"stdout": "SECRETWORDS"}))
    daemon.hook({"hook_event_name": "Stop", "session_id": "s1"})


def test_a_run_arrives_as_one_trace(tmp_path: Path) -> None:
    with Collector() as collector, exporting(tmp_path / "home", collector.url) as daemon:
        work(daemon)
        run = collector.until_named("invoke_agent claude-code")
        call, permission_span = collector.until_named("execute_tool Bash"), collector.until_named("permission Bash")
        runner_id = daemon.note()["runner_id"]
    assert run.trace_id == trace_id_of("s1:R1").to_bytes(16)
    assert run.span_id == call.parent_span_id == span_id_of("s1:R1").to_bytes(8)
    assert (run.parent_span_id, permission_span.parent_span_id) == (b"", call.span_id)
    assert attributes(run)["gen_ai.conversation.id"] == "s1"
    assert attributes(run)["quarterdeck.run.status"] == "completed"
    assert attributes(call)["gen_ai.tool.name"] == "Bash"
    assert attributes(permission_span)["quarterdeck.decision.by"] == "owner"
    assert run.start_time_unix_nano <= call.start_time_unix_nano <= permission_span.start_time_unix_nano
    assert permission_span.end_time_unix_nano <= call.end_time_unix_nano <= run.end_time_unix_nano
    assert collector.resources[0]["service.name"] == "quarterdeck"
    assert collector.resources[0]["service.instance.id"] == runner_id
    assert "SECRET" not in repr(collector.spans)


@pytest.mark.law("A12")
def test_content_and_headers_are_sent_only_to_the_configured_endpoint(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.write_text("# for the collector\nAuthorization: Bearer to-the-collector\n")
    headers.chmod(0o600)
    more = {"QUARTERDECK_OTEL_HEADERS_FILE": str(headers), "QUARTERDECK_OTEL_INCLUDE_CONTENT": "true"}
    more |= {"QUARTERDECK_OTEL_SERVICE_NAME": "my-desk", "QUARTERDECK_LOG_LEVEL": "debug"}
    with Collector() as collector, exporting(tmp_path / "home", collector.url, **more) as daemon:
        work(daemon)
        call = collector.until_named("execute_tool Bash")
        daemon.stop()
        log = (daemon.home / "log" / "daemon.log").read_text()
        events = str(daemon.events())
    assert attributes(call)["gen_ai.tool.call.arguments"] == '{"command":"cat SECRETFILE"}'
    assert attributes(call)["gen_ai.tool.call.result"] == '{"stdout":"SECRETWORDS"}'
    assert collector.headers[0]["authorization"] == "Bearer to-the-collector"
    assert collector.resources[0]["service.name"] == "my-desk"
    assert "to-the-collector" not in log + events + daemon.stderr()


def test_remaining_spans_are_sent_at_the_end(tmp_path: Path) -> None:
    with Collector() as collector, exporting(tmp_path / "home", collector.url) as daemon:
        work(daemon)
        assert daemon.stop() == 0
        assert {s.name for s in collector.spans} >= {"invoke_agent claude-code", "execute_tool Bash"}


@contextmanager
def trouble(kind: str) -> Iterator[str]:
    """A collector that does not exist, refuses, never answers, or accepts no connection."""
    if kind == "away":
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    elif kind == "full":
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            yield f"http://127.0.0.1:{full.getsockname()[1]}"
    else:
        with Collector(hang=kind == "hangs", status=503) as collector:
            yield collector.url


@pytest.mark.parametrize("kind", ["away", "refuses", "hangs", "full"])
def test_a_dead_collector_neither_slows_nor_stops_the_daemon(tmp_path: Path, kind: str) -> None:
    """A hook takes as long as its own work, and a stop less than an export may. The best of some tries: the machine may
    be busy."""
    stop_seconds = (seconds_to_stop(tmp_path / f"home{n}", kind) for n in range(TRIES))
    assert any(seconds < EXPORT_SECONDS - 1.0 for seconds in stop_seconds)


def seconds_to_stop(home: Path, kind: str) -> float:
    with (
        trouble(kind) as url,
        Daemon(home, env={"QUARTERDECK_OTEL_ENDPOINT": url}, launch=faulty("--own-time")) as daemon,
    ):
        for n in range(100):
            assert daemon.hook(tool("PreToolUse", f"t{n}"))[0] == 204
            assert daemon.hook(tool("PostToolUse", f"t{n}"))[0] == 204
        stats = daemon.api("GET", "/stats")[1]
        assert stats["hook_seconds"]["sum"] / stats["hook_seconds"]["count"] < 0.05
        assert stats["subscriber_failures"] == 0
        stopping = time.monotonic()
        assert daemon.stop() == 0
        took = time.monotonic() - stopping
        assert len((daemon.home / "log" / "daemon.log").read_text().splitlines()) < 50
        assert "Traceback" not in daemon.stderr()
        return took


def test_without_the_extra_the_start_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None; sys.argv = ['quarterdeck', 'daemon'];"
        " from quarterdeck.cli.main import main; main()"
    )
    daemon = Daemon(
        tmp_path / "home",
        launch=launching([sys.executable, "-c", program]),
        env={"QUARTERDECK_OTEL_ENDPOINT": "http://127.0.0.1:4318"},
    )
    daemon.begin()
    assert daemon.ended() == 2
    assert "pip install 'quarterdeck[otel]'" in daemon.stderr().splitlines()[-1]


def test_spans_are_sent_to_the_configured_endpoint() -> None:
    assert traces_url(OtelSettings(endpoint="http://localhost:4318")) == "http://localhost:4318/v1/traces"
    assert traces_url(OtelSettings(endpoint="https://a.example/")) == "https://a.example/v1/traces"
    assert traces_url(OtelSettings(endpoint="https://a.example/custom")) == "https://a.example/custom"


@pytest.mark.law("A12")
@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("localhost:4318", "must be a URL"),
        ("ftp://x", "must be a URL"),
        ("https://user:pass@a.example", "must not hold a secret"),
        ("https://a.example/?key=1", "must not hold a secret"),
        ("http://a.example", "must be https"),
    ],
)
def test_an_endpoint_that_would_reveal_a_secret_is_refused(endpoint: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected) as refused:
        traces_url(OtelSettings(endpoint=endpoint, headers_file="/x"))
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "mode", "expected"),
    [("A: b", 0o644, "chmod 600"), ("no colon", 0o600, "line 1"), ("A: b\n:x", 0o600, "line 2")],
)
def test_a_headers_file_must_be_private_and_well_formed(tmp_path: Path, content: str, mode: int, expected: str) -> None:
    file = tmp_path / "headers"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=expected):
        read_headers(OtelSettings(headers_file=str(file)), Redactor())
    with pytest.raises(ConfigError, match="cannot be read"):
        read_headers(OtelSettings(headers_file=str(tmp_path / "none")), Redactor())
