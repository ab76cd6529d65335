"""The desk: one pending request as a card, and the keys that decide it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.decided_lines import decided_line, empty_desk_lines
from quarterdeck.surfaces.terminal.lines.request_input import body, choice_count
from quarterdeck.surfaces.terminal.lines.waiting_elsewhere_lines import waiting_count
from quarterdeck.surfaces.terminal.model import CONFIRMED, REFUSING, SETTLE_SECONDS, Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, TextSpan, fold, fold_line, line
from quarterdeck.surfaces.text.labels import outcome
from quarterdeck.surfaces.tui.keys.decision_keys import (
    CONFIRM_SECONDS,
    DIGITS,
    SECOND_KEY,
    VERBS,
    DecisionTarget,
    SecondKey,
    key_spans,
)
from quarterdeck.surfaces.tui.widgets.text_view import TextView
from quarterdeck.surfaces.tui.widgets.titled_pane import TitledPane

MAX_HEAD_ROWS = 4
"""Rows for the session that asks. The rest of a longer head is in the expanded card."""
MIN_WIDTH = 20
MIN_BODY_ROWS = 2
"""Rows kept for the input: keys that do not act yet are shortened to leave this much."""
FEW_BODY_ROWS = 4
"""Rows of a long input that make room for the prompt: a change is judged by what was asked for."""
TYPING_SECONDS = 0.5


class RequestPane(TextView, TitledPane):
    """One card at a time. No key decides unless the card has the focus and has been on screen for a while."""

    BINDINGS = [
        *(
            Binding(key, f"decide('{verb}')", words.removesuffix("…"), show=False, id=f"desk.{verb}")
            for verb, (key, words) in VERBS.items()
        ),
        Binding("x,enter", "expand", "expand", key_display="x", tooltip="show the whole card"),
        Binding("m", "screen.batch", "many", tooltip="decide many requests at once; you mark each one"),
        Binding(SECOND_KEY, "confirm", "confirm a critical allow", show=False),
        Binding("right,l", "screen.turn(1)", "next card", show=False),
        Binding("left,h", "screen.turn(-1)", "previous card", show=False),
        Binding("y", "screen.copy", "copy", tooltip="copy the exact input"),
    ]

    expanded = reactive(False)

    @dataclass
    class DecisionChosen(Message):
        """A person wants to decide about this card."""

        verb: str
        item: RequestItem
        words: str = ""

    @dataclass
    class ExpandRequested(Message):
        """A person wants to see all of this card."""

        item: RequestItem

    class EndShown(Message):
        """The end of the whole card has been on screen."""

    def __init__(self, model: Model, clock: Callable[[], float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model = model
        self._clock = clock
        self.item: RequestItem | None = None
        self.shown_at: float | None = None
        self.max_rows = 12
        self._whole: tuple[str, int, list[Row]] | None = None
        self._drawn_whole: list[Row] | None = None
        """The rows of the whole card that this view shows now, without the foot."""
        self._refolded_at = 0
        self._needed_rows = 0
        self._typing_until = 0.0
        self._focused_at = 0.0
        self._pressed: object = None
        self.refused = ""
        """The notice that said why the last key did not decide."""
        self.second_key = SecondKey()

    def update(self) -> None:
        """Show the current state. The card stays while it is on the desk; the longest waiting request follows it."""
        desk = self._model.desk
        if self.item is None or self._model.items.get(self.item.request_id) is not self.item:
            self.turn_to(next((item for item in desk if item.is_pending), None))
        self.redraw()

    def turn_to(self, item: RequestItem | None) -> None:
        """Show another card. Its decision keys act once it has been on screen long enough to be seen."""
        if item is not self.item:
            self.item = item
            self.expanded = False
            self._whole = None
            self._refolded_at = 0
            self.leave_place()
            self.mark_on_screen()

    @property
    def target(self) -> DecisionTarget | None:
        """The card that a command begun now is about."""
        return DecisionTarget(self.item, self.shown_at) if self.item else None

    @property
    def is_settled(self) -> bool:
        """True once the card has been on screen for as long as it takes to see it."""
        return self.shown_at is not None and time.monotonic() - self.shown_at >= SETTLE_SECONDS

    def mark_on_screen(self) -> None:
        """Start the time that the card has been on screen."""
        self.shown_at = time.monotonic()
        self.set_timer(SETTLE_SECONDS + 0.02, self.redraw)

    def expect_typing(self) -> None:
        """Ignore decision keys for a moment: a key has opened an input, and the next keys are matches for it."""
        self._typing_until = time.monotonic() + TYPING_SECONDS

    def blocked_reason(self, verb: str = "") -> str:
        """The reason why this decision key (or any, without a verb) does not act now; empty when it does."""
        if time.monotonic() < self._typing_until:
            return "another key came just before"
        return self.blocked_reason_since(verb, self.shown_at, self.has_focus)

    def blocked_reason_since(self, verb: str, shown_at: float | None, focused: bool = True) -> str:
        """The same for a card that has been on screen since `shown_at`."""
        why = self._model.blocked_reason(
            self.item, time.monotonic(), shown_at, focused, verb=verb, expanded=self.expanded
        )
        if not why and verb not in REFUSING and self._is_cut:
            return "this terminal is too small to show all of it"
        return why

    @property
    def _is_cut(self) -> bool:
        """True when the frame leaves out a part of the input or of its risk."""
        if self.item is not None and self.expanded and self.item.seen:
            return False
        return self.size.width < MIN_WIDTH or self.size.height < self._needed_rows

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys that do not fit the card; grey those that do not act yet."""
        if action == "decide":
            if self.item is None or parameters[0] not in card.decisions_for(self.item.view):
                return False
            return True if not self.blocked_reason(str(parameters[0])) else None
        if action == "expand":
            return self.item is not None
        if action == "confirm":
            return bool(self.confirming)
        return True

    def action_decide(self, verb: str, words: str = "") -> None:
        if self.item is None or verb not in card.decisions_for(self.item.view) or self._report_blocked(verb):
            return
        if verb in CONFIRMED and self.item.view["needs_second_key"]:
            self.second_key.ask(self.item, verb, words, time.monotonic())
            self.set_timer(CONFIRM_SECONDS + 0.02, self.redraw)
            self.redraw()
            return
        self.expect_typing()
        self.post_message(self.DecisionChosen(verb, self.item, words))

    @property
    def confirming(self) -> str:
        """The decision that waits for its second key; empty if none does."""
        return self.second_key.verb_for(self.item, time.monotonic())

    def action_confirm(self) -> None:
        """Make the decision that waits for its second key, once the question has been on screen for a moment."""
        verb, item = self.confirming, self.item
        if not verb or item is None or self._report_blocked(verb):
            return
        if not self.second_key.is_settled(time.monotonic()):
            self.app.bell()
            self.notify("The question has only just appeared; press the key again", severity="warning")
            return
        self.second_key.forget()
        self.expect_typing()
        self.post_message(self.DecisionChosen(verb, item, self.second_key.words))

    def _report_blocked(self, verb: str) -> bool:
        reason = self.blocked_reason(verb)
        if reason:
            self.app.bell()
            self.refused = reason[:1].upper() + reason[1:]
            self.notify(self.refused, severity="warning")
        return bool(reason)

    def on_key(self, event: events.Key) -> None:
        """Begin an answer with a number; say why a decision key does not act. Any other key than the second one takes
        back a decision that waits for it."""
        if self.confirming and event.key != SECOND_KEY:
            self.second_key.forget()
            self.redraw()
        if self.item is None:
            return
        verbs = card.decisions_for(self.item.view)
        if event.key in DIGITS and "answer" in verbs and int(event.key) <= choice_count(self.item.shown):
            self.action_decide("answer", event.key)
        elif matches := [verb for verb in verbs if VERBS[verb][0] == event.key]:
            self._report_blocked(matches[0])
        elif unfit := [words for key, words in VERBS.values() if key == event.key]:
            keys = ", ".join(VERBS[verb][0] for verb in verbs)
            what = card.request_noun(self.item.view)
            self.notify(f"“{unfit[0].removesuffix('…')}” does not go with {what}: {keys} do", severity="warning")

    def action_expand(self) -> None:
        if self.item is None:
            return
        if self.expanded:
            self.expanded = False
            self.redraw()
        else:
            self.post_message(self.ExpandRequested(self.item))

    @property
    def whole_width(self) -> int:
        """Cells in a row of the expanded card beside the scroll bar, so that no row is ever cut off."""
        if self.expanded and self.size.width > 1:
            return max(8, self.size.width - 1)
        frame = self.styles.gutter.width + 1
        return max(8, self.screen.size.width - frame)

    def show_whole(self, item: RequestItem, rows: list[Row], width: int) -> None:
        """Show the whole card, folded at this width."""
        if item is self.item:
            self._whole = item.request_id, width, rows
            self.expanded = True
            self.call_after_refresh(self.redraw)

    def watch_expanded(self, expanded: bool) -> None:
        if self.is_attached:
            self.screen.set_class(expanded, "-expanded")
            if expanded:
                self.styles.height = "1fr"

    def redraw(self) -> None:
        """Draw the card as it is now, and take the room that it needs."""
        self._update_title()
        width = max(MIN_WIDTH, self.content_size.width or self.app.size.width - 4)
        grey = self.item is not None and not self.item.is_pending
        if self._drawn_whole is not None and self._is_drawn_whole(width):
            self.show_tail(len(self._drawn_whole), self._expanded_foot_rows(), grey)
        else:
            self._drawn_whole = None
            rows = self._card_rows(width)
            if not self.expanded:
                self.styles.height = min(len(rows), self.max_rows) + 2
            self.show_rows(rows, grey)
        self._note_end_shown()
        self.refresh_bindings()

    def _update_title(self) -> None:
        pending = self._model.pending
        item = self.item
        if item is None:
            self.set_title("Desk")
            self.border_subtitle = None
            return
        place = next((n for n, one in enumerate(pending, 1) if one is item), None)
        elsewhere = len(self._model.waiting_elsewhere)
        more = f" · {waiting_count(elsewhere)}" if elsewhere else ""
        self.set_title(f"Desk {place} of {len(pending)}{more}" if place else f"Desk{more}")
        below = "↓ more below" if self.expanded and not item.seen else ""
        words = " · ".join(filter(None, (below, card.risk_mark(item.shown))))
        self.border_subtitle = Content(words) if words else None

    def _card_rows(self, width: int) -> list[Row]:
        item = self.item
        if item is None:
            return list(fold(empty_desk_lines(self._model), width))
        if self.expanded and self._whole and self._whole[0] == item.request_id:
            return self._expanded_rows(item, self._whole, width)
        session, name = self._model.session_of(item.view), self._model.name_of(item.view["session_id"])
        head = list(
            itertools.islice(fold(card.head(item.shown, session, self._clock(), name), width), MAX_HEAD_ROWS + 1)
        )
        is_long, head = len(head) > MAX_HEAD_ROWS, head[:MAX_HEAD_ROWS]
        keys = list(fold(self._foot_lines(item), width))
        if item.is_pending and not self.has_focus and self.max_rows - len(head) - len(keys) < MIN_BODY_ROWS:
            keys = list(fold([line(("n", "key"), " goes to it")], width))[:1]
        risk = list(fold(card.risk_lines(item.shown), width))
        tail = list(fold(card.background(item.shown, folded=True), width))
        room = max(1, self.max_rows - len(head) - len(keys))
        risk_rows = min(len(risk) or bool(tail), max(0, room - MIN_BODY_ROWS))
        prompt_rows = sum(1 for _ in fold(card.asked_for(item.shown, folded=True), width))
        kept = risk_rows + (prompt_rows if room - risk_rows - prompt_rows >= FEW_BODY_ROWS else 0)
        body_rows = list(itertools.islice(fold(body(item.shown), width), room + 1))
        is_cut = is_long or len(body_rows) + len(risk) + len(tail) > room
        body_shown = self._body(item, body_rows, width, room - kept, is_cut)
        self._needed_rows = len(head) + len(body_shown) + risk_rows * bool(risk)
        below = [*risk, *tail][: max(0, room - len(body_shown))]
        last = list(fold(map(decided_line, [*self._model.decided][-1:]), width))
        left = room - len(body_shown) - len(below)
        return [*head, *body_shown, *below, *keys, *(last if len(last) <= left else [])]

    def _expanded_rows(self, item: RequestItem, whole: tuple[str, int, list[Row]], width: int) -> list[Row]:
        """The whole card. One that was folded for another width is shown once it is folded again: no row is cut off.
        `_refolded_at` keeps a card from being folded twice for the same wider width."""
        if whole[1] > width:
            self.keep_place()
            self.post_message(self.ExpandRequested(item))
            return list(fold([line(("…", "dim"))], width))
        if whole[1] < self.whole_width != self._refolded_at:
            self._refolded_at = self.whole_width
            self.post_message(self.ExpandRequested(item))
        self._drawn_whole = whole[2]
        return [*whole[2], *self._expanded_foot_rows()]

    def _is_drawn_whole(self, width: int) -> bool:
        """True when this view shows the whole card as it is: then only its foot can have changed."""
        item, whole = self.item, self._whole
        if not self.expanded or item is None or whole is None or whole[0] != item.request_id:
            return False
        return whole[2] is self._drawn_whole and whole[1] == self.whole_width <= width

    def _expanded_foot_rows(self) -> list[Row]:
        if self.item is None or self._whole is None:
            return []
        return list(fold([StyledLine(), *self._foot_lines(self.item)], self._whole[1]))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._note_end_shown()

    def _note_end_shown(self) -> None:
        """Note when the end of the whole card has been on screen: only then has all of it been shown."""
        item, whole = self.item, self._whole
        if not self.expanded or item is None or item.seen or whole is None or whole[0] != item.request_id:
            return
        end = len(whole[2])
        is_drawn = len(self.rows) >= end and self.rows[end - 1] is whole[2][-1]
        if is_drawn and self.scroll_offset.y + self.size.height >= end:
            item.seen = True
            self.post_message(self.EndShown())
            self.call_after_refresh(self.redraw)

    def _body(self, item: RequestItem, rows: list[Row], width: int, room: int, is_cut: bool) -> list[Row]:
        """The rows of the input that fit. A part left out here or around it must be seen before an allow."""
        item.overflow = "there is more below" if is_cut or len(rows) > room else ""
        if hides := item.hides or [item.overflow] * bool(item.overflow):
            more = line(
                ("… ", "warn"), TextSpan("x shows everything", "key", "expand"), (f": {', '.join(hides)}", "warn")
            )
            return [*rows[: max(0, room - 1)], *itertools.islice(fold_line(more, width), 1)]
        return rows

    def _foot_lines(self, item: RequestItem) -> Iterator[StyledLine]:
        if not item.is_pending:
            yield line(("→ ", "strong"), (outcome(item.view), "strong"))
        elif item.sending:
            yield line((f"→ {item.sending} is on its way …", "warn"))
        elif self.confirming:
            yield self.second_key.question(item)
        else:
            yield line(*key_spans(item, self.blocked_reason))

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.redraw)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.style.meta.get("@click") if event.button == 1 else None

    def on_click(self, event: events.Click) -> None:
        """Accept a click only when it was pressed and released on the same key, with the first button and no modifier,
        on a card that had the focus: a drag that ends here, or the click that focuses the card, decides nothing."""
        pressed, self._pressed = self._pressed, None
        is_plain = event.button == 1 and not (event.shift or event.ctrl or event.meta)
        if not is_plain or pressed is None or event.style.meta.get("@click") != pressed:
            event.prevent_default()
        elif str(pressed).startswith("decide") and time.monotonic() - self._focused_at < SETTLE_SECONDS:
            event.prevent_default()
            self.notify("This click only focused the card: the next one decides", severity="warning")

    def on_focus(self) -> None:
        self._focused_at = time.monotonic()
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()
