"""`qd demo`: three scripted agents in a temporary home. Needs neither Claude Code nor a network."""

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

from quarterdeck.agents.demo_day import DAY
from quarterdeck.agents.scripted import ScriptLine, ScriptReplay, waits
from quarterdeck.cli.admin.daemon import open_surface, preload_tui
from quarterdeck.cli.admin.demo_home import make_home, note_process, sweep
from quarterdeck.cli.common import command, group, option, out
from quarterdeck.core.model.decisions import Allow, Decision, Deny
from quarterdeck.errors import NoDaemon, QuarterdeckError
from quarterdeck.surfaces.client.http import Client

app = group("Play the demo.")
START_SECONDS = 30.0


@command(app)
def demo(
    speed: Annotated[float, option("Playback speed; 10 is ten times faster.", min=0.1, max=1000)] = 1.0,
    patience: Annotated[float, option("Seconds before a request is answered for you.", min=0)] = 45.0,
    stay: Annotated[bool, option("Keep the daemon running until Ctrl-C.", "--stay")] = False,
    lines: Annotated[bool, option("Print events instead of opening the desk.", "--lines")] = False,
) -> None:
    """Play a demo with three scripted agents. Requests that you do not answer are answered for you."""
    out.print("Starting the demo: three agents in a temporary home …")
    for end in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, _exit)
    sweep()
    home = make_home()
    process = _start(home)
    is_interactive = not lines and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        if is_interactive:
            preload_tui()
        client = _ready(home, process)
        if is_interactive:
            _begin(client, home, speed, patience)
            open_surface(home)
            return
        out.print(f"Three agents are working at {client.url}. In another terminal, run:")
        out.print(f"  export QUARTERDECK_HOME={home}", style="bold")
        out.print("  qd requests · qd allow ID · qd deny ID --message TEXT · qd answer ID --answers JSON", style="bold")
        out.print(f"Requests that you do not answer are answered after {patience:g} s. Ctrl-C ends the demo.\n")
        _play(client, home, speed, patience)
        if stay:
            out.print("\nThe demo has played to its end; the daemon runs until Ctrl-C.")
            while process.poll() is None:
                time.sleep(0.2)
    except KeyboardInterrupt:
        out.print("\nEnding the demo …")
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home, ignore_errors=True)
        out.print(f"The demo is over; its home {home} was removed.")


def _exit(number: int, frame: object) -> None:
    """Exit on a signal through `finally`, so that the daemon and the home go too."""
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
    from quarterdeck.cli.commands.event_feed import FeedPrinter

    agents = _begin(client, home, speed, patience)
    after, printer = 0, FeedPrinter()
    while True:
        over = not any(agent.is_alive() for agent in agents)
        events = client.get("/api/v1/feed", after=after, limit=1000)["events"]
        printer.print_new(events)
        after = events[-1]["seq_no"] if events else after
        if over and not events:
            return
        time.sleep(0.1)


class _Agent(threading.Thread):
    """One scripted agent: sends its hook calls over HTTP as Claude Code would, and waits for decisions."""

    def __init__(self, url: str, token: str, project: str, speed: float, patience: float) -> None:
        super().__init__(daemon=True)
        self._where = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._headers["X-Quarterdeck-Entrypoint"] = "cli"
        self._speed = speed
        self._patience = patience
        self._replay = ScriptReplay(DAY[project], session_id=str(uuid.uuid4()), cwd=f"/home/you/{project}")

    def run(self) -> None:
        started = time.monotonic()
        while not self._replay.done:
            now = (time.monotonic() - started) * self._speed
            for line in self._replay.due(now):
                self._send(line, started)
            time.sleep(0.02)

    def _send(self, line: ScriptLine, started: float) -> None:
        has_to_wait = waits(line)
        answer = self._post(line, self._patience if has_to_wait else 10.0)
        if has_to_wait:
            self._replay.decide(line.id, answer, (time.monotonic() - started) * self._speed)

    def _post(self, line: ScriptLine, timeout: float) -> Decision | None:
        """Post one payload. After `timeout` the connection is closed, as Claude Code does when the person at its
        terminal answers first."""
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
