"""A client that does not read, and one that sends very much: the daemon's memory stays bounded, others are not
affected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quarterdeck.core.model.payload import TOO_LARGE
from tests.support.daemon import Daemon

pytestmark = pytest.mark.faults


def resident(pid: int) -> int:
    """Bytes of memory the process holds."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.law("E9")
def test_no_memory_is_kept_for_a_client_that_never_reads(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook({"session_id": "warm", "hook_event_name": "Stop"})
        before = resident(daemon.pid)
        stalled = daemon.ndjson()
        stalled.socket.settimeout(0.5)
        note = {"session_id": "deaf", "hook_event_name": "Notification", "message": "x" * 200}
        sent = 0
        try:
            while sent < 60_000:
                stalled.send(f"e{sent}", note)
                sent += 1
        except TimeoutError:
            pass
        assert daemon.hook({"session_id": "other", "hook_event_name": "Stop"})[0] == 204
        assert resident(daemon.pid) - before < 64 << 20


@pytest.mark.law("I3")
@pytest.mark.parametrize(("size", "kept"), [(15 << 20, True), (17 << 20, False)])
def test_a_large_tool_input_is_kept_whole_up_to_the_limit(tmp_path: Path, size: int, kept: bool) -> None:
    with Daemon(tmp_path / "home") as daemon:
        call = {"tool_name": "Write", "tool_input": {"content": "x" * size}, "tool_use_id": "t"}
        assert daemon.hook({"session_id": "big", "hook_event_name": "PreToolUse", **call})[0] == 204
        event = daemon.events("tool.pre")[0]
        assert (event["data"]["tool_input"] == call["tool_input"]) is kept
        assert (TOO_LARGE in event["data"]["tool_input"]) is not kept
        _, page = daemon.api("GET", "/feed?kind=tool.pre&limit=1")
        assert len(page["events"][0]["title"]) <= 120


@pytest.mark.law("D10")
def test_a_request_too_large_to_show_is_left_to_the_terminal(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        call = {"tool_name": "Write", "tool_input": {"content": "x" * (17 << 20)}}
        status, body = daemon.hook({"session_id": "big", "hook_event_name": "PermissionRequest", **call})
        assert (status, body) == (204, b"")
        shown = daemon.events("permission.request")[0]["data"]["tool_input"][TOO_LARGE]
        assert shown["bytes"] == len(json.dumps(call["tool_input"], separators=(",", ":")))


@pytest.mark.law("E5")
@pytest.mark.law("E6")
def test_resuming_gives_every_later_event_once_in_log_order_whatever_the_clock_did(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        for n in range(50):
            daemon.hook(
                {"session_id": f"s{n % 3}", "hook_event_name": "Notification", "message": str(n), "ts": 1e9 - n}
            )
        seen: list[int] = []
        after: int | None = 0
        while after is not None:
            _, page = daemon.api("GET", f"/feed?after={after}&limit=9")
            seen += [event["seq_no"] for event in page["events"]]
            after = page["next"]
        assert seen == list(range(1, seen[-1] + 1))
        assert seen[-1] >= 50
