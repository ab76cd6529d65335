"""A process tree that looks like an agent's: a shell with a sessions file as Claude Code writes it."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.daemon import Daemon, Json

OVER = "-- over --"


def started(pid: int) -> str:
    """The start time of a process, in the system's own count."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


class FakeAgent:
    """A shell that runs commands; its sessions file says that it runs `session_id`. Its children have no mark of an
    agent in their environment unless `marked`."""

    def __init__(self, daemon: Daemon, session_id: str = "s1", *, marked: bool = False) -> None:
        self.daemon, self.session_id = daemon, session_id
        mark = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session_id} if marked else {}
        home = {"QUARTERDECK_HOME": str(daemon.home), "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
        self._shell = subprocess.Popen(
            ["sh"],
            env={"PATH": os.environ["PATH"], "HOME": str(daemon.home), **home, **mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.kill9()

    @property
    def pid(self) -> int:
        return self._shell.pid

    @property
    def file(self) -> Path:
        config = self.daemon.env.get("CLAUDE_CONFIG_DIR") or self.daemon.home.with_name("claude")
        return Path(config) / "sessions" / f"{self.pid}.json"

    def says(self, status: str, **more: Any) -> Self:
        """Write the sessions file as the CLI does."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        now = int(time.time() * 1000) + 1  # whole milliseconds, and later than every hook before
        content = {"pid": self.pid, "sessionId": self.session_id, "procStart": started(self.pid), "kind": "interactive"}
        content |= {"status": status, "updatedAt": now, "statusUpdatedAt": now, **more}
        whole = self.file.with_suffix(".new")
        whole.write_text(json.dumps(content))
        whole.replace(self.file)
        return self

    def runs(self, command: str) -> str:
        """Run a command in this shell; returns its output."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command}\necho '{OVER}'\n")
        self._shell.stdin.flush()
        printed = []
        while (line := self._shell.stdout.readline()).strip() != OVER:
            assert line, "the shell has ended"
            printed.append(line)
        return "".join(printed)

    def kill9(self) -> None:
        """Kill it and every process in its session, like a closed terminal."""
        for pid in [self.pid, *_in_session(self.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._shell.wait()
        for stream in (self._shell.stdin, self._shell.stdout):
            assert stream is not None
            stream.close()


def _in_session(leader: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            found.append(int(stat.parent.name))
    return found


def allowing(daemon: Daemon, request: Json, *, then: str = "pass") -> str:
    """A Python command that allows a request with the owner's token and prints the status and the error's kind; `then`
    is a statement to run between the request and the answer."""
    body = json.dumps({"decision": "allow", "digest": request["digest"]})
    program = f"""
import os, socket
body = {body!r}
token = open({str(daemon.home / "token")!r}).read().strip()
s = socket.create_connection(("127.0.0.1", {daemon.port}))
s.sendall((f"POST /api/v1/requests/{request["request_id"]}/decision HTTP/1.1\\r\\nHost: 127.0.0.1:{daemon.port}\\r\\n"
    f"Authorization: Bearer {{token}}\\r\\nContent-Type: application/json\\r\\nContent-Length: {{len(body)}}\\r\\n"
    f"Connection: close\\r\\n\\r\\n" + body).encode())
{then}
answer = b""
while part := s.recv(65536): answer += part
print(answer.split()[1].decode(), answer.decode().rpartition('"kind":"')[2].partition('"')[0], flush=True)
"""
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(program)}"


@contextmanager
def running_elsewhere(sessions: Path, session_id: str, status: str) -> Iterator[None]:
    """A process with a sessions file that says it runs this session."""
    with subprocess.Popen(["sleep", "600"]) as process:
        note = {"sessionId": session_id, "pid": process.pid, "procStart": started(process.pid), "status": status}
        sessions.mkdir(parents=True, exist_ok=True)
        (sessions / f"{process.pid}.json").write_text(json.dumps(note))
        try:
            yield
        finally:
            process.kill()
