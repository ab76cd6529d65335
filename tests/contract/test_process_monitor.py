"""Sessions whose agent was interrupted, killed or lost: their state follows the process table."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents import FakeAgent
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json, permission, prompt, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "qd") as daemon:
        yield daemon


def session(daemon: Daemon, session_id: str = "s1") -> Json:
    status, shown = daemon.api("GET", f"/sessions/{session_id}")
    assert status == 200, shown
    return dict(shown)


def until_state(daemon: Daemon, state: str, session_id: str = "s1") -> Json:
    def found() -> Json | None:
        shown = session(daemon, session_id)
        return shown if shown["agent_state"] == state else None

    return until(found, every=0.02, what=f"{session_id} {state}") or {}


def listed(daemon: Daemon) -> str:
    """The output of `qd sessions`."""
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    argv = [sys.executable, "-m", "quarterdeck", "sessions"]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS).stdout


def works(daemon: Daemon, agent: FakeAgent) -> None:
    """The agent got a prompt, works on it, and its process was seen."""
    agent.says("busy")
    daemon.hook(prompt("go", agent.session_id))
    until(lambda: session(daemon, agent.session_id)["pid"] == agent.pid, every=0.02, what="its pid")


@pytest.mark.law("S11")
def test_an_interrupt_is_seen_and_the_next_hook_wins(daemon: Daemon) -> None:
    with FakeAgent(daemon) as agent:
        works(daemon, agent)
        assert session(daemon)["agent_state"] == "running"
        agent.says("idle")
        shown = until_state(daemon, "idle")
        assert (shown["state_source"], shown["run_id"]) == ("process", None)
        assert shown["state_at"] >= shown["started_at"]
        assert "idle ~" in listed(daemon)
        (ended,) = daemon.events("run.end")
        assert ended["data"]["status"] == "aborted"
        daemon.hook(prompt("again"))
        assert session(daemon)["agent_state"] == "running"
        assert session(daemon)["state_source"] == "hooks"


@pytest.mark.law("S11")
def test_a_killed_agents_session_ends_and_its_request_is_withdrawn(daemon: Daemon) -> None:
    with FakeAgent(daemon) as agent:
        works(daemon, agent)
        held = daemon.hold(permission("ls"))
        (request,) = daemon.until_pending(1)
        agent.kill9()
        shown = until_state(daemon, "ended")
        assert (shown["state_source"], shown["pending"], shown["run_id"]) == ("process", 0, None)
        assert shown["ended_at"] is not None
        assert daemon.api("GET", f"/requests/{request['request_id']}")[1]["status"] == "withdrawn"
        assert held.answer() == (204, b"")


@pytest.mark.law("S11")
def test_agents_that_died_while_the_daemon_was_away_are_ended_and_others_stay(daemon: Daemon) -> None:
    with FakeAgent(daemon, "dies") as dies, FakeAgent(daemon, "lives") as lives:
        works(daemon, dies)
        works(daemon, lives)
        daemon.kill9()
        dies.kill9()
        daemon.restart()
        assert until_state(daemon, "ended", "dies")["state_source"] == "process"
        assert session(daemon, "lives")["agent_state"] == "running"
        lives.says("idle")
        until_state(daemon, "idle", "lives")


@pytest.mark.law("S3")
def test_a_reused_pid_a_foreign_container_and_an_unseen_session_end_nothing(daemon: Daemon) -> None:
    others = [FakeAgent(daemon, name) for name in ("recycled", "foreign", "unseen")]
    others[0].says("busy", procStart="1")
    others[1].says("busy", pidDomain="linux:0123:pid:[1]")
    with FakeAgent(daemon, "seen") as seen:
        for other in others:
            daemon.hook(prompt("go", other.session_id))
        works(daemon, seen)
        for other in others:
            other.kill9()
        seen.kill9()
        until_state(daemon, "ended", "seen")
    for other in others:
        shown = session(daemon, other.session_id)
        assert (shown["agent_state"], shown["pid"]) == ("running", None)


def test_a_session_ends_when_its_process_switches_to_another_one(daemon: Daemon) -> None:
    with FakeAgent(daemon, "old") as agent:
        works(daemon, agent)
        daemon.hook(prompt("go", "new"))
        agent.says("busy", sessionId="new")
        assert until_state(daemon, "ended", "old")["state_source"] == "process"
        assert session(daemon, "new")["pid"] == agent.pid


def test_a_resumed_session_has_its_new_process(daemon: Daemon) -> None:
    with FakeAgent(daemon) as first, FakeAgent(daemon) as second:
        works(daemon, first)
        first.kill9()
        until_state(daemon, "ended")
        second.says("idle")
        daemon.hook({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/w", "source": "resume"})
        until(lambda: session(daemon)["pid"] == second.pid, every=0.02, what="the new process")
        assert session(daemon)["ended_at"] is None
