"""The desk: the card of the request that waits, and the keys that decide it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.elsewhere_lines import how_many, standing_lines
from quarterdeck.surfaces.terminal.model import REFUSING, SETTLE_SECONDS, Asked, Model
from quarterdeck.surfaces.terminal.styled_text import Line, Row, Span, fold, fold_line, line
from quarterdeck.surfaces.text.labels import about_decided, delivery, outcome
from quarterdeck.surfaces.tui.widgets.text_view import Wall
from quarterdeck.surfaces.tui.widgets.titled_pane import Titled

VERBS = {
    "allow": ("a", "allow"),
    "edit": ("e", "edit & allow"),
    "approve": ("w", "approve in a mode…"),
    "answer": ("a", "answer…"),
    "deny": ("d", "deny…"),
    "interrupt": ("i", "deny & interrupt…"),
    "go_on": ("c", "make it continue…"),
    "remember": ("r", "remember…"),
    "pass": ("p", "leave to the terminal"),
}
"""Each decision with its key and its words."""
DIGITS = "123456789"
RECENT = 3
MOST_HEAD = 4
"""Rows that say who asks; what does not fit is seen with everything else."""
LEAST_WIDTH = 20
LEAST_BODY = 2
"""Rows of what is wanted that keys give way to which do not act yet."""
TYPING_SECONDS = 0.5
NO_BREAK = "\u00a0"
FOLD_AT_ONCE = 2_000
"""Rows that are folded on the loop; what is longer is folded aside."""


class Aim(NamedTuple):
    """The card that an order is about, and since when it was on screen as the order was begun."""

    asked: Asked
    shown_at: float | None


class Desk(Wall, Titled):
    """One card at a time. No key decides unless the card has the focus and has been on screen for a while."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"decide('{verb}')", words.removesuffix("…"), show=False, id=f"desk.{verb}")
            for verb, (key, words) in VERBS.items()
        ),
        Binding("x,enter", "expand", "expand", key_display="x", tooltip="see everything on the card"),
        Binding("m", "screen.batch", "many", tooltip="many at once, each by its name"),
        Binding("right,l", "screen.turn(1)", "next card", show=False),
        Binding("left,h", "screen.turn(-1)", "previous card", show=False),
        Binding("y", "screen.copy", "copy", tooltip="copy the exact input"),
    ]

    expanded = reactive(False)

    class Wants(Message):
        """A person wants to decide about this card."""

        def __init__(self, verb: str, asked: Asked, words: str = "") -> None:
            super().__init__()
            self.verb = verb
            self.asked = asked
            self.words = words

    class Expand(Message):
        """All of this card is wanted."""

        def __init__(self, asked: Asked) -> None:
            super().__init__()
            self.asked = asked

    class Seen(Message):
        """The end of the whole card has been on screen."""

    def __init__(self, model: Model, clock: Callable[[], float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model = model
        self._clock = clock
        self.asked: Asked | None = None
        self.shown_at: float | None = None
        self.most_rows = 12
        self._whole: tuple[str, int, list[Row]] | None = None
        self._hung: list[Row] | None = None
        """The rows of the whole card that are on the wall, without its foot."""
        self._widened = 0
        self._vital_rows = 0
        self._typing_until = 0.0
        self._focused_at = 0.0
        self._pressed: object = None
        self.refused = ""
        """Why the last key did not decide, as it was said."""

    def tell(self) -> None:
        """Show how things stand. The card stays while it is on the desk; then the one that waits longest follows."""
        desk = self._model.desk
        if self.asked is None or self._model.asked.get(self.asked.request_id) is not self.asked:
            self.turn_to(next((asked for asked in desk if asked.is_pending), None))
        self.redraw()

    def turn_to(self, asked: Asked | None) -> None:
        """Another card: what decides it must wait until it can have been seen."""
        if asked is not self.asked:
            self.asked = asked
            self.expanded = False
            self._whole = None
            self._widened = 0
            self.scroll_home(animate=False)
            self.come_on_screen()

    @property
    def aim(self) -> Aim | None:
        """What an order that begins now is about."""
        return Aim(self.asked, self.shown_at) if self.asked else None

    @property
    def is_settled(self) -> bool:
        """Whether the card has been on screen for as long as it takes to see it."""
        return self.shown_at is not None and time.monotonic() - self.shown_at >= SETTLE_SECONDS

    def come_on_screen(self) -> None:
        """The card is seen from now on."""
        self.shown_at = time.monotonic()
        self.set_timer(SETTLE_SECONDS + 0.02, self.redraw)

    def someone_types(self) -> None:
        """A key has opened something that is typed into: what follows in the same breath is meant for that."""
        self._typing_until = time.monotonic() + TYPING_SECONDS

    def why_not(self, verb: str = "") -> str:
        """Why no decision key, or not this one, acts now; empty when it does."""
        if time.monotonic() < self._typing_until:
            return "another key came just before"
        return self.why_not_ordered(verb, self.shown_at, self.has_focus)

    def why_not_ordered(self, verb: str, shown_at: float | None, focused: bool = True) -> str:
        """Why a decision, or not this one, may not be made about a card that was on screen since then."""
        why = self._model.why_not(self.asked, time.monotonic(), shown_at, focused, verb=verb, expanded=self.expanded)
        if not why and verb not in REFUSING and self._is_cut:
            return "this terminal is too small to show all of it"
        return why

    @property
    def _is_cut(self) -> bool:
        """Whether the frame leaves out something of what is wanted, or of its risk."""
        if self.asked is not None and self.expanded and self.asked.seen:
            return False
        return self.size.width < LEAST_WIDTH or self.size.height < self._vital_rows

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do not fit the card are absent; those that may not act yet are greyed."""
        if action == "decide":
            if self.asked is None or parameters[0] not in card.decisions_for(self.asked.view):
                return False
            return True if not self.why_not(str(parameters[0])) else None
        if action == "expand":
            return self.asked is not None
        return True

    def action_decide(self, verb: str, words: str = "") -> None:
        if self.asked is None or verb not in card.decisions_for(self.asked.view) or self._say_why_not(verb):
            return
        self.someone_types()
        self.post_message(self.Wants(verb, self.asked, words))

    def _say_why_not(self, verb: str) -> bool:
        why = self.why_not(verb)
        if why:
            self.app.bell()
            self.refused = why[:1].upper() + why[1:]
            self.notify(self.refused, severity="warning")
        return bool(why)

    def on_key(self, event: events.Key) -> None:
        """A number begins an answer with that choice. A decision key that does not act says why."""
        if self.asked is None:
            return
        fitting = card.decisions_for(self.asked.view)
        if event.key in DIGITS and "answer" in fitting and int(event.key) <= card.choices_of(self.asked.shown):
            self.action_decide("answer", event.key)
        elif meant := [verb for verb in fitting if VERBS[verb][0] == event.key]:
            self._say_why_not(meant[0])
        elif unfit := [words for key, words in VERBS.values() if key == event.key]:
            keys = ", ".join(VERBS[verb][0] for verb in fitting)
            what = card.named(self.asked.view)
            self.notify(f"“{unfit[0].removesuffix('…')}” does not go with {what}: {keys} do", severity="warning")

    def action_expand(self) -> None:
        if self.asked is None:
            return
        if self.expanded:
            self.expanded = False
            self.redraw()
        else:
            self.post_message(self.Expand(self.asked))

    @property
    def whole_width(self) -> int:
        """Cells a row of the expanded card may have, beside a scroll bar: none is ever cut off."""
        if self.expanded and self.size.width > 1:
            return max(8, self.size.width - 1)
        frame = self.styles.gutter.width + 1
        return max(8, self.screen.size.width - frame)

    def show_whole(self, asked: Asked, rows: list[Row], width: int) -> None:
        """The whole card, folded at this width."""
        if asked is self.asked:
            self._whole = asked.request_id, width, rows
            self.expanded = True
            self.call_after_refresh(self.redraw)

    def watch_expanded(self, expanded: bool) -> None:
        if self.is_attached:
            self.screen.set_class(expanded, "-expanded")
            if expanded:
                self.styles.height = "1fr"

    def redraw(self) -> None:
        """Draw the card as it is now, and take the room it needs."""
        self._title()
        width = max(LEAST_WIDTH, self.content_size.width or self.app.size.width - 4)
        grey = self.asked is not None and not self.asked.is_pending
        if self._hung is not None and self._hangs_still(width):
            self.show_tail(len(self._hung), self._expanded_foot(), grey)
        else:
            self._hung = None
            rows = self._card_rows(width)
            if not self.expanded:
                self.styles.height = min(len(rows), self.most_rows) + 2
            self.show_rows(rows, grey)
        self._look()
        self.refresh_bindings()

    def _title(self) -> None:
        pending = self._model.pending
        asked = self.asked
        if asked is None:
            self.entitled("Desk")
            self.border_subtitle = None
            return
        place = next((n for n, one in enumerate(pending, 1) if one is asked), None)
        elsewhere = len(self._model.standing)
        more = f" · {how_many(elsewhere)}" if elsewhere else ""
        self.entitled(f"Desk {place} of {len(pending)}{more}" if place else f"Desk{more}")
        below = "↓ more below" if self.expanded and not asked.seen else ""
        words = " · ".join(filter(None, (below, card.risk_mark(asked.shown))))
        self.border_subtitle = Content(words) if words else None

    def _card_rows(self, width: int) -> list[Row]:
        asked = self.asked
        if asked is None:
            return list(fold(self._empty(), width))
        if self.expanded and self._whole and self._whole[0] == asked.request_id:
            return self._expanded_rows(asked, self._whole, width)
        session, name = self._model.session_of(asked.view), self._model.name_of(asked.view["session_id"])
        head = list(itertools.islice(fold(card.head(asked.shown, session, self._clock(), name), width), MOST_HEAD + 1))
        is_long, head = len(head) > MOST_HEAD, head[:MOST_HEAD]
        keys = list(fold(self._foot(asked), width))
        if asked.is_pending and not self.has_focus and self.most_rows - len(head) - len(keys) < LEAST_BODY:
            keys = list(fold([line(("n", "key"), " goes to it")], width))[:1]
        risk = list(fold(card.risk_lines(asked.shown), width))
        tail = list(fold(card.background(asked.shown, asked.why), width))
        room = max(1, self.most_rows - len(head) - len(keys))
        told = min(len(risk) or bool(tail), max(0, room - LEAST_BODY))
        body = self._body(asked, width, room - told, is_long or told < len(risk))
        self._vital_rows = len(head) + len(body) + told * bool(risk)
        below = [*risk, *tail][: max(0, room - len(body))]
        last = list(fold(self._last(), width))
        left = room - len(body) - len(below)
        return [*head, *body, *below, *keys, *(last if len(last) <= left else [])]

    def _expanded_rows(self, asked: Asked, whole: tuple[str, int, list[Row]], width: int) -> list[Row]:
        """All of it, in rows that are not cut off anywhere."""
        if whole[1] > width:
            self.post_message(self.Expand(asked))
            return list(fold([line(("…", "dim"))], width))
        if whole[1] < self.whole_width != self._widened:
            self._widened = self.whole_width
            self.post_message(self.Expand(asked))
        self._hung = whole[2]
        return [*whole[2], *self._expanded_foot()]

    def _hangs_still(self, width: int) -> bool:
        """Whether the wall shows the whole card as it is: then only its foot may be another."""
        asked, whole = self.asked, self._whole
        if not self.expanded or asked is None or whole is None or whole[0] != asked.request_id:
            return False
        return whole[2] is self._hung and whole[1] == self.whole_width <= width

    def _expanded_foot(self) -> list[Row]:
        if self.asked is None or self._whole is None:
            return []
        return list(fold([Line(), *self._foot(self.asked)], self._whole[1]))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def _look(self) -> None:
        """Note whether the end of the whole card has been on screen: only then has all of it been shown."""
        asked, whole = self.asked, self._whole
        if not self.expanded or asked is None or asked.seen or whole is None or whole[0] != asked.request_id:
            return
        end = len(whole[2])
        is_drawn = len(self.rows) >= end and self.rows[end - 1] is whole[2][-1]
        if is_drawn and self.scroll_offset.y + self.size.height >= end:
            asked.seen = True
            self.post_message(self.Seen())
            self.call_after_refresh(self.redraw)

    def _body(self, asked: Asked, width: int, room: int, is_cut: bool) -> list[Row]:
        """As many rows as there is room for; what is left out, here or around it, must be seen before an allow."""
        rows = list(itertools.islice(fold(card.body(asked.shown), width), room + 1))
        asked.overflow = "there is more below" if is_cut or len(rows) > room else ""
        if hides := asked.hides or [asked.overflow] * bool(asked.overflow):
            more = line(("… ", "warn"), Span("x shows everything", "key", "expand"), (f": {', '.join(hides)}", "warn"))
            return [*rows[: max(0, room - 1)], *itertools.islice(fold_line(more, width), 1)]
        return rows

    def _foot(self, asked: Asked) -> Iterator[Line]:
        if not asked.is_pending:
            yield line(("→ ", "strong"), (outcome(asked.view), "strong"))
        elif asked.sending:
            yield line((f"→ {asked.sending} is on its way …", "warn"))
        else:
            yield line(*self._keys(asked))

    def _keys(self, asked: Asked) -> Iterator[Span]:
        """The keys that decide it, greyed while they may not act; each can be clicked."""
        choices = card.choices_of(asked.shown)
        if choices:
            off = bool(self.why_not("answer"))
            yield Span(f"[1–{choices}]" if choices > 1 else "[1]", "dim" if off else "key")
            yield Span(f"{NO_BREAK}choose…", "dim" if off else "")
            yield Span("  ")
        for verb in card.decisions_for(asked.view):
            key, words = VERBS[verb]
            words = "approve" if verb == "allow" and asked.view["form"] == "plan" else words
            off = bool(self.why_not(verb))
            yield Span(f"[{key}]", "dim" if off else "key", f"decide('{verb}')")
            yield Span(f"{NO_BREAK}{words.replace(' ', NO_BREAK)}", "dim" if off else "", f"decide('{verb}')")
            yield Span("  ")

    def _last(self) -> Iterator[Line]:
        """The latest decision, and what became of it."""
        if self._model.decided:
            yield _decided_line(self._model.decided[-1])

    def _empty(self) -> Iterator[Line]:
        if standing := self._model.standing:
            yield from standing_lines(standing, self._model.names)
        else:
            yield line(("Nobody waits for you.", "dim"))
        for view in list(self._model.decided)[-RECENT:]:
            yield _decided_line(view)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.redraw)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.style.meta.get("@click") if event.button == 1 else None

    def on_click(self, event: events.Click) -> None:
        """A click means what was pressed as well as let go, with the first button alone, on a card that has the focus:
        what only ends there, or brings the focus, decides nothing."""
        meant, self._pressed = self._pressed, None
        is_plain = event.button == 1 and not (event.shift or event.ctrl or event.meta)
        if not is_plain or meant is None or event.style.meta.get("@click") != meant:
            event.prevent_default()
        elif str(meant).startswith("decide") and time.monotonic() - self._focused_at < SETTLE_SECONDS:
            event.prevent_default()
            self.notify("This click brought the focus here: the next one decides", severity="warning")

    def on_focus(self) -> None:
        self._focused_at = time.monotonic()
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()


def _decided_line(view: dict[str, object]) -> Line:
    became = delivery(view)
    style = "blocked" if became.startswith("overridden") else "dim"
    return line((f"{outcome(view)} · {about_decided(view)}", "dim"), (f" · {became}" if became else "", style))
