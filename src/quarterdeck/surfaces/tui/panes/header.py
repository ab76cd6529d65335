"""The line at the top: who waits and how much was done; and the banner that says when what is shown is old."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import count, money
from quarterdeck.surfaces.terminal.elsewhere_lines import how_many
from quarterdeck.surfaces.terminal.model import Metrics
from quarterdeck.surfaces.terminal.styled_text import Line, Row, Span, line
from quarterdeck.surfaces.tui.widgets.text_view import Wall

NAME = "Quarterdeck"
GAP = 3


def header_row(metrics: Metrics, runner: str, is_live: bool, width: int) -> Row:
    """As much as fits, the most needed first: who waits is never left out."""
    left = [Span(f" {NAME}", "strong"), Span("   "), *_who(metrics)]
    right = Span(f"{one_line(runner)} {'✓' if is_live else '✕'} ", "good" if is_live else "blocked")
    if _width(left) > width:
        left = [Span(" "), *_who(metrics)]
    groups = [[Span(text)] for text in _done(metrics)]
    room = width - _width(left) - cell_len(right.text) - GAP
    middle: list[Span] = []
    for group in groups:
        more = [*([Span(" · ", "dim")] if middle else []), *group]
        if _width(middle) + _width(more) + GAP > room:
            break
        middle += more
    gap = width - _width(left) - _width(middle) - cell_len(right.text)
    if gap < 1:
        return tuple(left)
    before = gap // 2 if middle else gap
    return (*left, Span(" " * before), *middle, Span(" " * (gap - before)), right)


def _who(metrics: Metrics) -> Iterator[Span]:
    yield Span(f"{metrics.sessions} session{'s' if metrics.sessions != 1 else ''}")
    yield Span(" · ", "dim")
    yield Span(f"{metrics.running} running", "running" if metrics.running else "dim")
    yield Span(" · ", "dim")
    if metrics.waiting:
        yield Span(f"{metrics.waiting} {'needs' if metrics.waiting == 1 else 'need'} you", "waiting")
    if metrics.waiting and metrics.standing:
        yield Span(" · ", "dim")
        yield Span(f"{metrics.standing} at {'its terminal' if metrics.standing == 1 else 'their terminals'}", "waiting")
    elif metrics.standing:
        yield Span(how_many(metrics.standing), "waiting")
    elif not metrics.waiting:
        yield Span("nobody waits", "dim")


def _done(metrics: Metrics) -> Iterator[str]:
    yield f"{metrics.tools:,} tools"
    yield f"{metrics.failures:,} failed"
    if metrics.tokens:
        yield f"{count(metrics.tokens)} tokens"
    if cost := money(metrics.cost):
        yield cost
    if metrics.overhead_seconds is not None:
        yield f"hooks +{metrics.overhead_seconds * 1000:.1f} ms"


def _width(spans: list[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)


class Header(Wall, can_focus=False):
    """One line."""

    DEFAULT_CSS = "Header { height: 1; background: $panel; overflow: hidden; }"

    def tell(self, metrics: Metrics, runner: str, is_live: bool) -> None:
        """Other figures."""
        self.show_rows([header_row(metrics, runner, is_live, self.size.width)])


class Banner(Wall, can_focus=False):
    """Says what is wrong with the connection, as long as something is."""

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 3; background: $warning 25%; display: none; overflow: hidden; }
    Banner.-shown { display: block; }
    """

    def tell(self, trouble: str) -> None:
        """Show it, or nothing."""
        self.set_class(bool(trouble), "-shown")
        words: list[Line] = [line(("! ", "warn"), (trouble, "strong"), indent=1)] if trouble else []
        self.styles.height = 1 if len(trouble) + 4 <= self.app.size.width else 2
        self.show(words)
