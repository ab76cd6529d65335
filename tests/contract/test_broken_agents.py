"""Sessions whose agent does not start, or never says that it has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.connected import processes_in
from tests.support.daemon import Daemon, Json, until

VERSION = 'if [ "$1" = --version ]; then echo 2.1.325; exit 0; fi\n'
SILENT = "exec sleep 1000\n"
FLOOD = """exec yes '{"type": "system", "subtype": "said again and again", "words": "and again and again"}'\n"""
MOST_MEMORY = 200 * 1024


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

    def start(self) -> tuple[int, Json]:
        return self.daemon.api("POST", "/sessions", {"cwd": str(self.project), "prompt": "hello"}, timeout=60)

    def starting(self) -> str:
        """The session that is being started, once it is."""

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


def test_an_agent_that_never_says_it_has_started_is_ended_at_once(broken: Broken) -> None:
    broken.is_a(SILENT)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broken.start)
        session_id = broken.starting()
        began = time.monotonic()
        assert broken.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202
        assert time.monotonic() - began < 15
        status, said = started.result()
    assert (status, said["error"]["message"]) == (502, "it was ended before it had started")
    until(lambda: broken.status(session_id) == ("down", "ended"), what="its end")
    assert not broken.agents()


def test_what_an_agent_says_before_it_has_started_does_not_fill_the_memory(broken: Broken) -> None:
    broken.is_a(FLOOD)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(broken.start)
        session_id = broken.starting()
        time.sleep(3)
        assert broken.memory() < MOST_MEMORY
        assert broken.daemon.api("POST", f"/sessions/{session_id}/end", {}, timeout=60)[0] == 202


@pytest.mark.law("S2")
def test_a_daemon_that_stops_while_a_session_starts_ends_and_says_so(broken: Broken) -> None:
    broken.is_a(SILENT)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broken.start)
        session_id = broken.starting()
        assert broken.daemon.stop() == 0
        assert started.result()[0] == 502
    assert not broken.agents()
    broken.daemon.restart()
    assert broken.status(session_id) == ("down", "ended")
