"""`qd demo`: three scripted agents in a temporary home of their own; needs neither Claude nor a network."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
import typer

from quarterdeck.agents.demo_day import DAY
from quarterdeck.agents.scripted import Line, Replay
from quarterdeck.cli.admin.daemon import open_desk, read_desk
from quarterdeck.cli.admin.demo_home import make_home, note_process, sweep
from quarterdeck.cli.common import out, plainly
from quarterdeck.core.model.decisions import Allow, Decision, Deny
from quarterdeck.core.model.events import HIDDEN
from quarterdeck.errors import NoDaemon, QuarterdeckError
from quarterdeck.surfaces.client.http import Client

START_SECONDS = 30.0


@plainly
def demo(
    speed: Annotated[float, typer.Option(min=0.1, max=1000, help="How many times faster than life.")] = 1.0,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds a scripted person at the terminal waits before answering.")
    ] = 45.0,
    stay: Annotated[bool, typer.Option("--stay", help="Keep the daemon until Ctrl-C.")] = False,
    lines: Annotated[bool, typer.Option("--lines", help="Print what happens instead of opening the desk.")] = False,
) -> None:
    """Play a day of three agents at the desk in this terminal. What you leave, a scripted person answers."""
    out.print("Starting the demo: three agents in a home of their own …")
    for end in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, _leave)
    sweep()
    home = make_home()
    process = _start(home)
    opens = not lines and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        if opens:
            read_desk()
        client = _ready(home, process)
        if opens:
            _begin(client, home, speed, patience)
            open_desk(home)
            return
        out.print(f"Three agents are at work at {client.url}. From another terminal:")
        out.print(f"  export QUARTERDECK_HOME={home}", style="bold")
        out.print("  qd requests · qd allow ID · qd deny ID --message TEXT · qd answer ID --answers JSON", style="bold")
        out.print(f"What you leave, someone at the terminal answers after {patience:g} s. Ctrl-C ends the demo.\n")
        _play(client, home, speed, patience)
        if stay:
            out.print("\nThe day is over; the daemon stays until Ctrl-C.")
            while process.poll() is None:
                time.sleep(0.2)
    except KeyboardInterrupt:
        out.print("\nThe demo ends.")
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home, ignore_errors=True)
        out.print(f"The demo is over, and its home {home} is gone.")


def _leave(number: int, frame: object) -> None:
    """A demo that is told to end takes its daemon and its home with it."""
    raise SystemExit(128 + number)


def _start(home: Path) -> subprocess.Popen[bytes]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("QUARTERDECK_")}
    environ |= {"QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0", "QUARTERDECK_DECIDE_HOLD": "always"}
    environ |= {"QUARTERDECK_CLAUDE_CONFIG_DIR": str(home / "claude"), "QUARTERDECK_RUNNER_NAME": "demo"}
    log = (home / "demo.log").open("wb")
    command = [sys.executable, "-m", "quarterdeck", "daemon", "--quiet"]
    process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603
    note_process(home, "daemon", process.pid)
    return process


def _ready(home: Path, process: subprocess.Popen[bytes]) -> Client:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return Client.of_home(home, "demo")
        except NoDaemon:
            time.sleep(0.02)
    raise QuarterdeckError(f"the demo's daemon did not start: {(home / 'demo.log').read_text()[-500:]}")


def _begin(client: Client, home: Path, speed: float, patience: float) -> list[_Agent]:
    token = (home / "hook-token").read_text().strip()
    agents = [_Agent(client.url, token, name, speed, patience) for name in DAY]
    for agent in agents:
        agent.start()
    return agents


def _play(client: Client, home: Path, speed: float, patience: float) -> None:
    from quarterdeck.cli.commands.queries import show_event

    agents = _begin(client, home, speed, patience)
    after = 0
    while True:
        over = not any(agent.is_alive() for agent in agents)
        events = client.get("/api/v1/feed", after=after, limit=1000)["events"]
        for event in events:
            if event["kind"] not in HIDDEN:
                show_event(event)
            after = event["seq_no"]
        if over and not events:
            return
        time.sleep(0.1)


class _Agent(threading.Thread):
    """One agent: says its lines over HTTP as Claude Code would, and waits where it must."""

    def __init__(self, url: str, token: str, project: str, speed: float, patience: float) -> None:
        super().__init__(daemon=True)
        self._where = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._headers["X-Quarterdeck-Entrypoint"] = "cli"
        self._speed = speed
        self._patience = patience
        self._replay = Replay(DAY[project], session_id=str(uuid.uuid4()), cwd=f"/home/you/{project}")

    def run(self) -> None:
        started = time.monotonic()
        while not self._replay.done:
            now = (time.monotonic() - started) * self._speed
            for line in self._replay.due(now):
                self._say(line, started)
            time.sleep(0.02)

    def _say(self, line: Line, started: float) -> None:
        waits = line.payload["hook_event_name"] == "PermissionRequest"
        answer = self._post(line, self._patience if waits else 10.0)
        if waits:
            self._replay.decide(line.id, answer, (time.monotonic() - started) * self._speed)

    def _post(self, line: Line, timeout: float) -> Decision | None:
        """Post one payload. A person at the terminal who answers first closes the connection, as Claude Code does."""
        connection = http.client.HTTPConnection(
            self._where.hostname or "", self._where.port, timeout=max(timeout, 0.05)
        )
        try:
            connection.request("POST", "/hook", msgspec.json.encode(line.payload), self._headers)
            response = connection.getresponse()
            return _read_answer(response.read()) if response.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def _read_answer(body: bytes) -> Decision:
    decided = msgspec.json.decode(body)["hookSpecificOutput"]["decision"]
    return Allow() if decided["behavior"] == "allow" else Deny(decided.get("message", ""))


def register(cli: typer.Typer) -> None:
    cli.command()(demo)
