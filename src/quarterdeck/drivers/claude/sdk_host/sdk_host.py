"""The loop of an agent's host: moves lines between the agent and the daemon. Standard library only."""

from __future__ import annotations

import _socket
import os
import select
import signal
import time

from quarterdeck.drivers.claude.sdk_host.agent_process import AgentProcess
from quarterdeck.drivers.claude.sdk_host.daemon_link import DaemonLink
from quarterdeck.drivers.claude.sdk_host.relay import Relay
from quarterdeck.drivers.claude.sdk_host.sdk_frames import (
    ACKNOWLEDGED,
    ATTACH,
    CLEAR,
    END,
    MAX_LINE,
    PROMPT,
    STATE,
    TAKEN,
    WRITE,
    numbered_frame,
)
from quarterdeck.sessions.host.frames import BadFrame, json_frame, read_json_body
from quarterdeck.sessions.host.host_process import end_of, wait_for_program, wake_pipe
from quarterdeck.sessions.host.peer import PeerGone, accept, ancestry
from quarterdeck.sessions.host.terminal import start_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READ_BYTES = 64 * 1024
MAX_KEPT = 4 * 1024 * 1024
"""With more than this unsent or not on record, the agent has to wait: it blocks on its full pipe, and nothing is
lost."""

LAST_WORDS = 4096
GOODBYE_SECONDS = 1.0
"""How long an agent may take to exit after the end of its input."""

TOO_LARGE = b'{"type":"unreadable","why":"too_large"}'


class SdkHost:
    """The loop over the agent's pipes, the listener and the one client: a new connection replaces the one before, which
    is a daemon that has died."""

    def __init__(self, settings: dict[str, Any], agent: AgentProcess, listener: _socket.socket) -> None:
        self._settings, self._agent, self._listener = settings, agent, listener
        self._relay = Relay(settings["wait_seconds"], settings["denial"])
        self._client: DaemonLink | None = None
        self._output, self._errors, self._input = bytearray(), bytearray(), bytearray()
        self._is_skipping = False
        self._closes_input = False
        self._ended: dict[str, Any] | None = None
        self._is_ending = self._acknowledged = False
        self._terminate_at = self._forget_at = float("inf")
        self._ancestors = frozenset(ancestry(os.getppid()))
        self._wakes = wake_pipe()
        for number in (signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)

    def state(self) -> dict[str, Any]:
        """The content of the record and of a STATE frame."""
        return {
            "session_id": self._settings["session_id"],
            "host": [os.getpid(), start_time(os.getpid())],
            "child": [self._agent.pid, self._agent.start],
            "started_at": self._settings["started_at"],
            "size": [0, 0],
            "ended": self._ended,
            **self._relay.state(),
        }

    def run(self) -> None:
        """Run until the daemon has acknowledged the end, or none came for too long."""
        while not (self._ended and self._acknowledged) and time.monotonic() < self._forget_at:
            poll = select.poll()
            for descriptor, events in self._polled().items():
                poll.register(descriptor, events)
            for number, event in poll.poll(self._timeout()):
                self._handle(number, event)
            now = time.monotonic()
            if now >= self._terminate_at:
                self._terminate()
            self._relay.deny_expired(now)
            self._flush()

    def _polled(self) -> dict[int, int]:
        found = {self._listener.fileno(): select.POLLIN, self._wakes: select.POLLIN}
        if self._ended is None:
            found[self._agent.supervisor_pipe] = select.POLLIN
            if self._agent.stderr >= 0:
                found[self._agent.stderr] = select.POLLIN
            unsent = len(self._client.unsent) if self._client else 0
            if self._agent.stdout >= 0 and max(unsent, self._relay.untaken_bytes) < MAX_KEPT:
                found[self._agent.stdout] = select.POLLIN
            if self._agent.stdin >= 0 and self._input:
                found[self._agent.stdin] = select.POLLOUT
        if self._client is not None:
            found[self._client.number] = select.POLLIN | (select.POLLOUT if self._client.unsent else 0)
        return found

    def _timeout(self) -> float | None:
        """Milliseconds until the next deadline, for `poll`."""
        due = [self._terminate_at, self._forget_at, self._relay.next_deadline() or float("inf")]
        return None if min(due) == float("inf") else max(0.0, (min(due) - time.monotonic()) * 1000)

    def _handle(self, number: int, event: int) -> None:
        if number == self._agent.stdout:
            self._read_output()
        elif number == self._agent.stderr:
            self._read_errors()
        elif number == self._agent.stdin:
            self._write_input()
        elif number == self._agent.supervisor_pipe:
            self._handle_supervisor()
        elif number == self._listener.fileno():
            self._accept()
        elif number == self._wakes:
            os.read(self._wakes, 64)
            self._end()
            self._acknowledged = True
        elif self._client is not None and number == self._client.number:
            self._handle_client(self._client, event)

    def _read_output(self) -> bool:
        """Read once. False at the end of the agent's output, and when there is no more for now."""
        try:
            received = os.read(self._agent.stdout, READ_BYTES)
        except BlockingIOError:
            return False
        if not received:
            os.close(self._agent.stdout)
            self._agent.stdout = -1
            return False
        searched = len(self._output)
        self._output += received
        now, begin = time.monotonic(), 0
        while (end := self._output.find(b"\n", max(begin, searched))) >= 0:
            line = bytes(memoryview(self._output)[begin:end])
            self._relay.from_agent(TOO_LARGE if self._is_skipping else line, now)
            self._is_skipping = False
            begin = end + 1
        del self._output[:begin]
        if len(self._output) > MAX_LINE:
            self._output.clear()
            self._is_skipping = True
        return True

    def _read_errors(self) -> bool:
        try:
            received = os.read(self._agent.stderr, READ_BYTES)
        except BlockingIOError:
            return False
        if not received:
            os.close(self._agent.stderr)
            self._agent.stderr = -1
            return False
        self._errors = (self._errors + received)[-LAST_WORDS:]
        return True

    def _write_input(self) -> None:
        try:
            del self._input[: os.write(self._agent.stdin, memoryview(self._input)[:READ_BYTES])]
        except BlockingIOError:
            return
        except OSError:
            self._input.clear()  # it reads no more, and will end
        if self._closes_input and not self._input:
            self._close_input()

    def _close_input(self) -> None:
        if self._agent.stdin >= 0:
            os.close(self._agent.stdin)
            self._agent.stdin = -1

    def _handle_supervisor(self) -> None:
        code = wait_for_program(self._agent)
        while self._agent.stdout >= 0 and self._read_output():
            pass
        while self._agent.stderr >= 0 and self._read_errors():
            pass
        self._ended = end_of(code, self._errors.decode(errors="replace").strip(), was_ended=self._is_ending)
        self._close_input()
        self._terminate_at = float("inf")
        self._forget_at = time.monotonic() + self._settings["grace_seconds"]
        self._flush()
        self._send_state()

    def _end(self) -> None:
        """End the agent: first its input ends, then the supervisor terminates it, and kills whatever remains."""
        if self._ended or self._is_ending:
            return
        self._is_ending = True
        self._relay.clear()
        self._closes_input = True
        if not self._input:
            self._close_input()
        self._terminate_at = time.monotonic() + GOODBYE_SECONDS

    def _terminate(self) -> None:
        self._terminate_at = float("inf")
        os.kill(self._agent.supervisor_pid, signal.SIGTERM)

    def _accept(self) -> None:
        connection = accept(self._listener, self._ancestors)
        if connection is None:
            return
        if self._client is not None:
            self._handle_client(self._client, select.POLLIN)  # its last words may say what it has taken
        self._drop_client()
        self._client = DaemonLink(connection)
        self._client.unsent += json_frame(STATE, {**self.state(), "ended": None})  # the end comes after the last line
        self._push()

    def _handle_client(self, client: DaemonLink, event: int) -> None:
        try:
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                for letter, body in client.read():
                    self._receive(letter, body)
        except (PeerGone, BadFrame, KeyError):
            self._drop_client()

    def _receive(self, letter: bytes, body: bytes) -> None:
        relay = self._relay
        if letter == WRITE:
            relay.from_client(body)
        elif letter == PROMPT:
            request = read_json_body(body)
            relay.prompt(str(request["id"]), str(request["line"]).encode(errors="replace"))
        elif letter == TAKEN:
            relay.taken(int(read_json_body(body)["position"]))
        elif letter == ATTACH:
            relay.attach()
            self._flush()
            if self._ended:
                self._send_state()
        elif letter == CLEAR:
            relay.clear()
        elif letter == END:
            self._end()
        elif letter == ACKNOWLEDGED:
            self._acknowledged = True

    def _flush(self) -> None:
        """Pass on what the relay holds."""
        for line in self._relay.to_agent:
            if self._agent.stdin >= 0 and not self._closes_input:
                self._input += line + b"\n"
        self._relay.to_agent.clear()
        if self._client is not None:
            for letter, position, body in self._relay.to_client:
                self._client.unsent += numbered_frame(letter, position, body)
        self._relay.to_client.clear()
        if self._input and self._agent.stdin >= 0:
            self._write_input()
        self._push()

    def _push(self) -> None:
        if self._client is not None:
            try:
                self._client.push()
            except PeerGone:
                self._drop_client()

    def _send_state(self) -> None:
        """Send the state to a daemon that has all the lines before it: to another one it goes with those."""
        if self._client is not None and self._relay.is_attached:
            self._client.unsent += json_frame(STATE, self.state())
            self._push()

    def _drop_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
            self._relay.detach()
