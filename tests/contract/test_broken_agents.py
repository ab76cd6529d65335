"""Sessions whose agent does not start, or never reports that it has."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.connected_claude import processes_in
from tests.support.daemon import Daemon, Json, permission, until

VERSION = 'if [ "$1" = --version ]; then echo 2.1.325; exit 0; fi\n'
SILENT = "exec sleep 1000\n"
FLOOD = """exec yes '{"type": "system", "subtype": "said again and again", "words": "and again and again"}'\n"""
MOST_MEMORY = 200 * 1024
STUBBORN = "trap '' TERM INT HUP\nwhile :; do sleep 1; done\n"
LONELY = """trap '' TERM INT HUP
word=alone
for pid in $(cut -d' ' -f1 pids 2>/dev/null); do kill -0 $pid 2>/dev/null && word=two; done
echo $$ $word >> pids
while :; do sleep 1; done
"""
SILENT_SDK_AGENT = """#!/usr/bin/env python3
import json, os, pathlib, signal, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("2.1.325"))
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
pids = pathlib.Path("pids")
before = [line.split()[0] for line in pids.read_text().splitlines()] if pids.exists() else []
word = "two" if any(os.path.exists("/proc/" + pid) for pid in before) else "alone"
with pids.open("a") as file:
    print(os.getpid(), word, file=file)
asked = json.loads(sys.stdin.readline())
response = {"subtype": "success", "request_id": asked["request_id"], "response": {"commands": []}}
print(json.dumps({"type": "control_response", "response": response}), flush=True)
while True:
    time.sleep(1)
"""
TALKS = """#!/usr/bin/env python3
import json, sys
if sys.argv[1:] == ["--version"]:
    sys.exit(print("2.1.325"))
asked = json.loads(sys.stdin.readline())
response = {"subtype": "success", "request_id": asked["request_id"], "response": {"commands": []}}
print(json.dumps({"type": "control_response", "response": response}), flush=True)
sys.stdin.readline()
for n in range(20_000):
    print(json.dumps({"type": "system", "subtype": "something new", "number": n}))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "told"}), flush=True)
sys.stdin.read()
"""


class Broken:
    """A daemon whose agent is a script."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "home" / "project"
        self.project.mkdir(parents=True)
        self.claude = folder / "claude-script"
        env = {"HOME": str(folder / "home"), "QUARTERDECK_CLAUDE_PATH": str(self.claude)}
        self.daemon = Daemon(folder / "qd", env=env)

    def is_a(self, script: str) -> None:
        self.claude.write_text(f"#!/bin/sh\n{VERSION}{script}")
        self.claude.chmod(0o755)

    def start(self, **more: str) -> tuple[int, Json]:
        body = {"cwd": str(self.project), "prompt": "hello", **more}
        return self.daemon.api("POST", "/sessions", body, timeout=60)

    def pids(self) -> list[list[str]]:
        """The lines that LONELY agents wrote: their pid, and `two` if another one was still running."""
        path = self.project / "pids"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def host(self) -> int:
        """The process that keeps the one terminal."""
        notes = [json.loads(n.read_text()) for n in (self.daemon.home / "run" / "sessions").glob("*.json")]
        return int(next(note["host"][0] for note in notes if "host" in note))

    def starting(self) -> str:
        """The id of the session that is being started, once there is one."""

        def found() -> str | None:
            sessions = self.daemon.api("GET", "/sessions")[1]["sessions"]
            return next((s["session_id"] for s in sessions if s["owned"]["status"] == "starting"), None)

        return until(found, what="a session that starts") or ""

    def status(self, session_id: str) -> tuple[str, str]:
        session = self.daemon.api("GET", f"/sessions/{session_id}")[1]
        return session["owned"]["status"], session["agent_state"]

    def agents(self) -> list[str]:
        return [c for c in processes_in(self.project.parent.parent).values() if "quarterdeck daemon" not in c]

    def memory(self) -> int:
        lines = Path(f"/proc/{self.daemon.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Broken]:
    broken = Broken(tmp_path)
    with broken.daemon as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(broken.project)})[0] == 200
        yield broken


def test_an_agent_that_never_finishes_starting_can_be_ended(broken: Broken) -> None:
    broken.is_a(SILENT)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broken.start)
        session_id = broken.starting()
        assert broken.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202
        status, answer = started.result()
    assert (status, answer["error"]["message"]) == (502, "the session was ended before it had started")
    until(lambda: broken.status(session_id) == ("down", "ended"), what="its end")
    assert not broken.agents()


def test_messages_before_the_start_do_not_fill_the_memory(broken: Broken) -> None:
    broken.is_a(FLOOD)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(broken.start)
        session_id = broken.starting()
        time.sleep(3)
        assert broken.memory() < MOST_MEMORY
        assert broken.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202


def test_an_agent_that_repeats_itself_does_not_fill_the_log(broken: Broken) -> None:
    broken.claude.write_text(TALKS)
    broken.claude.chmod(0o755)
    status, session = broken.start()
    assert status == 201, session
    until(lambda: broken.daemon.events("turn.result"), what="the end of the turn")
    assert broken.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=60)[0] == 202
    notes = [event["data"] for event in broken.daemon.events("agent.note")]
    kept = [note for note in notes if note["name"] == "something new"]
    assert len(notes) < 200
    assert sum(note["body"]["count"] for note in notes if note["name"] == "notes_dropped") == 20_000 - len(kept)


@pytest.mark.law("S4")
def test_a_terminal_whose_host_was_killed_is_resumed_when_its_agent_has_ended(broken: Broken) -> None:
    broken.is_a(LONELY)
    status, session = broken.start(mode="pty")
    assert status == 201, session
    until(lambda: len(broken.pids()) == 1, what="the agent")
    os.kill(broken.host(), signal.SIGKILL)
    until(lambda: broken.daemon.events("session.exit"), what="the report of its end")
    status, answer = broken.start(mode="pty", resume=session["session_id"])
    assert status == 201, answer
    until(lambda: len(broken.pids()) == 2, what="the second agent")
    assert broken.pids()[1][1] == "alone"
    assert broken.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=60)[0] == 202


@pytest.mark.law("S4")
def test_after_its_host_was_killed_too_a_session_is_resumed_when_its_first_agent_has_ended(broken: Broken) -> None:
    broken.claude.write_text(SILENT_SDK_AGENT)
    broken.claude.chmod(0o755)
    status, session = broken.start()
    assert status == 201, session
    until(lambda: len(broken.pids()) == 1, what="the agent")
    broken.daemon.close()  # with the host of the session
    broken.daemon.restart()
    until(lambda: len(broken.pids()) == 2, what="the second agent")
    assert broken.pids()[1][1] == "alone"
    assert broken.daemon.api("POST", f"/sessions/{session['session_id']}/end", {}, timeout=60)[0] == 202


@pytest.mark.law("D13")
def test_waiting_agents_are_released_before_stubborn_owned_sessions_end(broken: Broken) -> None:
    broken.is_a(STUBBORN)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broken.start)
        broken.starting()
        held = broken.daemon.hold(permission("ls"))
        broken.daemon.until_pending(1)
        broken.daemon.terminate()
        assert held.answer() == (204, b"")
        assert broken.daemon.alive()
        late = broken.daemon.hold(permission("ls -l"))
        assert late.answer() == (204, b"")
        assert broken.daemon.ended() == 0
        assert started.result()[0] == 502
    assert {e["data"]["status"] for e in broken.daemon.events("permission.decision")} == {"withdrawn"}


@pytest.mark.law("S2")
def test_a_daemon_stops_while_a_session_is_starting(broken: Broken) -> None:
    broken.is_a(SILENT)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broken.start)
        session_id = broken.starting()
        assert broken.daemon.stop() == 0
        assert started.result()[0] == 502
    assert not broken.agents()
    broken.daemon.restart()
    assert broken.status(session_id) == ("down", "ended")
