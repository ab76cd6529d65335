"""Announcements without being asked: connection problems, new requests, and how requests ended."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.plain.request_numbers import NumberedRequest, RequestNumbers
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.styled_text import StyledLine, fold, plain
from quarterdeck.surfaces.text.labels import about, delivery, outcome
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
WIDTH = 100
MOST_ROWS = 20
"""Rows of an input that are announced. `show` reads out a longer one, which is needed before it can be allowed."""


class Announcer:
    """Announces each change once. `say` prints lines, `ring` rings the bell."""

    def __init__(
        self, model: Model, numbers: RequestNumbers, say: Callable[[str], None], ring: Callable[[], None]
    ) -> None:
        self._model = model
        self._numbers = numbers
        self._print = say
        self._ring = ring
        self._unsaid: list[str] = []
        self._problem: str | None = None
        self._outcomes: dict[str, str] = {}
        self._waiting_elsewhere: set[str] = set()

    def announce(self, at: float, now: float) -> None:
        """Print everything new, in one piece."""
        self._gather(at, now)
        if self._unsaid:
            text, self._unsaid = "\n".join(self._unsaid), []
            self._print(text)

    def _say(self, words: str) -> None:
        self._unsaid.append(words)

    def _gather(self, at: float, now: float) -> None:
        problem = self._model.connection_problem(at)
        if problem != self._problem and self._model.link != "connecting":
            self._problem = problem
            self._say(one_line(problem) or "Connected.")
        for words in self._model.take_notices():
            self._say(one_line(words))
        for item in self._model.desk:
            self._announce_request(item, at, now)
        for view in self._model.decided:
            self._announce_decided(view)
        self._outcomes = {view["request_id"]: self._outcomes[view["request_id"]] for view in self._model.decided}
        self._announce_waiting_elsewhere()

    def _announce_request(self, item: RequestItem, at: float, now: float) -> None:
        known = self._numbers.find(item)
        if item.is_pending:
            if known is None and self._model.session_of(item.view) is not None:
                self._ring()
                numbered = self._numbers.assign(item, at)
                for words in self._request_lines(numbered, now):
                    self._say(words)
            elif known is not None and known.item is not item:
                item.overflow, item.seen = known.item.overflow, known.item.seen
                known.item = item
        elif known is not None and not known.is_announced_over and (item.view["decision"] or item.is_outcome_fetched):
            known.is_announced_over = True
            known.item = item
            self._say(one_line(f"Request {known.number} is over: {outcome(item.view)}"))

    def _request_lines(self, numbered: NumberedRequest, now: float) -> Iterator[str]:
        item = numbered.item
        yield f"Request {numbered.number}: {self.head(item, now)}"
        rows = list(itertools.islice(fold(body(item.shown), WIDTH), MOST_ROWS + 1))
        item.overflow = f"more than {MOST_ROWS} lines" if len(rows) > MOST_ROWS else ""
        yield from filter(None, [plain(rows[:MOST_ROWS])])
        if item.hides:
            yield f"Not all of it is read out yet ({', '.join(item.hides)}): show {numbered.number}"
        yield from filter(None, [plain(fold(card.tail(item.shown), WIDTH))])
        verbs = ", ".join(verb.replace("_", "-") for verb in card.decisions_for(item.view))
        yield f"It takes: {verbs}."

    def head(self, item: RequestItem, now: float) -> str:
        """The asking session and what it wants, without the glyph: a screen reader cannot use it."""
        view = item.shown
        (first,) = card.head(view, self._model.session_of(view), now, self._model.name_of(view["session_id"]))
        return plain(fold([StyledLine(first.spans[1:])], WIDTH))

    def _announce_decided(self, view: Json) -> None:
        """Announce how a decision ended; for a request already announced as over, only what came after."""
        state, key = delivery(view) or "over", view["request_id"]
        if self._outcomes.get(key) == state:
            return
        self._outcomes[key] = state
        known = self._numbers.find_request(key)
        subject = f"Request {known.number}" if known else one_line(about(view))
        is_announced = known is not None and known.is_announced_over
        if known is not None:
            known.is_announced_over, known.item.view = True, view
        if not is_announced:
            self._say(one_line(f"{subject}: {outcome(view)}" + (f", {state}" if state != "over" else "")))
        elif state not in ("sent", "over"):
            self._say(f"{subject} is {state}")

    def _announce_waiting_elsewhere(self) -> None:
        """Announce sessions that now wait at their own terminal, where you have to decide."""
        waiting = {session.session_id: session for session in self._model.waiting_elsewhere}
        for key in waiting.keys() - self._waiting_elsewhere:
            self._ring()
            self._say(waiting_elsewhere_sentence(waiting[key], str(self._model.name_of(key))))
        self._waiting_elsewhere = set(waiting)


def waiting_elsewhere_sentence(session: SessionView, name: str) -> str:
    """A sentence naming a session that waits at its own terminal, and its folder."""
    return one_line(f"{name} waits at its own terminal, in {session.cwd or 'an unknown folder'}")
