"""What a Claude Code that waits for a prompt costs while Quarterdeck follows it, against one that is on its own."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.common import Figure, load, main, percentile
from benchmarks.sdk import Bare
from quarterdeck.agents.base import Transport
from tests.support.claude import ClaudeHome, claude_325
from tests.support.connected_claude import Connected, processes_in
from tests.support.model_server import ModelServer, Turn, text
from tests.support.owned_claude import Owner
from tests.support.tmux import Terminal

PAIRS = int(os.environ.get("QD_BENCH_PAIRS", "3"))
WINDOWS = int(os.environ.get("QD_BENCH_WINDOWS", "24"))
WINDOW_SECONDS = 5.0
SETTLED_SECONDS = 20.0
GOAL = 1.05
PROCESS_CLOCK = 2
"""The kernel's name for the CPU time of a whole process, in the lower bits of its clock's number."""
TERMINALS = BARE_TERMINAL, OBSERVED = ("a terminal on its own", "an observed terminal")
SDK = BARE_SDK, OWNED = ("the bare SDK", "an owned SDK session")
ANSWER = Turn(text("Hello, what is next?"))

Costs = dict[str, list[float]]


async def measure(cli: Path) -> Costs:
    """Milliseconds of CPU a second, of each kind of session in every window. All wait at the same time, and they start
    in pairs: about 100 s after its start Claude Code collects its garbage once, which takes as much as minutes of
    waiting. So sessions of different ages cannot be compared, and a figure must be a median of windows."""
    with tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp", ignore_cleanup_errors=True) as made:
        async with AsyncExitStack() as stack:
            sessions = Sessions(Path(made), cli, stack)
            for pair in range(PAIRS):
                await sessions.start_terminals(pair)
                await sessions.start_sdk(pair)
            await asyncio.sleep(SETTLED_SECONDS)
            costs: Costs = {kind: [] for kind in sessions.pids}
            for _ in range(WINDOWS):
                before = {kind: sum(map(cpu_seconds, pids)) for kind, pids in sessions.pids.items()}
                await asyncio.sleep(WINDOW_SECONDS)
                for kind, pids in sessions.pids.items():
                    used = sum(map(cpu_seconds, pids)) - before[kind]
                    costs[kind].append(used / len(pids) / WINDOW_SECONDS * 1000)
    return costs


class Sessions:
    """Sessions that wait for their second prompt, by kind."""

    def __init__(self, folder: Path, cli: Path, stack: AsyncExitStack) -> None:
        self.pids: dict[str, list[int]] = {kind: [] for kind in (*TERMINALS, *SDK)}
        self._folder, self._cli, self._stack = folder, cli, stack
        self._model = stack.enter_context(ModelServer({"hello": [ANSWER]}))
        self._observer = stack.enter_context(Connected(folder / "observed", cli, Transport.COMMAND))
        self._owner = stack.enter_context(Owner(folder / "owner", cli))
        self._sdk_home = self._home("sdk")
        self._homes = {BARE_TERMINAL: self._home("bare"), OBSERVED: self._observer.claude}
        for connected in (self._observer, self._owner):
            connected.model.scripts["hello"] = [ANSWER]

    def _home(self, name: str) -> ClaudeHome:
        return ClaudeHome(self._folder / name, cli=self._cli, model_url=self._model.url)

    async def start_terminals(self, pair: int) -> None:
        """One that is on its own and one whose hooks report here."""
        for kind in TERMINALS[:: 1 if pair % 2 else -1]:
            terminal = self._stack.enter_context(Terminal(self._homes[kind])).ready()
            terminal.type_prompt("hello")
            terminal.wait_for("what is next")
            self.pids[kind].append(terminal.pid)

    async def start_sdk(self, pair: int) -> None:
        """One of the bare SDK and one that the daemon runs."""
        for kind in SDK[:: 1 if pair % 2 else -1]:
            self.pids[kind].append(await (self._start_bare() if kind == BARE_SDK else self._start_owned()))

    async def _start_bare(self) -> int:
        """All in one home, like the owned ones: sessions notice what others write there."""
        session = Bare(self._sdk_home)
        await session.start()
        await session.rest()
        self._stack.push_async_callback(session.close)
        running = processes_in(self._sdk_home.path.parent)
        (pid,) = [pid for pid, words in running.items() if str(self._cli) in words and pid not in self.pids[BARE_SDK]]
        return pid

    async def _start_owned(self) -> int:
        session = await asyncio.to_thread(self._owner.starts, "sdk", prompt="hello")
        await asyncio.to_thread(self._owner.event, session, "run.end")
        return int(self._owner.sessions()[session["session_id"]]["pid"])


def cpu_seconds(pid: int) -> float:
    """The CPU that a process and its threads have used, those that ended included."""
    return time.clock_gettime((~pid << 3) | PROCESS_CLOCK)


def figures() -> list[Figure]:
    cli = claude_325()
    if cli is None:
        raise SystemExit("this needs the Claude Code of claude-agent-sdk; run: make parts")
    costs = asyncio.run(measure(cli))
    return [_figure(costs, *kinds) for kinds in (TERMINALS, SDK)]


def _figure(costs: Costs, bare: str, connected: str) -> Figure:
    """By the lower quartile, where other programs of the machine count least: they make a session's own work slower."""
    own, other = percentile(costs[connected], 25), percentile(costs[bare], 25)
    return Figure(
        name=f"idle: CPU of Claude Code, {connected}, p25 ({own:.2f} ms/s)",
        value=round(own / other, 3),
        unit="×",
        against=f"{bare}, {other:.2f} ms/s, {PAIRS} of each; {load()}",
        goal=f"≤ {GOAL}",
        ok=own / other <= GOAL,
    )


if __name__ == "__main__":
    main(figures)
