"""Sessions over the SDK: the first streamed token against the bare SDK's own, and memory per idle session."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, PermissionResultDeny, StreamEvent

from benchmarks.common import Figure, load, main, percentile
from quarterdeck.core.engine.session_messages import SendPrompt, SessionReport, StartSession
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.drivers.claude.sdk_launcher import SdkLauncher
from quarterdeck.sessions.launcher import LaunchSpec, PermissionQuery
from tests.support.claude import ClaudeHome, claude_325
from tests.support.model_server import ModelServer, Turn, text

STARTS = 12
PROMPTS = 200
IDLE = 8
GOAL = 1.1
GOAL_MB = 1.5
SCRIPTS = {"hello": [Turn(text("Hello, what is next?"))]}


class First:
    """Waits for the first token of a turn, and ignores everything else."""

    def __init__(self) -> None:
        self.first_token = asyncio.Event()
        self.ended = asyncio.Event()

    def report(self, news: SessionReport) -> None:
        if type(news).__name__ == "TurnEnded":
            self.ended.set()

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        if kind == "text" and "text" in data:
            self.first_token.set()

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        return NoOpinion()


@contextmanager
def home() -> Iterator[ClaudeHome]:
    cli = claude_325()
    assert cli is not None, "claude-agent-sdk with its bundled claude is missing"
    with (
        tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp", ignore_cleanup_errors=True) as made,
        ModelServer(SCRIPTS) as model,
    ):
        yield ClaudeHome(Path(made), cli=cli, model_url=model.url)


class OwnedSession:
    """An owned session: launched with its first prompt, then sent more."""

    def __init__(self, place: ClaudeHome) -> None:
        self._place, self._listener, self._id = place, First(), str(uuid.uuid4())
        self._launcher = SdkLauncher(self._listener, place.path)

    async def start(self) -> None:
        spec = LaunchSpec(
            agent="claude",
            program=self._place.cli,
            config_dir=self._place.config,
            environment=self._place.env,
            hooks="",
            folder=self._place.path,
        )
        cwd = str(self._place.project)
        await self._launcher.launch(
            StartSession(session_id=self._id, mode="sdk", cwd=cwd, by="user", at=0.0, prompt="hello"), spec
        )
        await self._listener.first_token.wait()

    async def prompt(self) -> None:
        self._listener.first_token.clear()
        self._listener.ended.clear()
        await self._launcher.send(SendPrompt(session_id=self._id, message_id="m", prompt="hello", by="user", at=0.0))
        await self._listener.first_token.wait()

    async def rest(self) -> None:
        await self._listener.ended.wait()

    async def close(self) -> None:
        await self._launcher.close()


class Bare:
    """The same by the SDK's client alone."""

    def __init__(self, place: ClaudeHome) -> None:
        async def deny(*_: Any) -> PermissionResultDeny:
            return PermissionResultDeny(message="no")

        options = ClaudeAgentOptions(
            cli_path=place.cli,
            cwd=place.project,
            env=place.env,
            setting_sources=["user", "project", "local"],
            system_prompt={"type": "preset", "preset": "claude_code"},
            session_id=str(uuid.uuid4()),
            include_partial_messages=True,
            can_use_tool=deny,
        )
        self._client = ClaudeSDKClient(options)

    async def start(self) -> None:
        await self._client.connect()
        self._messages = self._client.receive_messages()
        await self.prompt()

    async def prompt(self) -> None:
        await self._client.query("hello")
        async for message in self._messages:
            if isinstance(message, StreamEvent) and "text" in message.event.get("delta", {}):
                return

    async def rest(self) -> None:
        async for message in self._messages:
            if type(message).__name__ == "ResultMessage":
                return

    async def close(self) -> None:
        await self._client.disconnect()


async def timed(call: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await asyncio.wait_for(call(), 60)
    return time.perf_counter() - started


Times = list[tuple[float, float]]


async def measure() -> tuple[Times, Times]:
    """Seconds of an owned session and of the bare SDK to the first token: of new sessions, and of two that run."""
    starts: Times = []
    prompts: Times = []
    with home() as place:
        for turn in range(STARTS + 1):
            pair: list[OwnedSession | Bare] = [OwnedSession(place), Bare(place)]
            taken = {type(one): await timed(one.start) for one in (pair if turn % 2 else reversed(pair))}
            for one in pair:
                await one.rest()
            starts += [(taken[OwnedSession], taken[Bare])] if turn else []  # the first reads the program from disk
            if turn == STARTS:
                prompts = [await _prompted(pair, turn) for turn in range(PROMPTS)]
            for one in pair:
                await one.close()
    return starts, prompts


async def _prompted(pair: list[OwnedSession | Bare], turn: int) -> tuple[float, float]:
    taken = {}
    for one in pair if turn % 2 else reversed(pair):
        taken[type(one)] = await timed(one.prompt)
        await one.rest()
    return taken[OwnedSession], taken[Bare]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def grow() -> float:
    """Megabytes that each further idle session takes of this process; each has had one turn."""
    with home() as place:
        sessions = [OwnedSession(place)]
        await sessions[0].start()
        await sessions[0].rest()
        gc.collect()
        before = resident()
        for _ in range(IDLE):
            sessions.append(OwnedSession(place))
            await sessions[-1].start()
            await sessions[-1].rest()
        gc.collect()
        grown = resident() - before
        for one in sessions:
            await one.close()
    return grown / IDLE / 1e6


def memory() -> float:
    """Measured in a process of its own."""
    script = "import asyncio; from benchmarks.sdk import grow; print(asyncio.run(grow()))"
    return float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout)


def figures() -> list[Figure]:
    starts, prompts = asyncio.run(measure())
    grown = memory()
    return [
        _first("of a new session", starts),
        _first("of a prompt to one that runs", prompts),
        Figure(
            name="sdk: memory of the daemon per idle session",
            value=round(grown, 2),
            unit="MB",
            against=f"{IDLE} sessions, each with one turn",
            goal=f"≤ {GOAL_MB}",
            ok=grown <= GOAL_MB,
        ),
    ]


def _first(what: str, times: Times) -> Figure:
    """By the lower quartile, where other programs of the machine count least."""
    owned, bare = (percentile(taken, 25) for taken in zip(*times, strict=True))
    return Figure(
        name=f"sdk: first token {what}, p25",
        value=round(owned / bare, 3),
        unit="×",
        against=f"the bare SDK, {bare * 1000:.0f} ms; {load()}",
        goal=f"≤ {GOAL}",
        ok=owned / bare <= GOAL,
    )


if __name__ == "__main__":
    main(figures)
