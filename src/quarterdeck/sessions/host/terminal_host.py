"""The loop of a terminal's host: moves bytes between the program and the clients. Standard library only."""

from __future__ import annotations

import _socket
import os
import select
import signal
import time

from quarterdeck.sessions.host.frames import (
    ACKNOWLEDGED,
    ANSWER,
    INTERRUPT,
    PROMPT,
    STATE,
    STOP,
    TYPE,
    VIEW,
    BadFrame,
    json_frame,
    read_json_body,
)
from quarterdeck.sessions.host.host_process import end_of, wait_for_program, wake_pipe
from quarterdeck.sessions.host.input_line import CTRL_C, CTRL_Z, CTRL_Z_CODED, ESCAPE, InputLine
from quarterdeck.sessions.host.output_reader import OutputReader
from quarterdeck.sessions.host.peer import Peer, PeerGone, accept, ancestry
from quarterdeck.sessions.host.replay_buffer import ReplayBuffer
from quarterdeck.sessions.host.status_file import read_status
from quarterdeck.sessions.host.terminal import Terminal, start_time
from quarterdeck.sessions.host.typist import TICK_SECONDS, TerminalState, TypingRefusal, Typist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A program that does not read its input must not make the host grow.
MAX_INPUT = 64 * 1024
PATIENCE_SECONDS = 0.1
"""How long the program waits for a viewer that is far behind, before the viewer gets the whole screen again."""

INTERRUPT_SECONDS = 0.7
"""The time between SIGINT and SIGTERM when the session ends."""

REDRAW_SECONDS = 0.1
"""How long the terminal is one row smaller, which makes the program draw its screen again."""
FAREWELL_SECONDS = 1.0
# A program may allocate a screen of this size.
MAX_SIZE = 1000


class TerminalHost:
    """The loop over the terminal and its clients."""

    def __init__(self, settings: dict[str, Any], terminal: Terminal, listener: _socket.socket) -> None:
        self._settings, self._terminal, self._listener = settings, terminal, listener
        self._shell = bool(settings["shell"])
        self._replay = ReplayBuffer()
        self._input_line = InputLine(shell=self._shell)
        self._input = bytearray()
        self._written_back = False
        self._peers: dict[int, Peer] = {}
        self._typist: tuple[Typist, Peer, str] | None = None
        self._ended: dict[str, Any] | None = None
        self._acknowledged = False
        self._output = OutputReader(terminal.master, self._replay)
        self._wake_at: dict[str, float] = {}
        self._stopping = ""
        self._ancestors = frozenset(ancestry(os.getppid()))
        self._poll = select.poll()
        self._wakes = wake_pipe()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for descriptor in (listener.fileno(), terminal.supervisor_pipe, self._wakes):
            self._poll.register(descriptor, select.POLLIN)
        self._poll_terminal()

    def state(self) -> dict[str, Any]:
        """The content of the record and of a STATE frame."""
        return {
            "session_id": self._settings["session_id"],
            "host": [os.getpid(), start_time(os.getpid())],
            "child": [self._terminal.pid, self._terminal.start],
            "socket": self._settings["name"] + ".s",
            "started_at": self._settings["started_at"],
            "size": list(self._terminal.size),
            "ended": self._ended,
        }

    def run(self) -> None:
        """Run until a client has acknowledged the end and all have received it, or no client came for too long."""
        while not (self._ended and self._acknowledged and self._all_peers_done()):
            for number, event in self._poll.poll(self._timeout()):
                self._handle(number, event)
            if self._due("forget"):
                return
            self._run_due()

    def _all_peers_done(self) -> bool:
        """True if every client has received everything; a slow one gets FAREWELL_SECONDS."""
        if all(peer.has_seen(self._replay) for peer in self._peers.values()):
            return True
        self._wake_at["forget"] = min(self._wake_at["forget"], time.monotonic() + FAREWELL_SECONDS)
        return False

    def _handle(self, number: int, event: int) -> None:
        if number == self._terminal.master:
            self._handle_terminal(event)
        elif number == self._listener.fileno():
            self._accept()
        elif number == self._terminal.supervisor_pipe:
            self._handle_supervisor()
        elif number == self._wakes:
            os.read(self._wakes, 64)
            self._stop()
            self._acknowledged = True
        elif peer := self._peers.get(number):
            self._handle_peer(peer, event)

    def _run_due(self) -> None:
        now = time.monotonic()
        if self._due("stop"):
            self._stop()
        if self._due("redraw"):
            self._terminal.resize(*self._size())
        self._step_typist(now)
        if self._output.flush(now):
            self._push_all()
        self._poll_terminal()

    def _timeout(self) -> float | None:
        """Milliseconds until the next deadline, for `poll`."""
        now = time.monotonic()
        due = list(self._wake_at.values())
        if (flush_at := self._output.flush_due_at()) is not None:
            due.append(flush_at)
        if self._typist:
            due.append(now + TICK_SECONDS)
        due += [peer.patience_until for peer in self._peers.values() if peer.patience_until > now]
        return max(0.0, (min(due) - now) * 1000) if due else None

    def _due(self, name: str) -> bool:
        if self._wake_at.get(name, float("inf")) > time.monotonic():
            return False
        del self._wake_at[name]
        return True

    def _poll_terminal(self) -> None:
        """Read the terminal unless a viewer has to catch up first; write if there is input."""
        if self._ended:
            return
        now = time.monotonic()
        waits = sum(peer.should_wait_for(self._replay, now, PATIENCE_SECONDS) for peer in self._peers.values())
        events = (0 if waits else select.POLLIN) | (select.POLLOUT if self._input else 0)
        self._poll.register(self._terminal.master, events)

    def _handle_terminal(self, event: int) -> None:
        if event & select.POLLOUT:
            try:
                del self._input[: os.write(self._terminal.master, self._input[:4096])]
            except BlockingIOError:
                pass
            except OSError:
                self._input.clear()
            self._poll_peers()
        if event & (select.POLLIN | select.POLLHUP):
            self._output.read()

    def _handle_supervisor(self) -> None:
        code = wait_for_program(self._terminal)
        self._output.drain()
        self._ended = end_of(code, self._replay.last_words(), was_ended=bool(self._stopping))
        self._poll.unregister(self._terminal.supervisor_pipe)
        self._poll.unregister(self._terminal.master)
        self._input.clear()
        self._answer("the session has ended; resume it first")
        self._wake_at = {"forget": time.monotonic() + self._settings["grace_seconds"]}
        self._send_state()

    def _stop(self) -> None:
        """Interrupt the program, a little later terminate it; the supervisor kills whatever remains."""
        if self._ended or self._stopping == "terminate":
            return
        first = not self._stopping
        self._stopping = "interrupt" if first else "terminate"
        for number in (signal.SIGINT,) if first else (signal.SIGHUP, signal.SIGTERM):
            os.kill(self._terminal.supervisor_pid, number)
        if first:
            self._wake_at["stop"] = time.monotonic() + INTERRUPT_SECONDS

    def _accept(self) -> None:
        connection = accept(self._listener, self._ancestors)
        if connection is None:
            return
        peer = Peer(connection)
        self._peers[connection.fileno()] = peer
        self._send(peer, json_frame(STATE, self.state()))

    def _handle_peer(self, peer: Peer, event: int) -> None:
        try:
            if event & select.POLLOUT:
                peer.push(self._replay)
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                for letter, body in peer.read():
                    self._receive(peer, letter, body)
            self._poll_peer(peer)
        except (PeerGone, BadFrame):
            self._drop(peer)

    def _receive(self, peer: Peer, letter: bytes, body: bytes) -> None:
        if letter == TYPE:
            peer.types = True
            self._type_keys(body)
        elif letter == VIEW:
            self._view(peer, read_json_body(body))
        elif letter == PROMPT:
            self._prompt(peer, read_json_body(body))
        elif letter == INTERRUPT:
            self._input += CTRL_C if self._shell else ESCAPE
            self._written_back = True
        elif letter == STOP:
            self._stop()
        elif letter == ACKNOWLEDGED:
            self._acknowledged = True

    def _type_keys(self, keys: bytes) -> None:
        """Type a person's keys. While a dialog is open they answer it, and are not part of a line. Ctrl-Z is removed
        for an agent: there is no shell to continue it."""
        if self._ended:
            return
        if not self._shell:
            keys = keys.replace(CTRL_Z, b"").replace(CTRL_Z_CODED, b"")
        waiting = self._status()[0] == "waiting"
        self._written_back = self._written_back or waiting or ESCAPE in keys
        if not waiting:
            self._input_line.feed(keys)
        self._input += keys

    def _view(self, peer: Peer, request: dict[str, Any]) -> None:
        cols, rows = (min(MAX_SIZE, n) if isinstance(n := request.get(key), int) else 0 for key in ("cols", "rows"))
        peer.size = (cols, rows) if cols > 0 and rows > 0 else None
        self._resize_to_viewers()
        if not peer.is_viewer and peer.show(self._replay) and self._terminal.size[1] > 1 and not self._ended:
            cols, rows = self._terminal.size
            self._terminal.resize(cols, rows - 1)
            self._terminal.size = (cols, rows)
            self._wake_at["redraw"] = time.monotonic() + REDRAW_SECONDS
        peer.push(self._replay)

    def _size(self) -> tuple[int, int]:
        """The size of the smallest viewer; without viewers it stays."""
        sizes = [peer.size for peer in self._peers.values() if peer.size]
        return (min(cols for cols, _ in sizes), min(rows for _, rows in sizes)) if sizes else self._terminal.size

    def _resize_to_viewers(self) -> None:
        if self._size() != self._terminal.size and not self._ended:
            self._terminal.resize(*self._size())
            self._send_state()

    def _prompt(self, peer: Peer, request: dict[str, Any]) -> None:
        name, text = str(request.get("id")), str(request.get("text")).encode(errors="replace")
        error = (
            "the session has ended; resume it first"
            if self._ended
            else "another prompt is being typed; try again"
            if self._typist
            else ""
        )
        if error:
            self._send(peer, json_frame(ANSWER, {"id": name, "error": error}))
            return
        typist = Typist(text, shell=self._shell, clear_first=self._written_back, at=time.monotonic())
        self._typist = (typist, peer, name)

    def _step_typist(self, now: float) -> None:
        if self._typist is None:
            return
        typist = self._typist[0]
        ready = self._replay.modes.get(b"2004", False)
        front = self._terminal.is_in_foreground() or not self._shell
        status, since = self._status()
        seen = TerminalState(
            now,
            ready=ready,
            front=front,
            status=status,
            since=since,
            half_written=self._input_line.half_written,
            flushed=not self._input,
            output_at=self._output.read_at,
        )
        try:
            self._input += typist.step(seen)
        except TypingRefusal as refusal:
            self._answer(str(refusal))
        else:
            if typist.done:
                self._written_back = False
                self._answer(None)
            if typist.done or typist.typing:
                self._poll_peers()

    def _answer(self, error: str | None) -> None:
        if self._typist is not None:
            _, peer, name = self._typist
            self._typist = None
            self._send(peer, json_frame(ANSWER, {"id": name, "error": error}))
            self._poll_peers()

    def _status(self) -> tuple[str, str]:
        """The agent's status in its own process file, and the time of its last change; empty if unknown."""
        folder = self._settings["status_folder"]
        return read_status(f"{folder}/{self._terminal.pid}.json") if folder else ("", "")

    def _send(self, peer: Peer, words: bytes = b"") -> None:
        """Send these words after the output so far."""
        try:
            peer.push(self._replay)
            if words:
                peer.queue(words)
                peer.push(self._replay)
            self._poll_peer(peer)
        except PeerGone:
            self._drop(peer)

    def _send_state(self) -> None:
        for peer in list(self._peers.values()):
            self._send(peer, json_frame(STATE, self.state()))

    def _push_all(self) -> None:
        for peer in list(self._peers.values()):
            if peer.is_viewer and not peer.blocked:
                self._send(peer)

    def _poll_peers(self) -> None:
        for peer in self._peers.values():
            self._poll_peer(peer)

    def _poll_peer(self, peer: Peer) -> None:
        """Read from a client, except from one that types while too much input is queued, or from a viewer while a
        prompt is being typed and no dialog is open. A client that only sends commands is always read: an end must
        arrive."""
        typing = self._typist is not None and self._typist[0].typing and self._status()[0] != "waiting"
        full = len(self._input) > MAX_INPUT and peer.types
        events = 0 if full or (typing and peer.is_viewer) else select.POLLIN
        if events | peer.blocked != peer.polled_events:
            peer.polled_events = events | peer.blocked
            self._poll.register(peer.number, peer.polled_events)

    def _drop(self, peer: Peer) -> None:
        if self._peers.pop(peer.number, None):
            self._poll.unregister(peer.number)
            peer.close()
            self._resize_to_viewers()
