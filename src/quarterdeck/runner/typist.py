"""How a prompt is typed: when the program is ready, whole as one paste, then Enter. Pure, standard library only."""

from __future__ import annotations

from quarterdeck.runner.typed import CTRL_U, ENTER, PASTE, PASTE_END

READY_SECONDS = 20.0
SETTLE_SECONDS = 0.25
"""Since its last output a program that has just become ready has started."""

QUIET_SECONDS = 0.06
TAKEN_SECONDS = 0.12
LATEST_SECONDS = 1.5
ANSWER_SECONDS = 0.3
AGAIN_SECONDS = 1.5
TRIES = 4
TICK_SECONDS = 0.02
KEY_SECONDS = 0.08
MAX_ROWS = 500

HALF_WRITTEN = (
    "somebody has written something in the terminal and not sent it; send it there, or take it back with Ctrl-C"
)
DIALOG = "a dialog is open in the terminal; answer it first"
BUSY_SHELL = "a program runs in the terminal; wait for its end, or write there"
NOT_READY = "it does not take input yet; look at its terminal"
ONE_LINE = "this shell takes one line at a time; send one line"
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
    """One prompt on its way. `step` says what to type now; it is `done` when the program has taken it."""

    def __init__(self, text: bytes, *, shell: bool, at: float) -> None:
        self._text, self._shell, self._at = text, shell, at
        self._stage = self._begin
        self._idle_since = ""
        self._tries = self._rows = 0
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
        return self._paste(seen) if self._shell else self._empty(seen)

    def _empty(self, seen: Seen) -> bytes:
        """An agent that is interrupted writes the prompt back into its line. Each key takes one row of it away, and has
        to come alone; where the line is empty the agent draws nothing."""
        waited = seen.now - self._at
        if self._rows and not seen.flushed:
            self._at = seen.now
        elif self._rows and waited < KEY_SECONDS:
            pass
        elif self._rows and (seen.output_at <= self._at or seen.status != "idle" or self._rows >= MAX_ROWS):
            return self._paste(seen)
        else:
            self._at, self._stage, self._rows = seen.now, self._empty, self._rows + 1
            return CTRL_U
        return b""

    def _paste(self, seen: Seen) -> bytes:
        self._at, self._stage = seen.now, self._enter
        return PASTE + self._text + PASTE_END if seen.ready else self._text

    def _has_started(self, seen: Seen) -> bool:
        """One that says its status has; another one is ready and has been quiet for a while, or is a plain shell."""
        quiet = seen.now - max(seen.output_at, self._at) >= SETTLE_SECONDS
        return (seen.ready and bool(seen.status)) or (quiet and (seen.ready or self._shell))

    def _enter(self, seen: Seen) -> bytes:
        """When the text is drawn; some draw nothing, and are waited for a little. Never into a dialog."""
        if not seen.flushed:
            self._at = seen.now
        drawn = seen.output_at > self._at and seen.now - seen.output_at >= QUIET_SECONDS
        if seen.status == "waiting" or seen.now - self._at < (TAKEN_SECONDS if drawn else LATEST_SECONDS):
            return b""
        self._idle_since = seen.since if seen.status == "idle" and not self._text.startswith(b"/") else ""
        self._at, self._stage, self._tries = seen.now, self._leave, self._tries + 1
        return ENTER

    def _leave(self, seen: Seen) -> bytes:
        """An idle agent says that it is at work, or has missed the key: then the line still holds the text. Where the
        line is empty another Enter does nothing."""
        if not seen.flushed:
            return b""
        waited = seen.now - self._at
        if not self._idle_since:
            self.done = seen.output_at > self._at or waited >= ANSWER_SECONDS
        elif seen.since != self._idle_since:
            self.done = True
        elif waited >= AGAIN_SECONDS:
            if self._tries == TRIES:
                raise Refusal(NOT_SENT)
            return self._enter(seen)
        return b""
