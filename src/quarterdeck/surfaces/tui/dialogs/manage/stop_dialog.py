"""The dialog that stops everything, below the list of what will stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding

from quarterdeck.surfaces.terminal.styled_text import StyledLine, fold, line
from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, StopWords, stop_line
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.widgets.text_view import TextView

Json = dict[str, Any]
Plan = dict[str, list[Json]]
"""The sessions that would stop, by the route that stops them."""


class StopDialog(Dialog[StopWords]):
    """Ends with the way to stop. Capitals, so that a slip of the finger stops nothing."""

    heading = "Stop everything?"
    BINDINGS = [
        Binding("I", f"stop('{INTERRUPT.route}')", "interrupt all at work"),
        Binding("E", f"stop('{END.route}')", "end all"),
        Binding("n", "cancel", "no"),
    ]

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def compose_box(self) -> ComposeResult:
        yield TextView(id="sessions-to-stop")

    @property
    def _view(self) -> TextView:
        return self.query_one("#sessions-to-stop", TextView)

    def on_mount(self) -> None:
        self._view.focus()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        view = self._view
        lines = list(stop_plan_lines(self.plan))
        rows = sum(1 for _ in fold(lines, max(20, view.content_size.width)))
        view.styles.height = max(3, min(rows, self.size.height - 7))
        view.show(lines)

    def action_stop(self, route: str) -> None:
        words = END if route == END.route else INTERRUPT
        if self.plan[route]:
            self.dismiss(words)
        else:
            self.show_error(words.nothing)


def stop_plan_lines(plan: Plan) -> Iterator[StyledLine]:
    """What each key would stop."""
    for key, words, effect in (("I", INTERRUPT, "their turns stop"), ("E", END, "with everything they started")):
        sessions = plan[words.route]
        if not sessions:
            yield line((f"{key}  {words.nothing}", "dim"))
            continue
        count = "1 session" if len(sessions) == 1 else f"{len(sessions)} sessions"
        yield line((f"{key}  {words.verb} {count}; {effect}:", "bold"))
        yield from (line(stop_line(session), indent=3) for session in sessions)
