"""The base of all dialogs: a box over the main screen that says what it is about and closes with Escape."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import NoDaemon, QuarterdeckError
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, fold
from quarterdeck.surfaces.text.labels import about, outcome
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.widgets.footer import KeyFooter, key_groups, keys_in_border
from quarterdeck.surfaces.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

R = TypeVar("R")
CHECK_SECONDS = 0.2


def save_key(words: str) -> Binding:
    """The key that ends a dialog with what was typed and chosen."""
    return Binding("ctrl+s,f2", "save", words, priority=True, key_display="^s")


def label(words: str = "", *, id: str | None = None, classes: str = "says") -> Static:
    """A line of text, never read as markup."""
    return Static(Content(one_line(words)), id=id, classes=classes, markup=False)


class Dialog(ModalScreen[R | None]):
    """Ends with the result, or with None when it was cancelled."""

    BINDINGS = [Binding("escape", "cancel", "cancel", priority=True)]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (28, "-tall")]
    heading = ""
    _error_holds: Callable[[], bool] | None = None

    @property
    def tui(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def on_mount(self) -> None:
        self.set_interval(CHECK_SECONDS, self._clear_error)
        self.bindings_updated_signal.subscribe(self, lambda _: self._name_keys())
        self.call_after_refresh(self._name_keys)

    def on_resize(self) -> None:
        self.call_after_refresh(self._name_keys)

    def value(self, name: str) -> Any:
        """The value of a field: the chosen one of a choice, or the text of an input without blanks around it."""
        field = self.query_one(f"#{name}")
        if isinstance(field, WordChoice):
            return field.value
        assert isinstance(field, Input | TextArea)
        return (field.value if isinstance(field, Input) else field.text).strip()

    def show_label(self, name: str, words: str) -> None:
        """Change the words of a label; an empty one takes no room."""
        for place in self.query(f"#{name}").results(Static):  # the dialog may be closed by now
            place.update(Content(one_line(words)))
            place.display = bool(words)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="box", can_focus=False) as box:
            box.border_title = Content(self.heading)
            yield from self.compose_box()
            yield label(classes="trouble")
        yield KeyFooter(self.tui.status.shown, keys=False)

    def _name_keys(self) -> None:
        """Name the keys that work now in the frame."""
        if not self.is_current:
            return
        rows = [row for _, row in key_groups(self)]
        fields = [field for field in self.focus_chain if field.id]
        tab = [(TextSpan("tab", "key", "app.focus_next"), TextSpan(" next field"))] if len(fields) > 1 else []
        for box in self.query("#box"):
            box.border_subtitle = keys_in_border([*tab, *rows], box.size.width)

    def compose_box(self) -> ComposeResult:
        """The widgets in the box."""
        yield from ()

    def on_screen_suspend(self) -> None:
        """Hide the box while another dialog is open on top of this one."""
        self.query_one("#box").visible = False

    def on_screen_resume(self) -> None:
        self.query_one("#box").visible = True

    def show_error(self, words: str, holds: Callable[[], bool] | None = None) -> None:
        """Show an error below everything else; hide the line for an empty text, and as soon as `holds` is False."""
        self._error_holds = holds
        error_line = self.query_one(".trouble", Static)
        error_line.update(Content(one_line(words)))
        error_line.set_class(bool(words), "-shown")

    def show_failure(self, error: QuarterdeckError) -> None:
        """Show why a call failed. That no daemon answers is true until one does."""
        model, at = self.tui.model, time.monotonic()
        self.show_error(str(error), (lambda: model.last_message_at <= at) if isinstance(error, NoDaemon) else None)

    def _clear_error(self) -> None:
        if self._error_holds is not None and not self._error_holds():
            self.show_error("")

    def after_typed_keys(self, then: Callable[[], None]) -> None:
        """Call `then` once every earlier key has taken effect. A priority binding acts at once, so it would overtake
        text that is still on its way to the input it was typed into."""
        ancestors = [] if self.focused is None else [*self.focused.ancestors_with_self]
        _run_after_queues([*ancestors, *takewhile(lambda one: one is not self, ancestors), self], then)

    def action_save(self) -> None:
        self.after_typed_keys(self.save)

    def save(self) -> None:
        """End with the values of the dialog, or say what is missing."""

    def action_cancel(self) -> None:
        self.dismiss(None)


class LinesDialog(Dialog[R]):
    """A dialog with lines to read, as high as they are; more than fit are scrolled."""

    def compose_box(self) -> ComposeResult:
        yield TextView(id="lines")

    @property
    def view(self) -> TextView:
        return self.query_one("#lines", TextView)

    def on_mount(self) -> None:
        self.view.focus()
        self.call_after_refresh(self.draw)

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def lines(self) -> Iterable[StyledLine]:
        """The lines to read."""
        return ()

    def draw(self) -> int:
        """Show the lines at the current size; the height of the view."""
        lines = list(self.lines())
        rows = sum(1 for _ in fold(lines, max(20, self.view.content_size.width)))
        height = max(3, min(rows, self.size.height - 7))
        self.view.styles.height = height
        self.view.show(lines)
        return height


def _run_after_queues(pumps: list[MessagePump], then: Callable[[], None]) -> None:
    """Call `then` after the message queue of each pump in turn: a key bubbles up to the app, may act on the widget it
    was typed into, and the messages of that widget bubble up to the dialog."""
    first, *rest = pumps
    first.call_later(_run_after_queues, rest, then) if rest else first.call_later(then)


class DecisionDialog(Dialog[R]):
    """A dialog about one request. Once the request is resolved elsewhere the dialog says so and sends nothing. A
    decision that lets something through must have been on screen for a while, like the card."""

    refuses = False

    def __init__(self, item: RequestItem) -> None:
        super().__init__()
        self.item = item
        self.shown_at = math.inf

    def on_mount(self) -> None:
        self.shown_at = time.monotonic()
        self.set_interval(CHECK_SECONDS, self._check_pending)

    def _check_pending(self) -> None:
        self.tui.model.renew(self.item)
        if not self.item.is_pending:
            self.show_error(f"It is over: {outcome(self.item.view)}", lambda: not self.item.is_pending)

    def summary(self) -> Static:
        """The request in one line."""
        return label(about(self.item.shown, 400))

    def send(self, result: R) -> None:
        """End with this result; if no decision can be made now, say why and keep the typed text."""
        reason = self._disabled_reason()
        if reason:
            self.show_error(f"Not sent: {reason}", lambda: self._disabled_reason() == reason)
            self.app.bell()
        elif not self.refuses and time.monotonic() - self.shown_at < SETTLE_SECONDS:
            self.show_error("Not sent: the dialog has only just appeared; press the key again")
            self.app.bell()
        else:
            self.dismiss(result)

    def _disabled_reason(self) -> str:
        return self.tui.model.disabled_reason(self.item, time.monotonic())
