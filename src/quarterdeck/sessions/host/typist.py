"""How a prompt is typed: when the program is ready, whole as one paste, then Enter. Pure, standard library only."""

from __future__ import annotations

from quarterdeck.sessions.host.input_line import BACK, CTRL_U, ENTER, PASTE, PASTE_END

READY_SECONDS = 20.0
SETTLE_SECONDS = 0.25
"""Since its last output a program that has just become ready has started."""

QUIET_SECONDS = 0.06
TAKEN_SECONDS = 0.12
LATEST_SECONDS = 1.5
KEY_SECONDS = 0.4
"""What a key changes is drawn by then."""

AGAIN_SECONDS = 1.0
TRIES = 4
TICK_SECONDS = 0.02
MAX_KEYS = 1000

HALF_WRITTEN = (
    "somebody has written something in the terminal and not sent it; send it there, or take it back with Ctrl-C"
)
DIALOG = "a dialog is open in the terminal; answer it first"
BUSY_SHELL = "a program runs in the terminal; wait for its end, or write there"
NOT_READY = "it does not take input yet; look at its terminal"
ONE_LINE = "this shell takes one line at a time; send one line"
INTERRUPTED = "a dialog opened while the prompt was typed; it may stand in the terminal unsent: look there"
NOT_SENT = "the prompt stands in the terminal, and Enter does not send it; look there"


class Seen:
    """The terminal now. `ready`: the program takes pastes; `front`: it reads the keys itself; `status`: what it says it
    does, empty when it says nothing, and `since` when; `flushed`: all that was typed has left us; `output_at`: when it
    last wrote something."""

    __slots__ = ("flushed", "front", "half_written", "now", "output_at", "ready", "since", "status")

    def __init__(
        self,
        now: float,
        *,
        ready: bool = True,
        front: bool = True,
        status: str = "",
        since: str = "",
        half_written: bool = False,
        flushed: bool = True,
        output_at: float = 0.0,
    ) -> None:
        self.now, self.ready, self.front, self.status, self.since = now, ready, front, status, since
        self.half_written, self.flushed, self.output_at = half_written, flushed, output_at


class Refusal(Exception):
    """Why nothing was typed, or why it was not sent, in words."""


class Typist:
    """One prompt on its way. `step` says what to type now; it is `done` when the program has taken it. With `emptying`
    the line may hold something that nobody has typed: an agent that is interrupted writes the prompt back into it."""

    def __init__(self, text: bytes, *, shell: bool, emptying: bool, at: float) -> None:
        self._text, self._shell, self._emptying, self._at = text, shell, emptying and not shell, at
        self._stage = self._begin
        self._idle_since = ""
        self._tries = self._keys = 0
        self.typing = self.done = False

    def step(self, seen: Seen) -> bytes:
        """Keys to type, or none yet; Refusal when it cannot be done."""
        return self._stage(seen)

    def _begin(self, seen: Seen) -> bytes:
        if seen.half_written:
            raise Refusal(HALF_WRITTEN)
        if seen.status == "waiting":
            raise Refusal(DIALOG)
        if not seen.front:
            raise Refusal(BUSY_SHELL)
        if not self._has_started(seen):
            if seen.now - self._at < READY_SECONDS:
                return b""
            if not seen.ready:
                raise Refusal(NOT_READY)
        if self._shell and not seen.ready and b"\n" in self._text:
            raise Refusal(ONE_LINE)
        self.typing = True
        return self._press_back(seen) if self._emptying else self._paste(seen)

    def _press_back(self, seen: Seen) -> bytes:
        self._at, self._stage, self._keys = seen.now, self._empty, self._keys + 1
        return BACK

    def _empty(self, seen: Seen) -> bytes:
        """Until taking a letter back draws nothing. Every key comes alone: an agent takes several for text. One at work
        draws all the time, and has an empty line."""
        if not seen.flushed:
            self._at = seen.now
        if seen.now - self._at < KEY_SECONDS and not self._has_drawn(seen):
            return b""
        if seen.output_at <= self._at or seen.status != "idle" or self._keys >= MAX_KEYS:
            return self._paste(seen)
        self._at, self._stage = seen.now, self._next_row
        return CTRL_U

    def _next_row(self, seen: Seen) -> bytes:
        """What stood in this row is gone; the next key goes to the row above."""
        waits = not seen.flushed or (seen.now - self._at < KEY_SECONDS and not self._has_drawn(seen))
        return b"" if waits else self._press_back(seen)

    def _has_drawn(self, seen: Seen) -> bool:
        return seen.output_at > self._at and seen.now - seen.output_at >= QUIET_SECONDS

    def _paste(self, seen: Seen) -> bytes:
        self._at, self._stage = seen.now, self._enter
        return PASTE + self._text + PASTE_END if seen.ready else self._text

    def _has_started(self, seen: Seen) -> bool:
        """An agent says its status then, a shell is quiet for a while."""
        if self._shell:
            return seen.now - max(seen.output_at, self._at) >= SETTLE_SECONDS
        return seen.ready and bool(seen.status)

    def _enter(self, seen: Seen) -> bytes:
        """When the text is drawn; some draw nothing, and are waited for a little. Never into a dialog."""
        if not seen.flushed:
            self._at = seen.now
        waits = TAKEN_SECONDS if self._has_drawn(seen) else LATEST_SECONDS
        if seen.status == "waiting" and seen.now - self._at > READY_SECONDS:
            raise Refusal(INTERRUPTED)
        return b"" if seen.status == "waiting" or seen.now - self._at < waits else self._press_enter(seen)

    def _press_enter(self, seen: Seen) -> bytes:
        self._idle_since = seen.since if seen.status == "idle" and not self._text.startswith(b"/") else ""
        self._at, self._stage, self._tries = seen.now, self._leave, self._tries + 1
        return ENTER

    def _leave(self, seen: Seen) -> bytes:
        """An idle agent says that it is at work now. If it does not, it was very quick or has missed the key, and Enter
        is pressed again: where the line is empty that draws nothing."""
        waited = seen.now - self._at
        if not seen.flushed:
            return b""
        if not self._idle_since:
            self.done = seen.output_at > self._at or waited >= KEY_SECONDS
        elif seen.since != self._idle_since:
            self.done = True
        elif self._tries > 1 and seen.output_at <= self._at:
            self.done = waited >= KEY_SECONDS
        elif waited >= AGAIN_SECONDS:
            if self._tries == TRIES:
                raise Refusal(NOT_SENT)
            return self._press_enter(seen)
        return b""
