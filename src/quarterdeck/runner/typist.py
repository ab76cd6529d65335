"""How a prompt is typed: when the program is ready, whole as one paste, then Enter. Pure, standard library only."""

from __future__ import annotations

from quarterdeck.runner.typed import CTRL_U, ENTER, PASTE, PASTE_END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Seen(NamedTuple):
        """The terminal now: `ready` when the program takes pastes, `front` when it is the one who reads the keys,
        `status` what it says of itself (empty: nothing), `flushed` when it has taken all that was typed, `output_at`
        when it last wrote something."""

        now: float
        ready: bool
        front: bool
        status: str
        half_written: bool
        flushed: bool
        output_at: float
else:
    from collections import namedtuple

    Seen = namedtuple("Seen", "now ready front status half_written flushed output_at")

READY_SECONDS = 20.0
SETTLE_SECONDS = 0.25
"""Since its last output a program that has just become ready has started."""

QUIET_SECONDS = 0.06
TAKEN_SECONDS = 0.12
LATEST_SECONDS = 1.5
TICK_SECONDS = 0.02

HALF_WRITTEN = (
    "somebody has written something in the terminal and not sent it; send it there, or take it back with Ctrl-C"
)
DIALOG = "a dialog is open in the terminal; answer it first"
BUSY_SHELL = "a program runs in the terminal; wait for its end, or write there"
NOT_READY = "it does not take input yet; look at its terminal"
ONE_LINE = "this shell takes one line at a time; send one line"


class Refusal(Exception):
    """Why nothing was typed, in words."""


class Typist:
    """One prompt on its way. `step` says what to type now; it is `done` when the program has answered the last key."""

    def __init__(self, text: bytes, *, shell: bool, at: float) -> None:
        self._text, self._shell, self._began = text, shell, at
        self._pasted_at: float | None = None
        self._entered_at: float | None = None
        self.done = False

    @property
    def alone(self) -> bool:
        """Whether nobody else may type now: the text is there and not yet sent."""
        return self._pasted_at is not None and not self.done

    def step(self, seen: Seen) -> bytes:
        """Keys to type, or none yet. Refusal before anything was typed, never after."""
        if self._pasted_at is None:
            return self._paste(seen)
        if self._entered_at is not None:
            self.done = seen.flushed and (seen.output_at > self._entered_at or self._waited(seen) > SETTLE_SECONDS)
            return b""
        if not seen.flushed:
            self._pasted_at = seen.now
            return b""
        return b"" if seen.status == "waiting" or not self._is_taken(seen) else self._enter(seen)

    def _waited(self, seen: Seen) -> float:
        return seen.now - (self._entered_at or self._pasted_at or self._began)

    def _is_taken(self, seen: Seen) -> bool:
        """Whether the program has drawn the text; some draw nothing, and are waited for a little."""
        drawn = seen.output_at > (self._pasted_at or 0.0) and seen.now - seen.output_at >= QUIET_SECONDS
        return self._waited(seen) >= (TAKEN_SECONDS if drawn else LATEST_SECONDS)

    def _enter(self, seen: Seen) -> bytes:
        self._entered_at = seen.now
        return ENTER

    def _paste(self, seen: Seen) -> bytes:
        if seen.half_written:
            raise Refusal(HALF_WRITTEN)
        if seen.status == "waiting":
            raise Refusal(DIALOG)
        if not seen.front:
            raise Refusal(BUSY_SHELL)
        if self._shell and not seen.ready:
            return self._line(seen)
        started = seen.ready and (seen.status or seen.now - self._began > SETTLE_SECONDS)
        if not started or seen.now - seen.output_at < self._settle(seen):
            if seen.now - self._began < READY_SECONDS:
                return b""
            if not seen.ready:
                raise Refusal(NOT_READY)
        self._pasted_at = seen.now
        return (b"" if self._shell else CTRL_U) + PASTE + self._text + PASTE_END

    def _settle(self, seen: Seen) -> float:
        """A program that says its status has long started; it may write all the time."""
        return 0.0 if seen.status else SETTLE_SECONDS

    def _line(self, seen: Seen) -> bytes:
        """A shell that knows no pastes."""
        if b"\n" in self._text:
            raise Refusal(ONE_LINE)
        self._pasted_at = seen.now
        return self._text
