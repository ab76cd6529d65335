"""The common shape of dialogs: a box over the bridge that says what is decided, and closes with Escape."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.widgets import Static

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS, Asked
from quarterdeck.surfaces.text.labels import about, outcome
from quarterdeck.surfaces.tui.widgets.footer import Keys

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

R = TypeVar("R")


class Dialog(ModalScreen[R | None]):
    """Ends with what was chosen, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", priority=True)]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (28, "-tall")]
    heading = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="box", can_focus=False) as box:
            box.border_title = Content(self.heading)
            yield from self.inside()
            yield Static("", classes="trouble", markup=False)
        yield Keys(cast("QuarterdeckApp", self.app).status.shown)

    def inside(self) -> ComposeResult:
        """What the box holds."""
        yield from ()

    def on_screen_suspend(self) -> None:
        """One dialog at a time: what asks first steps aside for what it leads to."""
        self.query_one("#box").visible = False

    def on_screen_resume(self) -> None:
        self.query_one("#box").visible = True

    def trouble(self, words: str) -> None:
        """Say what is wrong, below everything else; nothing for nothing."""
        place = self.query_one(".trouble", Static)
        place.update(Content(one_line(words)))
        place.set_class(bool(words), "-shown")

    def once_typed(self, then: Callable[[], None]) -> None:
        """Do something when every key from before has arrived, and what follows from it: a key that holds everywhere
        is heard at once, and would overtake text that is still on its way to where it was typed."""
        way = [] if self.focused is None else [*self.focused.ancestors_with_self]
        _after([*way, *takewhile(lambda one: one is not self, way), self], then)

    def action_save(self) -> None:
        self.once_typed(self.save)

    def save(self) -> None:
        """End with what the dialog shows, or say what is missing."""

    def action_cancel(self) -> None:
        self.dismiss(None)


def _after(places: list[MessagePump], then: Callable[[], None]) -> None:
    """Through the queue of each place, one after the other: a key goes up to the app and may act on where it was typed,
    and what that leads to goes up to the dialog."""
    first, *rest = places
    first.call_later(_after, rest, then) if rest else first.call_later(then)


class DecisionDialog(Dialog[R]):
    """About one request. Says so when it is resolved elsewhere meanwhile; then nothing can be sent. What lets
    something through must have been on screen for a while, as the card must."""

    refuses = False

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self.asked = asked
        self.shown_at = math.inf

    def on_mount(self) -> None:
        self.shown_at = time.monotonic()
        self.set_interval(0.2, self._watch)

    def _watch(self) -> None:
        if not self.asked.is_pending:
            self.trouble(f"It is over: {outcome(self.asked.view)}")

    def what(self) -> Static:
        """What the dialog is about, in one line."""
        return Static(Content(one_line(about(self.asked.shown, 400))), classes="says", markup=False)

    def send(self, result: R) -> None:
        """End with this, unless nobody may decide now: then it says why, and what was typed stays."""
        now = time.monotonic()
        why = cast("QuarterdeckApp", self.app).model.why_off(self.asked, now)
        if not why and not self.refuses and now - self.shown_at < SETTLE_SECONDS:
            why = "this has only just come on screen"
        if not why:
            self.dismiss(result)
        else:
            self.trouble(f"Not sent: {why}")
            self.app.bell()
