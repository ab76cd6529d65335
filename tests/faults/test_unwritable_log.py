"""A log that cannot be written for a while, or for good: nothing is allowed by it, it is reported, and it passes."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.store.hash_chain import verify
from tests.support.daemon import Daemon, Json, decision_in, permission, prompt, until
from tests.support.failpoints import ForkServer, unwritable

pytestmark = pytest.mark.faults

HOOK = Path(__file__).parents[2] / "src" / "quarterdeck" / "hook.py"


def forwarded(daemon: Daemon, payload: Json, *options: str) -> tuple[int, str, str]:
    """What Claude Code sees of the forwarder."""
    command = [sys.executable, "-I", "-S", str(HOOK), "--socket", str(daemon.socket_path), *options]
    ended = subprocess.run(command, input=json.dumps(payload), capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    home = daemon.home
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "QUARTERDECK_HOME": str(home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


def before_a_tool(command: str) -> Json:
    return {**permission(command), "hook_event_name": "PreToolUse", "tool_use_id": "t1"}


@pytest.mark.law("D2")
@pytest.mark.law("D12")
def test_while_nothing_can_be_recorded_the_gate_is_safe_and_no_decision_is_accepted(daemon: Daemon) -> None:
    held = daemon.hold(permission("make"))
    [request] = daemon.until_pending(1)
    with unwritable(daemon):
        for payload in (permission("rm x"), before_a_tool("ls")):
            assert forwarded(daemon, payload) == (0, "", "")
            code, output, why = forwarded(daemon, payload, "--enforce")
            assert (code, output, "cannot be written" in why) == (2, "", True)
        for more in ({}, {"remember": {"scope": "user", "pattern": "Bash(make:*)"}}):
            status, answer = daemon.decide(request, "allow", **more)
            assert (status, answer["error"]["kind"]) == (503, "not_recorded")
        with pytest.raises(TimeoutError):
            held.answer(0.5)
        assert [one["request_id"] for one in daemon.pending()] == [request["request_id"]]
        assert daemon.api("GET", "/rules")[1]["rules"] == []
    assert daemon.decide(request, "deny", message="no")[0] == 200
    assert decision_in(held.answer()[1]) == "deny"
    assert len(daemon.events("permission.decision")) == 1


@pytest.mark.law("E10")
def test_surfaces_show_that_nothing_is_recorded_and_when_that_is_over(daemon: Daemon) -> None:
    with unwritable(daemon):
        assert daemon.hook(prompt("lost"))[0] == 503
        assert daemon.api("GET", "/healthz") == (200, {"status": "not_recording"})
        status = qd(daemon, "status")
        assert (status.returncode, "nothing can be recorded" in status.stdout) == (0, True)
        doctor = qd(daemon, "doctor")
        assert (doctor.returncode, doctor.stderr) == (1, "")
        assert "but its log cannot be written" in doctor.stdout
        assert "decisions are refused" in doctor.stdout
    until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "ok"}, what="a log that is written again")
    assert "nothing can be recorded" not in qd(daemon, "status").stdout
    assert "Traceback" not in daemon.stderr()


@pytest.mark.law("D8")
def test_the_request_of_an_agent_that_left_is_withdrawn_afterwards_and_the_log_is_not_flooded(daemon: Daemon) -> None:
    held = [daemon.hold(permission(f"make {n}", f"s{n}")) for n in range(5)]
    daemon.until_pending(5)
    with unwritable(daemon):
        for one in held:
            one.close()
        until(lambda: daemon.api("GET", "/stats")[1]["inputs"]["not_recorded"] == 5, what="five that left")
        started = time.monotonic()
        until(lambda: time.monotonic() - started > 1.2)
        assert daemon.api("GET", "/stats")[1]["inputs"]["not_recorded"] == 5
    daemon.until_pending(0)
    with daemon.db() as db:
        assert verify(db) is None


@pytest.mark.law("D1")
@pytest.mark.law("D12")
def test_a_decision_made_at_that_very_moment_is_recorded_or_refused(daemon: Daemon) -> None:
    held = {f"s{n}": daemon.hold(permission(f"make {n}", f"s{n}")) for n in range(60)}
    requests = daemon.until_pending(60)
    taken: dict[str, int] = {}

    def press() -> None:
        for request in requests:
            taken[request["session_id"]] = daemon.decide(request, "allow")[0]

    pressing = threading.Thread(target=press)
    pressing.start()
    until(lambda: len(taken) > 20, what="some decisions")
    with unwritable(daemon):
        pressing.join()
    assert set(taken.values()) == {200, 503}
    recorded = {event["session_id"] for event in daemon.events("permission.decision")}
    assert recorded == {session for session, status in taken.items() if status == 200}
    for session, status in taken.items():
        if status == 200:
            assert decision_in(held[session].answer()[1]) == "allow"
    waiting = daemon.until_pending(60 - len(recorded))
    for request in waiting:
        assert daemon.decide(request, "deny")[0] == 200
        assert decision_in(held[request["session_id"]].answer()[1]) == "deny"
    with daemon.db() as db:
        assert verify(db) is None


@pytest.fixture
def failing_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that turns read-only while it is used, as one with a broken disk below it."""
    image, disk = tmp_path / "image", tmp_path / "disk"
    disk.mkdir()
    image.touch()
    os.truncate(image, 64 << 20)
    made = os.getuid() == 0 and not subprocess.run(["mkfs.ext4", "-q", image], capture_output=True).returncode
    if not made or subprocess.run(["mount", "-o", "loop", image, disk], capture_output=True).returncode:
        pytest.skip("only root can mount a file system of its own")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.law("E11")
@pytest.mark.law("D13")
def test_a_home_that_turns_read_only_is_reported_and_the_daemon_stops_cleanly(
    failing_disk: Path, fork_server: ForkServer
) -> None:
    with Daemon(failing_disk / "home", launch=fork_server.launch(), logs=failing_disk.parent) as daemon:
        held = daemon.hold(permission("make"))
        [request] = daemon.until_pending(1)
        subprocess.run(["mount", "-o", "remount,abort", failing_disk], check=True)
        assert daemon.decide(request, "allow")[0] == 503
        doctor = qd(daemon, "doctor")
        assert (doctor.returncode, doctor.stderr) == (1, "")
        assert "nothing can be recorded" in doctor.stdout
        assert daemon.stop() == 0
        assert held.answer()[0] == 503
        assert "Traceback" not in daemon.stderr()
