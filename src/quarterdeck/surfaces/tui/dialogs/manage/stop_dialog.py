"""The dialog that stops everything, below the list of what will stop."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding

from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, StopWords, stop_line
from quarterdeck.surfaces.tui.dialogs.base import LinesDialog
from quarterdeck.views.resources.session_view import StopResult

Plan = dict[str, list[StopResult]]
"""The sessions that would stop, by the route that stops them."""


class StopDialog(LinesDialog[StopWords]):
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

    def lines(self) -> Iterator[StyledLine]:
        return stop_plan_lines(self.plan)

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
