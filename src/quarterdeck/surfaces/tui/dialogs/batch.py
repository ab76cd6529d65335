"""Many decisions at once. Each request is named in the preview with all it asks for; there is no "allow the rest"."""

from __future__ import annotations

import itertools
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from quarterdeck.core.text import one_line
from quarterdeck.surfaces.tui import card
from quarterdeck.surfaces.tui.dialogs.dialog import Dialog
from quarterdeck.surfaces.tui.lines import fold, plain
from quarterdeck.surfaces.tui.model import Asked, Model
from quarterdeck.surfaces.words import outcome, project_name

ROWS = 6
"""Rows a request may take in the preview; one that needs more is opened and decided by itself."""
FITTING = {"allow": ("permission", "plan"), "deny": ("permission", "plan", "questions", "elicitation")}


def preview(asked: Asked, who: str, width: int) -> tuple[str, bool]:
    """A request as the preview shows it, and whether that is all of it."""
    rows = list(itertools.islice(fold(card.body(asked.shown), width), ROWS + 1))
    whole = len(rows) <= ROWS and not card.concealed(asked.shown)
    mark = card.risk_mark(asked.shown)
    first = f"{who} · {asked.view['tool_name']}{' · ' + mark if mark else ''}"
    note = "" if whole or asked.seen else "\n  not all of it shows: open it and press x first"
    return f"{one_line(first)}\n{plain(rows[:ROWS])}{note}", whole or asked.seen


class BatchDialog(Dialog[tuple[str, list[Asked]]]):
    """Ends with the decision and those it is for."""

    TITLE = "Many at once"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('allow')", "allow the marked ones"),
        Binding("d", "decide('deny')", "deny the marked ones"),
        Binding("p", "decide('pass')", "leave them to their terminals"),
        Binding("space", "mark", "mark"),
    ]

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model
        self._asked = {asked.request_id: asked for asked in model.pending}

    def inside(self) -> ComposeResult:
        yield Static("Mark with Space what you have read. Nothing is decided but what is marked here.", markup=False)
        width = max(30, min(104, int(self.app.size.width * 0.9) - 12))
        selections = []
        for asked in self._asked.values():
            session = self._model.session_of(asked.view)
            who = project_name(session["cwd"]) if session else asked.view["session_id"][:8]
            words, whole = preview(asked, who, width)
            selections.append(Selection(Content(words), asked.request_id, disabled=not whole))
        yield SelectionList(*selections, id="several", compact=True)

    def on_mount(self) -> None:
        self.set_interval(0.2, self._watch)

    def _watch(self) -> None:
        """Those that are resolved elsewhere meanwhile are said so, and are not sent."""
        over = [asked for asked in self._asked.values() if not asked.is_pending]
        if over:
            self.trouble(f"{len(over)} of these are over: {outcome(over[-1].view)}")

    def action_mark(self) -> None:
        self.query_one("#several", SelectionList).action_select()

    def action_decide(self, word: str) -> None:
        marked = set(self.query_one("#several", SelectionList).selected)
        chosen = [self._asked[key] for key in self._asked if key in marked]
        odd = [one for one in chosen if word in FITTING and (one.view["form"] or one.view["kind"]) not in FITTING[word]]
        if self._model.link != "live":
            self.trouble("Not connected to the daemon: nothing can be decided")
        elif odd:
            self.trouble(f"{odd[0].view['tool_name']} cannot be decided by {word}: take its mark away")
        elif not chosen:
            self.trouble("Nothing is marked")
        else:
            self.dismiss((word, chosen))
