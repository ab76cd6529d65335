"""The command hook's whole cost: `python -I -S hook.py` as it is installed, with a durable answer, against the bare
interpreter."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import quarterdeck.hook
from benchmarks.common import Figure, interleave, load, main, percentile
from quarterdeck.daemon.setup.home_files import Home

ROUNDS = 200
GOAL = 1.4
PYTHON = os.path.realpath(sys.executable)  # the interpreter itself: a shim costs more than the forwarder
NOTHING = "python -I -S -c pass"


def payload() -> bytes:
    """An event nobody decides, 1 KiB long."""
    event = {
        "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf01",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-project/5bcc959a.jsonl",
        "cwd": "/home/dev/project",
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "touch made.txt && echo hi", "description": "make"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": False, "isImage": False},
        "tool_use_id": "toolu_000000000001",
    }
    event["tool_response"] = {"stdout": "x" * (1024 - len(json.dumps(event))), "stderr": ""}
    return json.dumps(event).encode()


def serve_floor(folder: str) -> None:
    """The least a daemon can do: one durable row before it acknowledges and answers. Prints a line when it listens."""
    rows = sqlite3.connect(f"{folder}/floor.db", isolation_level=None)
    rows.execute("PRAGMA journal_mode=WAL")
    rows.execute("PRAGMA synchronous=FULL")
    rows.execute("CREATE TABLE rows(n INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/hook.sock")
    listener.listen(128)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            body = stream.read(int(stream.readline().split()[1]))
            rows.execute("INSERT INTO rows(body) VALUES(?)", (body.decode(),))
            connection.sendall(quarterdeck.hook.ACK)  # as for a call that is held, here for no time
            connection.sendall(b"0 0\n")


@contextmanager
def floor(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    script = f"from benchmarks.forwarder import serve_floor; serve_floor({str(folder)!r})"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield folder / "hook.sock"
        finally:
            process.terminate()


@contextmanager
def daemon(home: Path) -> Iterator[Path]:
    home.mkdir(mode=0o700)
    env = {**os.environ, "QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0"}
    command = [sys.executable, "-m", "quarterdeck", "daemon"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield Path(json.loads((home / "run" / "daemon.json").read_text())["socket"])
        finally:
            process.terminate()


def spawning(stdin: Path, *args: str) -> Callable[[], None]:
    """Runs the interpreter once, with as little around it as can be."""
    argv = [PYTHON, "-I", "-S", *args]
    env = {"HOME": "/nonexistent"}

    def run() -> None:
        actions = [(os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0)]
        pid = os.posix_spawn(PYTHON, argv, env, file_actions=actions)
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"{argv} ended with {status}"

    return run


def installed(folder: Path) -> str:
    """The command hook as `qd install` puts it into a home."""
    home = Home(folder)
    home.keep_forwarder()
    return str(home.hook)


def durable_rows(database: Path, table: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def measure() -> dict[str, list[float]]:
    """Seconds of each process: bare, with the least daemon, with the real one, with none."""
    with tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp") as made, ExitStack() as running:
        folder = Path(made)
        stdin = folder / "payload.json"
        stdin.write_bytes(payload())
        least = running.enter_context(floor(folder / "floor"))
        real = running.enter_context(daemon(folder / "home"))
        hook = installed(folder / "home")
        seconds = interleave(
            {
                NOTHING: spawning(stdin, "-c", "pass"),
                "one durable row, acknowledged": spawning(stdin, hook, "--enforce", "--socket", str(least)),
                "the daemon": spawning(stdin, hook, "--enforce", "--socket", str(real)),
                "no daemon": spawning(stdin, hook, "--socket", str(folder / "nothing.sock")),
            },
            ROUNDS,
        )
        assert durable_rows(folder / "floor" / "floor.db", "rows") >= ROUNDS
        assert durable_rows(folder / "home" / "events.db", "events") >= ROUNDS
    return seconds


def figures() -> list[Figure]:
    seconds = measure()
    bare = percentile(seconds.pop(NOTHING), 50)
    return [_figure(name, percentile(taken, 50) / bare, bare) for name, taken in seconds.items()]


def _figure(name: str, ratio: float, bare: float) -> Figure:
    return Figure(
        name=f"forwarder, {name}: wall p50",
        value=round(ratio, 3),
        unit="×",
        against=f"{NOTHING} ({bare * 1000:.1f} ms); {load()}",
        goal=f"≤ {GOAL}",
        ok=ratio <= GOAL,
    )


if __name__ == "__main__":
    main(figures)
