"""What a person waits for: a card, an approved tool and the answer to a prompt, each against the bare program."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.common import Figure, load, main, percentile
from benchmarks.forwarder import PYTHON, installed
from benchmarks.sdk import Bare
from quarterdeck.agents.base import Transport
from tests.support.claude import ClaudeHome, claude_325
from tests.support.connected_claude import Connected
from tests.support.daemon import Daemon, Json, until
from tests.support.model_server import Turn, text, tool
from tests.support.owned_claude import Owner
from tests.support.tmux import Terminal
from tests.support.ws_client import Socket, following

CARDS = int(os.environ.get("QD_BENCH_CARDS", "150"))
APPROVALS = int(os.environ.get("QD_BENCH_APPROVALS", "15"))
PROMPTS = int(os.environ.get("QD_BENCH_PROMPTS", "60"))
WARM_UP = 2
GOAL_CARD, GOAL_APPROVAL_MS, GOAL_PROMPT = 1.15, 10.0, 1.2
SETTLED_SECONDS = 0.6
"""Claude Code drops a key in the first 0.2 s of its dialog; a person needs longer too."""
QUIET_SECONDS = 0.05
SESSION = "5bcc959a-d2e0-4b84-99d9-a702456ddf01"

Times = dict[str, list[float]]


def payload(event: str, number: int) -> bytes:
    call = {"tool_name": "Bash", "tool_input": {"command": f"touch made-{number}", "description": "make"}}
    after = {"tool_response": {"stdout": "", "stderr": ""}, "tool_use_id": f"toolu_{number:012}"}
    common = {"session_id": SESSION, "cwd": "/home/dev/project", "permission_mode": "default", "hook_event_name": event}
    return json.dumps({**common, **call, **(after if event == "PostToolUse" else {})}).encode()


class Api:
    """One connection to the daemon, kept open as a page keeps its own."""

    def __init__(self, daemon: Daemon) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", int(daemon.url.rsplit(":", 1)[1]), timeout=60)
        self._headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}

    def post(self, path: str, body: Json) -> None:
        self._connection.request("POST", f"/api/v1{path}", json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 202):
            raise RuntimeError(f"POST {path}: {answer.status} {content.decode()}")

    def allow(self, request: Json) -> None:
        decision = {"decision": "allow", "digest": request["digest"]}
        self.post(f"/requests/{request['request_id']}/decision", decision)


class Hooks:
    """Forwarders, each a process with its payload, as Claude Code starts them."""

    def __init__(self, folder: Path, daemon: Daemon) -> None:
        self._stdin = folder / "payload.json"
        self._argv = [PYTHON, "-I", "-S", installed(daemon.home), "--socket", str(daemon.socket_path)]

    def start(self, content: bytes) -> int:
        self._stdin.write_bytes(content)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(self._stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]
        return os.posix_spawn(PYTHON, self._argv, {"HOME": "/nonexistent"}, file_actions=actions)


async def ended(pid: int) -> None:
    """Wait for a child without a thread, which would take its share of the measured time."""
    descriptor, over = os.pidfd_open(pid), asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, over.set)
    try:
        await over.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        os.waitpid(pid, 0)


async def cards() -> Times:
    """Seconds of a hook that the daemon answers at once, from its start to its end; of one that is held, from its start
    until a client has the card; and from the approval of that card to the end of its hook."""
    taken: Times = {"hook": [], "card": [], "approval": []}
    with tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp") as made, Daemon(Path(made) / "qd") as daemon:
        hooks, api = Hooks(Path(made), daemon), Api(daemon)
        async with following(daemon, topics=["requests"]) as client:
            for number in range(-WARM_UP, CARDS):
                started = time.perf_counter()
                await ended(hooks.start(payload("PostToolUse", number)))
                answered = time.perf_counter()
                pid = hooks.start(payload("PermissionRequest", number))
                request = await card(client, f"touch made-{number}")
                shown = time.perf_counter()
                await asyncio.sleep(QUIET_SECONDS)
                approved = time.perf_counter()
                api.allow(request)
                await ended(pid)
                if number >= 0:
                    taken["hook"].append(answered - started)
                    taken["card"].append(shown - answered)
                    taken["approval"].append(time.perf_counter() - approved)
                await asyncio.sleep(QUIET_SECONDS)
    return taken


async def card(client: Socket, command: str) -> Json:
    """The pending request to run a command, once the client has it."""
    while True:
        request: Json = (await client.until("request"))["request"]
        if request["status"] == "pending" and request["tool_input"].get("command") == command:
            return request


class Key:
    """Presses keys through one tmux client that stays attached, as starting a program would be measured too."""

    def __init__(self, stack: ExitStack, terminal: Terminal) -> None:
        server = str(terminal._folder / "s")
        self._tmux = stack.enter_context(
            subprocess.Popen(["tmux", "-S", server, "-C", "attach"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        )
        stack.callback(self._tmux.terminate)
        self._pane = terminal.pane

    def press(self, key: str) -> None:
        assert self._tmux.stdin is not None
        self._tmux.stdin.write(f"send-keys -t {self._pane} {key}\n".encode())
        self._tmux.stdin.flush()


def approvals(cli: Path) -> Times:
    """Seconds from the key that answers the dialog of a bare Claude Code, and from an approval over the API, until the
    tool runs."""
    taken: Times = {"dialog": [], "http": [], "command": []}
    with (
        tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp", ignore_cleanup_errors=True) as made,
        ExitStack() as stack,
    ):
        over = {
            kind: stack.enter_context(Connected(Path(made) / kind, cli, Transport(kind)))
            for kind in ("http", "command")
        }
        bare = ClaudeHome(Path(made) / "bare", cli=cli, model_url=over["http"].model.url)
        homes = {"dialog": bare, **{kind: connected.claude for kind, connected in over.items()}}
        terminals = {kind: stack.enter_context(Terminal(home)).ready() for kind, home in homes.items()}
        key = Key(stack, terminals["dialog"])
        apis = {kind: Api(connected.daemon) for kind, connected in over.items()}
        for turn in range(-WARM_UP, APPROVALS):
            for kind, terminal in terminals.items():
                ran = homes[kind].project / f"ran{turn}"
                command = f"date +%s%N > {ran.name}"
                connected = over.get(kind, over["http"])
                prompt = connected.script(f"{kind} turn {turn}", Turn(tool("Bash", command=command)), Turn(text("ok")))
                terminal.type_prompt(prompt)
                terminal.wait_dialog()
                request = connected.request_to_run(command) if kind != "dialog" else {}
                time.sleep(SETTLED_SECONDS)
                started = time.time_ns()
                if kind == "dialog":
                    key.press("1")
                else:
                    apis[kind].allow(request)
                at = until(partial(read_number, ran), what=f"{ran.name} of {kind}")
                if turn >= 0:
                    taken[kind].append((at - started) / 1e9)
                terminal.wait_status("idle")
    return taken


def read_number(file: Path) -> int:
    """The number in a file; zero while there is none."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


class OwnedPrompts:
    """Prompts to a session that runs here. The end of a turn may come in one frame with its first text."""

    def __init__(self, api: Api, client: Socket, session_id: str) -> None:
        self._api, self._client, self._path = api, client, f"/sessions/{session_id}/messages"
        self._has_ended = False

    async def prompt(self) -> None:
        """Send a prompt and wait for its first text."""
        self._has_ended = False
        await asyncio.to_thread(self._api.post, self._path, {"prompt": "hello"})
        while True:
            message = await self._read()
            if message["type"] == "stream" and message["kind"] == "text" and "text" in message["data"]:
                return

    async def rest(self) -> None:
        """Read until the turn has ended and nothing more comes: a frame has its text after its events."""
        while not self._has_ended:
            await self._read()
        with contextlib.suppress(TimeoutError):
            while True:
                await self._client.read(QUIET_SECONDS)

    async def _read(self) -> Json:
        message = await self._client.read()
        self._has_ended |= message["type"] == "event" and message["event"]["kind"] == "run.end"
        return message


async def prompts(cli: Path) -> Times:
    """Seconds from a prompt to the first text at a client: of a session that runs here, and of the bare SDK."""
    taken: Times = {"owned": [], "bare": []}
    with (
        tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp", ignore_cleanup_errors=True) as made,
        Owner(Path(made) / "owned", cli) as owner,
    ):
        owner.script("hello", Turn(text("Hello, what is next?")))
        bare = Bare(ClaudeHome(Path(made) / "bare", cli=cli, model_url=owner.model.url))
        session = await asyncio.to_thread(owner.starts, "sdk")
        topics = ["feed", f"streams:{session['session_id']}"]
        async with following(owner.daemon, topics=topics) as client:
            owned = OwnedPrompts(Api(owner.daemon), client, session["session_id"])
            await bare.start()
            await bare.rest()
            kinds: dict[str, OwnedPrompts | Bare] = {"owned": owned, "bare": bare}
            for turn in range(-WARM_UP, PROMPTS):
                for kind in sorted(kinds, reverse=bool(turn % 2)):
                    started = time.perf_counter()
                    await asyncio.wait_for(kinds[kind].prompt(), 60)
                    if turn >= 0:
                        taken[kind].append(time.perf_counter() - started)
                    await asyncio.wait_for(kinds[kind].rest(), 60)
                    await asyncio.sleep(QUIET_SECONDS)
        await bare.close()
    return taken


def figures() -> list[Figure]:
    cli = claude_325()
    if cli is None:
        raise SystemExit("this needs the Claude Code of claude-agent-sdk; run: make parts")
    shown = asyncio.run(cards())
    answered = asyncio.run(prompts(cli))
    return [
        *ratios("live: a card at a client", shown["card"], shown["hook"], "a hook answered at once", GOAL_CARD),
        *ratios("live: an approval to the end of its hook", shown["approval"], shown["hook"], "the same hook", None),
        *ratios("live: a prompt to its first text", answered["owned"], answered["bare"], "the bare SDK", GOAL_PROMPT),
        *added(approvals(cli)),
    ]


def ratios(name: str, taken: list[float], base: list[float], against: str, goal: float | None) -> list[Figure]:
    """The goal is for the median; the slowest hundredth is for information."""
    made = []
    for percent in (50, 99):
        own, other = percentile(taken, percent), percentile(base, percent)
        wanted = goal if percent == 50 else None
        made.append(
            Figure(
                name=f"{name}, p{percent} ({own * 1000:.1f} ms)",
                value=round(own / other, 3),
                unit="×",
                against=f"{against}, {other * 1000:.1f} ms; {load()}",
                goal=f"≤ {wanted}" if wanted else "",
                ok=wanted is None or own / other <= wanted,
            )
        )
    return made


def added(taken: Times) -> list[Figure]:
    base = taken.pop("dialog")
    return [
        Figure(
            name=f"live: added to an approved tool over {kind} hooks, p{percent}",
            value=round((percentile(own, percent) - percentile(base, percent)) * 1000, 1),
            unit="ms",
            against=f"the key in the terminal's dialog, {percentile(base, percent) * 1000:.1f} ms; {load()}",
            goal=f"≤ {GOAL_APPROVAL_MS:g}" if percent == 50 else "",
            ok=percent != 50 or (percentile(own, 50) - percentile(base, 50)) * 1000 <= GOAL_APPROVAL_MS,
        )
        for kind, own in taken.items()
        for percent in (50, 99)
    ]


if __name__ == "__main__":
    main(figures)
