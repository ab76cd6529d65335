"""The parts that every host has: settings, socket, record, and the end of its program. Standard library only."""

from __future__ import annotations

import _socket
import json
import os
import signal
import time

from quarterdeck.sessions.host import supervisor
from quarterdeck.sessions.host.terminal import read_line, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Host(Protocol):
        """A host that keeps one program."""

        def state(self) -> dict[str, Any]: ...

        def run(self) -> None: ...

    class HostedProgram(Protocol):
        """A program below its supervisor."""

        supervisor_pid: int
        supervisor_pipe: int


def listen(name: str) -> _socket.socket:
    """Listen on a socket in the current folder, for this user only."""
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    remove_files(name)
    listener.bind(name)
    os.chmod(name, 0o600)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def write_record(name: str, state: dict[str, Any]) -> None:
    """Write the record atomically."""
    file = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.write(file, json.dumps(state).encode())
    os.close(file)
    os.rename(f"{name}.new", name)


def remove_files(*files: str) -> None:
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            pass


def serve(make: Callable[[dict[str, Any], _socket.socket], Host]) -> None:
    """Read the settings, start the program and its host, and run the host to its end."""
    with open(0, "rb", closefd=False) as stdin:
        settings: dict[str, Any] = json.loads(stdin.read())
    name = settings["name"]
    os.umask(0o077)
    os.chdir(settings["folder"])
    answer = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    supervisor.close_others(answer)
    supervisor.prctl(supervisor.PR_SET_CHILD_SUBREAPER, 1)
    listener = listen(f"{name}.s")
    try:
        host = make(settings, listener)
        write_record(f"{name}.json", host.state())
        write_line(answer, json.dumps(host.state()))
        os.close(answer)
        os.dup2(0, 2)
        host.run()
    finally:
        remove_files(f"{name}.s", f"{name}.json")


def wake_pipe() -> int:
    """A pipe that can be read after a SIGTERM or SIGINT."""
    reader, writer = os.pipe()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.write(writer, b"."))
    return reader


def wait_for_program(program: HostedProgram) -> int:
    """The program's exit code, or its signal below zero: the supervisor writes it when everything has ended. If the
    supervisor itself died, the host ends the rest."""
    line = read_line(program.supervisor_pipe)
    os.waitpid(program.supervisor_pid, 0)
    if not line:
        supervisor.block_signals()
        supervisor.end_all()
    return os.waitstatus_to_exitcode(int(line) if line else int(signal.SIGKILL))


def end_of(code: int, last_words: str, *, was_ended: bool) -> dict[str, Any]:
    """The end of a program as its record tells it."""
    return {
        "code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "reason": "ended" if was_ended else "exited",
        "at": time.time(),
        "last_words": last_words,
    }
