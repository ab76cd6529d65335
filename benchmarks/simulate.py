"""A rule tried on 100,000 past requests, by the command that people use against a real daemon."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import Figure, main
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.event_data.request_data import DecisionData, PermissionRequestData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request, State
from quarterdeck.store.log import Entry, Log
from tests.support.daemon import Daemon

REQUESTS = 100_000
CHUNK = 2_000
COMMANDS = (
    "git log --oneline -n {n} -- src/part{n}",
    "npm run test -- --filter case{n} && git status --short",
    "grep -rn 'needle {n}' src tests | head -n 20",
    "python -m pytest tests/unit/test_{n}.py -q",
    "cd services/api{n} && make build TARGET=x{n}",
    "curl -s https://example.org/{n} | jq .name",
    "docker compose -f deploy/{n}.yml up -d",
    "ls -la build/{n} && cat build/{n}/notes.txt",
    "cargo test --package part{n} -- --nocapture",
    "kubectl get pods -n team{n} -o wide",
)
RULE = ("allow", "Bash(git log:*)")


def _past(n: int, seq_no: int, chance: random.Random) -> Entry:
    """A request and its decision, as the log and its view of requests hold them."""
    command = chance.choice(COMMANDS).format(n=n)
    word = "deny" if chance.random() < 0.1 else "allow"
    decision: DecisionData = DecisionData(request_id=f"q{n}", decision_type=word, source=Source.USER, by="ann")
    opening = PermissionRequestData(
        request_id=f"q{n}",
        digest="0" * 64,
        hook_name="PermissionRequest",
        held=True,
        tool_name="Bash",
        tool_kind="shell",
        tool_input={"command": command},
        cwd="/w/app",
    )
    session = f"s{n % 50}"
    opened, closed = (
        FeedEvent(
            seq_no=place,
            event_id=f"{session}:R1:E{place}",
            seq=place,
            run_id=f"{session}:R1",
            session_id=session,
            runner_id="bench",
            at=float(n),
            kind=kind,
            level="info",
            actor_id="agent:root",
            data=data,
        )
        for place, kind, data in (
            (seq_no, "permission.request", opening),
            (seq_no + 1, "permission.decision", decision),
        )
    )
    request = Request(
        request_id=f"q{n}",
        kind="permission",
        session_id=session,
        run_id=opened.run_id,
        event_id=opened.event_id,
        seq_no=seq_no,
        hook_name="PermissionRequest",
        tool_name="Bash",
        tool_kind="shell",
        tool_input=opening.tool_input,
        digest=opening.digest,
        opened_at=float(n),
        held=True,
        waiter="http",
        cwd="/w/app",
        status="decided",
        decision=decision,
    )
    return Entry([opened, closed], requests=[request])


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="qd-bench-") as folder:
        home = Path(folder) / "home"
        with Daemon(home):
            pass
        log = Log.open(home / "events.db", durability="normal")
        chance = random.Random(7)
        for first in range(0, REQUESTS, CHUNK):
            start = log.seq_no + 1
            log.append([_past(first + n, start + 2 * n, chance) for n in range(CHUNK)])
        log.save_snapshot(State(runner_id=log.meta("runner_id", "bench"), seq_no=log.seq_no))
        log.close()
        with Daemon(home) as daemon:
            counts, seconds = _simulate(daemon)
    assert counts["seen"] >= REQUESTS
    name = f"simulation over {counts['seen']:,} requests, {counts['decided']:,} decided"
    return [Figure(name=name, value=round(seconds, 2), unit="s", against="", goal="≤ 10", ok=seconds <= 10)]


def _simulate(daemon: Daemon) -> tuple[dict[str, int], float]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "rules", "simulate", *RULE, "--last", "1000000", "--json"]
    began = time.perf_counter()
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    counts: dict[str, int] = json.loads(ended.stdout)
    return counts, time.perf_counter() - began


if __name__ == "__main__":
    main(figures)
