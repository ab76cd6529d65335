"""The agent below its supervisor, and its pipes. Standard library only."""

from __future__ import annotations

import os

from quarterdeck.sessions.host import supervisor
from quarterdeck.sessions.host.terminal import read_line, start_time, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

GRACE_SECONDS = 1.0
"""How long an agent may take to exit after a SIGTERM."""


class AgentProcess:
    """An agent that reads lines from `stdin` and writes lines to `stdout`. The supervisor writes its status to
    `supervisor_pipe` when everything that it started has ended."""

    def __init__(self, settings: dict[str, Any]) -> None:
        agent_stdin, self.stdin = os.pipe()
        self.stdout, agent_stdout = os.pipe()
        self.stderr, agent_stderr = os.pipe()
        self.supervisor_pipe, status_pipe = os.pipe()
        host = os.getpid()
        self.supervisor_pid = os.fork()
        if not self.supervisor_pid:
            _supervise(settings, host, (agent_stdin, agent_stdout, agent_stderr), status_pipe)
        for descriptor in (agent_stdin, agent_stdout, agent_stderr, status_pipe):
            os.close(descriptor)
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        pid, self.start = read_line(self.supervisor_pipe).split()
        self.pid = int(pid)


def _supervise(settings: dict[str, Any], host: int, pipes: tuple[int, int, int], status_pipe: int) -> NoReturn:
    try:
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        supervisor.close_others(status_pipe)
        status = supervisor.supervise(
            lambda: _execute(settings),
            die_with=host,
            grace_seconds=GRACE_SECONDS,
            wake=False,
            started=lambda child: write_line(status_pipe, f"{child} {start_time(child)}"),
        )
        write_line(status_pipe, str(status))
    finally:
        os._exit(0)


def _execute(settings: dict[str, Any]) -> NoReturn:
    try:
        os.chdir(settings["cwd"])
    except OSError as error:
        os.write(2, f"{settings['cwd']}: {error.strerror}\n".encode())
        os._exit(126)
    supervisor.execute(settings["argv"])
