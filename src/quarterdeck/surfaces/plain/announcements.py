"""What is said unasked: trouble, requests that come, and what becomes of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.plain.request_numbers import Numbered, Numbers
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.model import Asked, Model
from quarterdeck.surfaces.terminal.styled_text import Line, fold, plain
from quarterdeck.surfaces.text.labels import about, delivery, outcome

Json = dict[str, Any]
WIDTH = 100
FEW = 20
"""Rows of an input that are read out at once; a longer one is read out by `show`, and must be before it is allowed."""


class Herald:
    """Says each thing once. `say` prints lines, `ring` rings."""

    def __init__(self, model: Model, numbers: Numbers, say: Callable[[str], None], ring: Callable[[], None]) -> None:
        self._model = model
        self._numbers = numbers
        self._speak = say
        self._ring = ring
        self._words: list[str] = []
        self._trouble: str | None = None
        self._became: dict[str, str] = {}
        self._standing: set[str] = set()

    def tell(self, at: float, now: float) -> None:
        """Everything that is new, at one go."""
        self._gather(at, now)
        if self._words:
            said, self._words = "\n".join(self._words), []
            self._speak(said)

    def _say(self, words: str) -> None:
        self._words.append(words)

    def _gather(self, at: float, now: float) -> None:
        trouble = self._model.trouble(at)
        if trouble != self._trouble and self._model.link != "connecting":
            self._trouble = trouble
            self._say(one_line(trouble) or "Connected.")
        for words in self._model.take_news():
            self._say(one_line(words))
        for asked in self._model.desk:
            self._tell_request(asked, at, now)
        for view in self._model.decided:
            self._tell_decided(view)
        self._became = {view["request_id"]: self._became[view["request_id"]] for view in self._model.decided}
        self._tell_standing()

    def _tell_request(self, asked: Asked, at: float, now: float) -> None:
        known = self._numbers.of(asked)
        if asked.is_pending:
            if known is None and self._model.session_of(asked.view) is not None:
                self._ring()
                made = self._numbers.give(asked, at)
                for words in self._announced(made, now):
                    self._say(words)
            elif known is not None and known.asked is not asked:
                asked.overflow, asked.seen = known.asked.overflow, known.asked.seen
                known.asked = asked
        elif known is not None and not known.is_told_over and (asked.view["decision"] or asked.looked_after):
            known.is_told_over = True
            known.asked = asked
            self._say(one_line(f"Request {known.number} is over: {outcome(asked.view)}"))

    def _announced(self, made: Numbered, now: float) -> Iterator[str]:
        asked = made.asked
        yield f"Request {made.number}: {self.head(asked, now)}"
        rows = list(itertools.islice(fold(card.body(asked.shown), WIDTH), FEW + 1))
        asked.overflow = f"more than {FEW} lines" if len(rows) > FEW else ""
        yield from filter(None, [plain(rows[:FEW])])
        if asked.hides:
            yield f"Not all of it is read out yet ({', '.join(asked.hides)}): show {made.number}"
        yield from filter(None, [plain(fold(card.tail(asked.shown), WIDTH))])
        takes = ", ".join(verb.replace("_", "-") for verb in card.decisions_for(asked.view))
        yield f"It takes: {takes}."

    def head(self, asked: Asked, now: float) -> str:
        """Who asks for what, without the glyph that an eye would need."""
        view = asked.shown
        (first,) = card.head(view, self._model.session_of(view), now, self._model.name_of(view["session_id"]))
        return plain(fold([Line(first.spans[1:])], WIDTH))

    def _tell_decided(self, view: Json) -> None:
        """What became of a decision; of one that was told as over, only what came after."""
        became, key = delivery(view) or "over", view["request_id"]
        if self._became.get(key) == became:
            return
        self._became[key] = became
        known = self._numbers.of_request(key)
        who = f"Request {known.number}" if known else one_line(about(view))
        is_told = known is not None and known.is_told_over
        if known is not None:
            known.is_told_over, known.asked.view = True, view
        if not is_told:
            self._say(one_line(f"{who}: {outcome(view)}" + (f", {became}" if became != "over" else "")))
        elif became not in ("sent", "over"):
            self._say(f"{who} is {became}")

    def _tell_standing(self) -> None:
        """Who has begun to wait at a terminal of its own, where nobody can decide from here."""
        standing = {session["session_id"]: session for session in self._model.standing}
        for key in standing.keys() - self._standing:
            self._ring()
            self._say(standing_words(standing[key], str(self._model.name_of(key))))
        self._standing = set(standing)


def standing_words(session: Json, name: str) -> str:
    """Who waits at its own terminal, and where that is."""
    return one_line(f"{name} waits at its own terminal, in {session['cwd'] or 'an unknown folder'}")
