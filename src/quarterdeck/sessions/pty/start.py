"""Starts the host of a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from quarterdeck.agents.claude.launch_args import terminal_arguments
from quarterdeck.core.engine.session_messages import Start
from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Kit
from quarterdeck.sessions.pty.host_registry import Note, name_of, read_note, read_state, runs, sweep

HOST = str(Path(__file__).parent.parent / "host" / "main.py")
START_SECONDS = 15.0
MAX_ANSWER = 64 * 1024
MAX_ARGUMENT = 100 * 1024
"""The system takes no longer word on a command line."""

TERM = "xterm-256color"


def check(start: Start) -> None:
    """Refuse what no terminal can do."""
    if start.attachments:
        raise Refused("a terminal takes text only; start it without attachments, or use mode sdk")
    if start.max_turns is not None:
        raise Refused("max_turns: a terminal has no limit of turns; leave it out, or use mode sdk")
    if start.fork_at is not None:
        raise Refused("fork_at: a terminal forks from the end only; leave it out, or use mode sdk")
    if start.prompt is not None and start.shell:
        raise Refused("prompt: a shell is started without one; send it then")
    if start.prompt is not None and len(start.prompt.encode(errors="replace")) > MAX_ARGUMENT:
        raise Refused(f"prompt: is over {MAX_ARGUMENT // 1024} KiB; start the session without it, and send it then")
    if "\0" in (start.prompt or ""):
        raise Refused("prompt: holds a NUL character; leave it out")
    if not os.path.isdir(start.cwd):  # noqa: PTH112 a plain string
        raise Refused(f"{start.cwd}: is not a folder; choose another")


def find(program: str, kit: Kit, setting: str) -> str:
    found = shutil.which(program, path=kit.environment.get("PATH", os.defpath))
    if found is None:
        raise Refused(f"{program}: is not a program; mend {setting}")
    return found


def host_settings(start: Start, kit: Kit, program: str, size: tuple[int, int], grace_seconds: float) -> dict[str, Any]:
    """What host.py reads on its stdin."""
    name = name_of(start.session_id)
    words = [] if start.shell else terminal_arguments(start, settings=kit.hooks, prompt=start.prompt)
    return {
        "session_id": start.session_id,
        "started_at": start.at,
        "name": name,
        "folder": str(kit.folder),
        "argv": [program, *words],
        "cwd": start.cwd,
        "cols": start.cols or size[0],
        "rows": start.rows or size[1],
        "shell": start.shell,
        "status_folder": "" if start.shell else str(kit.config_dir / "sessions"),
        "grace_seconds": grace_seconds,
    }


def start_host(kit: Kit, settings: dict[str, Any]) -> Note:
    """Start one, and wait until its program runs. It is our child, for `reap` to wait for, and may outlive us."""
    name = settings["name"]
    _prepare(kit, name)
    started = subprocess.Popen(  # noqa: S603 a list of words that no shell reads
        [sys.executable, "-I", "-S", HOST],
        cwd="/",
        env={"TERM": TERM, **kit.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert started.stdin is not None
    assert started.stdout is not None
    assert started.stderr is not None
    with started.stdin as given, started.stdout as answer, started.stderr as trouble:
        given.write(json.dumps(settings).encode())
        given.close()
        found = read_state(name, _answer(answer))
        if found is not None:
            started.returncode = 0  # Popen would wait for it where we do
            return found
        started.kill()
        words = trouble.read(MAX_ANSWER).decode(errors="replace").strip().rpartition("\n")[2][-300:]
    started.wait()
    sweep(kit.folder, name)
    raise Refused(f"the terminal could not be started: {words or 'its host does not answer'}")


def reap(host: ProcessId, seconds: float) -> None:
    """Wait for the end of a host, as its parent where we are that."""
    until = time.monotonic() + seconds
    while runs(host) and time.monotonic() < until:
        time.sleep(0.01)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(host.pid, os.WNOHANG)


def _answer(pipe: IO[bytes]) -> object:
    """The one line of JSON that a host says at first."""
    said = b""
    until = time.monotonic() + START_SECONDS
    while not said.endswith(b"\n") and len(said) < MAX_ANSWER:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        part = os.read(pipe.fileno(), MAX_ANSWER) if ready else b""
        if not part:
            return None
        said += part
    try:
        return json.loads(said)
    except ValueError:
        return None


def _prepare(kit: Kit, name: str) -> None:
    """A folder for the host's files, with none of another one in it."""
    kit.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = read_note(kit.folder, name)
    if kept is not None and runs(kept.host):
        raise Refused(f"{kept.session_id} runs already; send it a prompt, or end it first")
    sweep(kit.folder, name)
