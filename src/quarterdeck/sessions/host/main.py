"""One terminal's small process: keeps its screen and its program while daemons come and go.

    python -I -S host.py < settings.json

with session_id, started_at; name and folder, of its files; argv, cwd, cols, rows; shell, whether it is one;
status_folder, of the program's own sessions files; grace_seconds; files, to remove at the end. One line of JSON on
stdout answers when the program runs.

Standard library only. It writes a note `<name>.json` into its folder, which says which process it is and which program
it keeps, and listens on the socket `<name>.s` there, to its own user alone; the frames are in frames.py. What the
terminal shows goes into a ring as fast as it comes; who looks has a place in it, and who falls too far behind is shown
the screen anew. Between it and the program stands a keeper (keeper.py): when either of the two dies, the other ends all
that the program started. It ends when the end of the program was heard, or `grace_seconds` later.
"""

from __future__ import annotations

import _socket
import json
import os
import select
import signal
import sys
import time

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from quarterdeck.sessions.host import supervisor as keeper
from quarterdeck.sessions.host.frames import (
    ANSWER,
    INTERRUPT,
    PROMPT,
    STATE,
    STOP,
    TAKEN,
    TYPE,
    VIEW,
    BadFrame,
    note,
    read_note,
)
from quarterdeck.sessions.host.input_line import CTRL_C, CTRL_Z, CTRL_Z_CODED, ESCAPE, Line
from quarterdeck.sessions.host.peer import Gone, Peer, line_of, may_speak
from quarterdeck.sessions.host.replay_buffer import Ring
from quarterdeck.sessions.host.terminal import Terminal, read_line, start_of, tell
from quarterdeck.sessions.host.typist import TICK_SECONDS, Refusal, Seen, Typist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLUSH_SECONDS = 0.008
FLUSH_BYTES = READ_BYTES = 64 * 1024
FULL_READ = 4000

MAX_INPUT = 64 * 1024
PATIENCE_SECONDS = 0.1
"""So long the program waits for one who looks and is far behind, before he is shown the screen anew."""

INTERRUPT_SECONDS = 0.7
"""Between the interrupt and the terminate of an end."""

NUDGE_SECONDS = 0.1
FAREWELL_SECONDS = 1.0
MOST = 1000
MAX_STATUS = 64 * 1024


class Host:
    """The loop over the terminal and all who look at it."""

    def __init__(self, settings: dict[str, Any], terminal: Terminal, listener: _socket.socket) -> None:
        self._settings, self._terminal, self._listener = settings, terminal, listener
        self._shell = bool(settings["shell"])
        self._ring = Ring()
        self._line = Line(shell=self._shell)
        self._input = bytearray()
        self._written_back = False
        self._peers: dict[int, Peer] = {}
        self._typist: tuple[Typist, Peer, str] | None = None
        self._ended: dict[str, Any] | None = None
        self._taken = False
        self._output_at = self._flushed_at = self._flushed_to = 0.0
        self._wake_at: dict[str, float] = {}
        self._stopping = ""
        self._ancestors = frozenset(line_of(os.getppid()))
        self._poll, self._more = select.poll(), select.poll()
        self._more.register(terminal.master, select.POLLIN)
        self._wakes, waking = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(waking, b"."))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for ours in (listener.fileno(), terminal.keeper_says, self._wakes):
            self._poll.register(ours, select.POLLIN)
        self._mind_terminal()

    def state(self) -> dict[str, Any]:
        """What the note says, and a STATE frame."""
        return {
            "session_id": self._settings["session_id"],
            "host": [os.getpid(), start_of(os.getpid())],
            "child": [self._terminal.pid, self._terminal.start],
            "socket": self._settings["name"] + ".s",
            "started_at": self._settings["started_at"],
            "size": list(self._terminal.size),
            "ended": self._ended,
        }

    def run(self) -> None:
        """Until the end was heard of and all have seen it, or nobody asked for too long."""
        while not (self._ended and self._taken and self._all_saw()):
            for number, event in self._poll.poll(self._timeout()):
                self._turn(number, event)
            if self._due("forget"):
                return
            self._work()

    def _all_saw(self) -> bool:
        """Or have had a little time for it."""
        if all(peer.has_seen(self._ring) for peer in self._peers.values()):
            return True
        self._wake_at["forget"] = min(self._wake_at["forget"], time.monotonic() + FAREWELL_SECONDS)
        return False

    def _turn(self, number: int, event: int) -> None:
        if number == self._terminal.master:
            self._terminal_turn(event)
        elif number == self._listener.fileno():
            self._accept()
        elif number == self._terminal.keeper_says:
            self._keeper_turn()
        elif number == self._wakes:
            os.read(self._wakes, 64)
            self._stop()
            self._taken = True
        elif peer := self._peers.get(number):
            self._peer_turn(peer, event)

    def _work(self) -> None:
        now = time.monotonic()
        if self._due("stop"):
            self._stop()
        if self._due("nudge"):
            self._terminal.resize(*self._size())
        self._type(now)
        if self._ring.end > self._flushed_to and (
            now - self._flushed_at >= FLUSH_SECONDS or self._ring.end - self._flushed_to >= FLUSH_BYTES
        ):
            self._flushed_at, self._flushed_to = now, self._ring.end
            self._push_all()
        self._mind_terminal()

    def _timeout(self) -> float | None:
        """Milliseconds until something is due."""
        now = time.monotonic()
        due = list(self._wake_at.values())
        if self._ring.end > self._flushed_to:
            due.append(self._flushed_at + FLUSH_SECONDS)
        if self._typist:
            due.append(now + TICK_SECONDS)
        due += [peer.patience_until for peer in self._peers.values() if peer.patience_until > now]
        return max(0.0, (min(due) - now) * 1000) if due else None

    def _due(self, name: str) -> bool:
        if self._wake_at.get(name, float("inf")) > time.monotonic():
            return False
        del self._wake_at[name]
        return True

    def _mind_terminal(self) -> None:
        """Read it unless one who looks is to catch up first; write when something is to be written."""
        if self._ended:
            return
        now = time.monotonic()
        waits = sum(peer.is_awaited(self._ring, now, PATIENCE_SECONDS) for peer in self._peers.values())
        events = (0 if waits else select.POLLIN) | (select.POLLOUT if self._input else 0)
        self._poll.register(self._terminal.master, events)

    def _terminal_turn(self, event: int) -> None:
        if event & select.POLLOUT:
            try:
                del self._input[: os.write(self._terminal.master, self._input[:4096])]
            except BlockingIOError:
                pass
            except OSError:
                self._input.clear()
            self._mind_all()
        if event & (select.POLLIN | select.POLLHUP):
            self._read()

    def _read(self) -> None:
        """All there is. While much comes, also what comes until it is time to show it: a read gives 4 KiB at most."""
        master, ring, began = self._terminal.master, self._ring, self._ring.end
        until = self._flushed_at + FLUSH_SECONDS
        try:
            while ring.end - self._flushed_to < FLUSH_BYTES:
                if not (count := os.readv(master, [ring.room(READ_BYTES)])):
                    break
                ring.took(count)
                if count < FULL_READ:
                    left = until - time.monotonic()
                    if left <= 0 or not self._more.poll(left * 1000):
                        break
        except OSError:
            pass
        if ring.end > began:
            self._output_at = time.monotonic()

    def _keeper_turn(self) -> None:
        """It tells the program's status when everything has ended; when it dies itself, the rest falls to us."""
        said = read_line(self._terminal.keeper_says)
        self._poll.unregister(self._terminal.keeper_says)
        status = int(said) if said else int(signal.SIGKILL)
        os.waitpid(self._terminal.keeper, 0)
        if not said:
            keeper.listen()
            keeper.end_all()
        while self._drain():
            pass
        code = os.waitstatus_to_exitcode(status)
        self._ended = {
            "code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "reason": "ended" if self._stopping else "exited",
            "at": time.time(),
            "last_words": self._ring.last_words(),
        }
        self._poll.unregister(self._terminal.master)
        self._input.clear()
        self._answer("it has ended")
        self._wake_at = {"forget": time.monotonic() + self._settings["grace_seconds"]}
        self._tell_state()

    def _drain(self) -> bool:
        before = self._flushed_to = self._ring.end
        self._read()
        return self._ring.end > before

    def _stop(self) -> None:
        """Interrupt, a little later terminate; the keeper kills what stays."""
        if self._ended or self._stopping == "terminate":
            return
        first = not self._stopping
        self._stopping = "interrupt" if first else "terminate"
        for number in (signal.SIGINT,) if first else (signal.SIGHUP, signal.SIGTERM):
            os.kill(self._terminal.keeper, number)
        if first:
            self._wake_at["stop"] = time.monotonic() + INTERRUPT_SECONDS

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener._accept()  # type: ignore[attr-defined] # the part of `accept` that is C
        except OSError:
            return
        connection = _socket.socket(fileno=accepted)
        if not may_speak(connection, self._ancestors):
            connection.close()
            return
        peer = Peer(connection)
        self._peers[connection.fileno()] = peer
        self._tell(peer, note(STATE, self.state()))

    def _peer_turn(self, peer: Peer, event: int) -> None:
        try:
            if event & select.POLLOUT:
                peer.push(self._ring)
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                for letter, body in peer.read():
                    self._hear(peer, letter, body)
            self._mind(peer)
        except (Gone, BadFrame):
            self._drop(peer)

    def _hear(self, peer: Peer, letter: bytes, body: bytes) -> None:
        if letter == TYPE:
            peer.types = True
            self._typed(body)
        elif letter == VIEW:
            self._view(peer, read_note(body))
        elif letter == PROMPT:
            self._prompt(peer, read_note(body))
        elif letter == INTERRUPT:
            self._input += CTRL_C if self._shell else ESCAPE
            self._written_back = True
        elif letter == STOP:
            self._stop()
        elif letter == TAKEN:
            self._taken = True

    def _typed(self, keys: bytes) -> None:
        """What somebody types. While a dialog is open it is the answer to that, and no line. An agent that was sent to
        the background nobody could bring back."""
        if self._ended:
            return
        if not self._shell:
            keys = keys.replace(CTRL_Z, b"").replace(CTRL_Z_CODED, b"")
        waiting = self._status()[0] == "waiting"
        self._written_back = self._written_back or waiting or ESCAPE in keys
        if not waiting:
            self._line.feed(keys)
        self._input += keys

    def _view(self, peer: Peer, asked: dict[str, Any]) -> None:
        cols, rows = (min(MOST, n) if isinstance(n := asked.get(key), int) else 0 for key in ("cols", "rows"))
        peer.size = (cols, rows) if cols > 0 and rows > 0 else None
        self._fit()
        if not peer.looks and peer.show(self._ring) and self._terminal.size[1] > 1 and not self._ended:
            cols, rows = self._terminal.size
            self._terminal.resize(cols, rows - 1)
            self._terminal.size = (cols, rows)
            self._wake_at["nudge"] = time.monotonic() + NUDGE_SECONDS
        peer.push(self._ring)

    def _size(self) -> tuple[int, int]:
        """The smallest of all who look; without any it stays."""
        sizes = [peer.size for peer in self._peers.values() if peer.size]
        return (min(cols for cols, _ in sizes), min(rows for _, rows in sizes)) if sizes else self._terminal.size

    def _fit(self) -> None:
        if self._size() != self._terminal.size and not self._ended:
            self._terminal.resize(*self._size())
            self._tell_state()

    def _prompt(self, peer: Peer, asked: dict[str, Any]) -> None:
        name, text = str(asked.get("id")), str(asked.get("text")).encode(errors="replace")
        trouble = "it has ended" if self._ended else "another prompt is being typed; try again" if self._typist else ""
        if trouble:
            self._tell(peer, note(ANSWER, {"id": name, "error": trouble}))
            return
        typist = Typist(text, shell=self._shell, emptying=self._written_back, at=time.monotonic())
        self._typist = (typist, peer, name)

    def _type(self, now: float) -> None:
        if self._typist is None:
            return
        typist = self._typist[0]
        ready = self._ring.modes.get(b"2004", False)
        front = self._terminal.in_front() or not self._shell
        status, since = self._status()
        seen = Seen(
            now,
            ready=ready,
            front=front,
            status=status,
            since=since,
            half_written=self._line.half_written,
            flushed=not self._input,
            output_at=self._output_at,
        )
        try:
            self._input += typist.step(seen)
        except Refusal as refusal:
            self._answer(str(refusal))
        else:
            if typist.done:
                self._written_back = False
                self._answer(None)
            if typist.done or typist.typing:
                self._mind_all()

    def _answer(self, error: str | None) -> None:
        if self._typist is not None:
            _, peer, name = self._typist
            self._typist = None
            self._tell(peer, note(ANSWER, {"id": name, "error": error}))
            self._mind_all()

    def _status(self) -> tuple[str, str]:
        """What the program's own sessions file says, and since when; empty when it says nothing."""
        folder = self._settings["status_folder"]
        return read_status(f"{folder}/{self._terminal.pid}.json") if folder else ("", "")

    def _tell(self, peer: Peer, words: bytes) -> None:
        try:
            peer.push(self._ring)
            peer.tell(words)
            peer.push(self._ring)
            self._mind(peer)
        except Gone:
            self._drop(peer)

    def _tell_state(self) -> None:
        for peer in list(self._peers.values()):
            self._tell(peer, note(STATE, self.state()))

    def _push_all(self) -> None:
        for peer in list(self._peers.values()):
            if peer.looks and not peer.blocked:
                try:
                    peer.push(self._ring)
                    self._mind(peer)
                except Gone:
                    self._drop(peer)

    def _mind_all(self) -> None:
        for peer in self._peers.values():
            self._mind(peer)

    def _mind(self, peer: Peer) -> None:
        """Hear it, unless it types and too much waits to be typed, or looks while a prompt is just being typed and no
        dialog is in its way. Whoever only orders is always heard: an end must come through."""
        alone = self._typist is not None and self._typist[0].typing and self._status()[0] != "waiting"
        full = len(self._input) > MAX_INPUT and peer.types
        events = 0 if full or (alone and peer.looks) else select.POLLIN
        if events | peer.blocked != peer.minded:
            peer.minded = events | peer.blocked
            self._poll.register(peer.number, peer.minded)

    def _drop(self, peer: Peer) -> None:
        if self._peers.pop(peer.number, None):
            self._poll.unregister(peer.number)
            peer.close()
            self._fit()


def read_status(path: str) -> tuple[str, str]:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "", ""
    try:
        said = json.loads(os.read(file, MAX_STATUS))
        return str(said.get("status", "")), str(said.get("statusUpdatedAt", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        return "", ""
    finally:
        os.close(file)


def listen(name: str) -> _socket.socket:
    """In the folder that we are in, for our user alone."""
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    forget(name)
    listener.bind(name)
    os.chmod(name, 0o600)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def write_note(name: str, said: dict[str, Any]) -> None:
    """Whole or not at all."""
    file = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.write(file, json.dumps(said).encode())
    os.close(file)
    os.rename(f"{name}.new", name)


def forget(*files: str) -> None:
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            pass


def main() -> None:
    with open(0, "rb", closefd=False) as given:
        settings: dict[str, Any] = json.loads(given.read())
    name = settings["name"]
    os.umask(0o077)
    os.chdir(settings["folder"])
    answer = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    keeper.close_others(answer)
    keeper.prctl(keeper.PR_SET_CHILD_SUBREAPER, 1)
    listener = listen(f"{name}.s")
    try:
        host = Host(settings, Terminal(settings), listener)
        write_note(f"{name}.json", host.state())
        tell(answer, json.dumps(host.state()))
        os.close(answer)
        os.dup2(0, 2)
        host.run()
    finally:
        forget(f"{name}.s", f"{name}.json")


if __name__ == "__main__":
    main()
