"""Typing of a prompt: when the program is ready, all of it as one paste, then Enter. Pure, standard library only."""

from __future__ import annotations

from quarterdeck.sessions.host.input_line import BACK, CTRL_U, ENTER, PASTE, PASTE_END

READY_SECONDS = 20.0
SETTLE_SECONDS = 0.25
"""A program without output for this long after its start is ready."""

QUIET_SECONDS = 0.06
TAKEN_SECONDS = 0.12
LATEST_SECONDS = 1.5
KEY_SECONDS = 0.4
"""A program has drawn the effect of a key by then."""

CLEAR_SECONDS = 1.5
"""The same after an interrupt, when an agent may pause: text pasted too early is sent with what it wrote back."""

AGAIN_SECONDS = 1.0
TRIES = 4
TICK_SECONDS = 0.02
MAX_KEYS = 1000

HALF_WRITTEN = "there is unsent text in the terminal; send it there, or clear it with Ctrl-C"
DIALOG = "a dialog is open in the terminal; answer it first"
BUSY_SHELL = "a program runs in the terminal; wait until it ends, or type there"
NOT_READY = "the session does not accept input yet; check its terminal"
ONE_LINE = "this shell takes one line at a time; send one line"
INTERRUPTED = "a dialog opened while the prompt was typed; it may be in the terminal, unsent: check there"
NOT_SENT = "the prompt is in the terminal, and Enter does not send it; check there"


class TerminalState:
    """The terminal now. `ready`: the program accepts pastes; `front`: it reads the keys itself; `status`: the agent's
    own status, empty if unknown, and `since`: when it last changed; `flushed`: all input has been written; `output_at`:
    the time of the last output."""

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


class TypingRefusal(Exception):
    """The prompt was not typed or not sent; the message says why."""


class Typist:
    """Types one prompt. `step` returns the next keys; it is `done` when the program has accepted the prompt. With
    `clear_first` the line may hold text that no person typed: an interrupted agent writes its prompt back into it."""

    def __init__(self, text: bytes, *, shell: bool, clear_first: bool, at: float) -> None:
        self._text, self._shell, self._clear_first, self._at = text, shell, clear_first and not shell, at
        self._stage = self._begin
        self._idle_since = ""
        self._tries = self._keys = 0
        self.typing = self.done = False

    def step(self, state: TerminalState) -> bytes:
        """Keys to type, or none yet; TypingRefusal if the prompt cannot be typed."""
        return self._stage(state)

    def _begin(self, state: TerminalState) -> bytes:
        if state.half_written:
            raise TypingRefusal(HALF_WRITTEN)
        if state.status == "waiting":
            raise TypingRefusal(DIALOG)
        if not state.front:
            raise TypingRefusal(BUSY_SHELL)
        if not self._has_started(state):
            if state.now - self._at < READY_SECONDS:
                return b""
            if not state.ready:
                raise TypingRefusal(NOT_READY)
        if self._shell and not state.ready and b"\n" in self._text:
            raise TypingRefusal(ONE_LINE)
        self.typing = True
        return self._press_back(state) if self._clear_first else self._paste(state)

    def _press_back(self, state: TerminalState) -> bytes:
        self._at, self._stage, self._keys = state.now, self._empty, self._keys + 1
        return BACK

    def _empty(self, state: TerminalState) -> bytes:
        """Press Backspace until that draws nothing. Each key is sent alone, because an agent takes several at once for
        text. A busy agent draws all the time, but its line is empty."""
        if not state.flushed:
            self._at = state.now
        if state.now - self._at < CLEAR_SECONDS and not self._has_drawn(state):
            return b""
        if state.output_at <= self._at or state.status != "idle" or self._keys >= MAX_KEYS:
            return self._paste(state)
        self._at, self._stage = state.now, self._next_row
        return CTRL_U

    def _next_row(self, state: TerminalState) -> bytes:
        """Go to the row above, once the text in this row is cleared."""
        waits = not state.flushed or (state.now - self._at < CLEAR_SECONDS and not self._has_drawn(state))
        return b"" if waits else self._press_back(state)

    def _has_drawn(self, state: TerminalState) -> bool:
        return state.output_at > self._at and state.now - state.output_at >= QUIET_SECONDS

    def _paste(self, state: TerminalState) -> bytes:
        self._at, self._stage = state.now, self._enter
        return PASTE + self._text + PASTE_END if state.ready else self._text

    def _has_started(self, state: TerminalState) -> bool:
        """True once an agent has written its status, or a shell is quiet for a while."""
        if self._shell:
            return state.now - max(state.output_at, self._at) >= SETTLE_SECONDS
        return state.ready and bool(state.status)

    def _enter(self, state: TerminalState) -> bytes:
        """Press Enter when the text is drawn, or after a while, because some programs draw nothing. Never press it in a
        dialog."""
        if not state.flushed:
            self._at = state.now
        waits = TAKEN_SECONDS if self._has_drawn(state) else LATEST_SECONDS
        if state.status == "waiting" and state.now - self._at > READY_SECONDS:
            raise TypingRefusal(INTERRUPTED)
        return b"" if state.status == "waiting" or state.now - self._at < waits else self._press_enter(state)

    def _press_enter(self, state: TerminalState) -> bytes:
        self._idle_since = state.since if state.status == "idle" and not self._text.startswith(b"/") else ""
        self._at, self._stage, self._tries = state.now, self._leave, self._tries + 1
        return ENTER

    def _leave(self, state: TerminalState) -> bytes:
        """Wait until an idle agent's status changes. If it does not, the agent was very quick or missed the key, and
        Enter is pressed again: in an empty line that draws nothing."""
        waited = state.now - self._at
        if not state.flushed:
            return b""
        if not self._idle_since:
            self.done = state.output_at > self._at or waited >= KEY_SECONDS
        elif state.since != self._idle_since:
            self.done = True
        elif self._tries > 1 and state.output_at <= self._at:
            self.done = waited >= KEY_SECONDS
        elif waited >= AGAIN_SECONDS:
            if self._tries == TRIES:
                raise TypingRefusal(NOT_SENT)
            return self._press_enter(state)
        return b""
