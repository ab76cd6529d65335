"""Starts the host of a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.host_program import HOSTS, HostPrograms
from quarterdeck.sessions.launcher import LaunchSpec
from quarterdeck.sessions.pty.host_registry import HostRecord, parse_record, read_record, remove_files, runs, short_name

START_SECONDS = 15.0
MAX_ANSWER = 64 * 1024
MAX_ARGUMENT = 100 * 1024
"""The system allows no longer argument on a command line."""

TERM = "xterm-256color"


def check_start(start: StartSession) -> None:
    """Refuse a start that no terminal supports."""
    if start.attachments:
        raise Refused("a terminal takes text only; start it without attachments, or use mode sdk")
    if start.max_turns is not None:
        raise Refused("max_turns: a terminal cannot limit turns; leave it out, or use mode sdk")
    if start.tools is not None:
        raise Refused("tools: a session in a terminal has all tools of its agent; leave it out, or use mode sdk")
    if start.fork_at is not None:
        raise Refused("fork_at: a terminal forks from the end only; leave it out, or use mode sdk")
    if start.prompt is not None and start.shell:
        raise Refused("prompt: a shell starts without one; start the session without it, and send it then")
    if start.prompt is not None and len(start.prompt.encode(errors="replace")) > MAX_ARGUMENT:
        raise Refused(f"prompt: is over {MAX_ARGUMENT // 1024} KiB; start the session without it, and send it then")
    if "\0" in (start.prompt or ""):
        raise Refused("prompt: contains a NUL character; remove it")
    if not os.path.isdir(start.cwd):  # noqa: PTH112 a plain string
        raise Refused(f"{start.cwd}: is not a folder; choose another")


def find_program(program: str, spec: LaunchSpec, setting: str) -> str:
    found = shutil.which(program, path=spec.environment.get("PATH", os.defpath))
    if found is None:
        raise Refused(f"{program}: is not a program; fix {setting}")
    return found


def host_settings(
    start: StartSession, spec: LaunchSpec, program: str, size: tuple[int, int], grace_seconds: float
) -> dict[str, Any]:
    """The settings that the host reads on its stdin."""
    name = short_name(start.session_id)
    agent = AGENTS[spec.agent]
    words = [] if start.shell else agent.terminal_arguments(start, settings=spec.hooks, prompt=start.prompt)
    has_status = bool(agent.status_folder) and not start.shell
    return {
        "session_id": start.session_id,
        "started_at": start.at,
        "name": name,
        "folder": str(spec.folder),
        "argv": [program, *words],
        "cwd": start.cwd,
        "cols": start.cols or size[0],
        "rows": start.rows or size[1],
        "shell": start.shell,
        "status_folder": str(spec.config_dir / agent.status_folder) if has_status else "",
        "grace_seconds": grace_seconds,
    }


def start_host(
    settings: dict[str, Any], environment: Mapping[str, str], *, programs: HostPrograms = HOSTS, what: str = "terminal"
) -> HostRecord:
    """Start a host, and wait until its program runs. It is a child that may outlive the daemon; `wait_for_host` reaps
    it."""
    name, folder = settings["name"], Path(settings["folder"])
    command = programs.command("main.py")
    _prepare(folder, name)
    started = subprocess.Popen(  # noqa: S603 a list of words that no shell reads
        command,
        cwd="/",
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert started.stdin is not None
    assert started.stdout is not None
    assert started.stderr is not None
    with started.stdin as stdin, started.stdout as answer, started.stderr as stderr:
        stdin.write(json.dumps(settings).encode())
        stdin.close()
        found = parse_record(name, _read_answer(answer))
        if found is not None:
            started.returncode = 0  # or Popen would reap it too, in a race with wait_for_host
            return found
        started.kill()
        words = stderr.read(MAX_ANSWER).decode(errors="replace").strip().rpartition("\n")[2][-300:]
    started.wait()
    remove_files(folder, name)
    raise Refused(f"the {what} could not be started: {words or 'its host process is not responding'}")


def wait_for_host(host: ProcessId, seconds: float) -> None:
    """Wait for the end of a host, and reap it if it is a child of this process."""
    until = time.monotonic() + seconds
    while runs(host) and time.monotonic() < until:
        time.sleep(0.01)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(host.pid, os.WNOHANG)


def _read_answer(pipe: IO[bytes]) -> object:
    """The line of JSON that a host prints first."""
    line = b""
    until = time.monotonic() + START_SECONDS
    while not line.endswith(b"\n") and len(line) < MAX_ANSWER:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        part = os.read(pipe.fileno(), MAX_ANSWER) if ready else b""
        if not part:
            return None
        line += part
    try:
        return json.loads(line)
    except ValueError:
        return None


def _prepare(folder: Path, name: str) -> None:
    """Create the folder for the host's files, and remove the files of an earlier host."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = read_record(folder, name)
    if kept is not None and runs(kept.host):
        raise Refused(f"{kept.session_id} is already running; send it a prompt, or end it first")
    remove_files(folder, name)
