"""The top line with waiting requests and totals, and the banner that says when the screen shows an old state."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from quarterdeck.core.text.amounts import count, money
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.lines.waiting_elsewhere_lines import waiting_count
from quarterdeck.surfaces.terminal.model import Metrics
from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, TextSpan, line
from quarterdeck.surfaces.tui.widgets.text_view import TextView

NAME = "Quarterdeck"
GAP = 3


def header_row(metrics: Metrics, runner: str, is_live: bool, width: int) -> Row:
    """The parts of the top line that fit, the most important first; waiting requests are never left out."""
    left = [TextSpan(f" {NAME}", "strong"), TextSpan("   "), *_count_spans(metrics)]
    right = TextSpan(f"{one_line(runner)} {'✓' if is_live else '✕'} ", "good" if is_live else "blocked")
    if _width(left) > width:
        left = [TextSpan(" "), *_count_spans(metrics)]
    room = width - _width(left) - cell_len(right.text) - GAP
    middle: list[TextSpan] = []
    for total in _totals(metrics):
        more = [*([TextSpan(" · ", "dim")] if middle else []), TextSpan(total)]
        if _width(middle) + _width(more) + GAP > room:
            break
        middle += more
    gap = width - _width(left) - _width(middle) - cell_len(right.text)
    if gap < 1:
        return tuple(left)
    before = gap // 2 if middle else gap
    return (*left, TextSpan(" " * before), *middle, TextSpan(" " * (gap - before)), right)


def _count_spans(metrics: Metrics) -> Iterator[TextSpan]:
    yield TextSpan(f"{metrics.sessions} session{'s' if metrics.sessions != 1 else ''}")
    yield TextSpan(" · ", "dim")
    yield TextSpan(f"{metrics.running} running", "running" if metrics.running else "dim")
    yield TextSpan(" · ", "dim")
    if metrics.failed:
        yield TextSpan(f"{metrics.failed} failed", "blocked")
        yield TextSpan(" · ", "dim")
    if metrics.waiting:
        yield TextSpan(f"{metrics.waiting} {'needs' if metrics.waiting == 1 else 'need'} you", "waiting")
    if metrics.waiting and metrics.waiting_elsewhere:
        yield TextSpan(" · ", "dim")
        yield TextSpan(
            f"{metrics.waiting_elsewhere} at {'its terminal' if metrics.waiting_elsewhere == 1 else 'their terminals'}",
            "waiting",
        )
    elif metrics.waiting_elsewhere:
        yield TextSpan(waiting_count(metrics.waiting_elsewhere), "waiting")
    elif not metrics.waiting:
        yield TextSpan("none waiting", "dim")


def _totals(metrics: Metrics) -> Iterator[str]:
    yield f"{metrics.tools:,} tools"
    yield f"{metrics.failures:,} failed"
    if metrics.tokens:
        yield f"{count(metrics.tokens)} tokens"
    if cost := money(metrics.cost):
        yield cost
    if metrics.link is not None:
        yield metrics.link
    if metrics.overhead_seconds is not None:
        yield f"hooks +{metrics.overhead_seconds * 1000:.1f} ms"


def _width(spans: list[TextSpan]) -> int:
    return sum(cell_len(span.text) for span in spans)


class Header(TextView, can_focus=False):
    """The top line."""

    DEFAULT_CSS = "Header { height: 1; background: $panel; overflow: hidden; }"

    def update(self, metrics: Metrics, runner: str, is_live: bool) -> None:
        """Show these metrics."""
        self.show_rows([header_row(metrics, runner, is_live, self.size.width)])


class Banner(TextView, can_focus=False):
    """Says what is wrong with the connection; hidden while nothing is."""

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 3; background: $warning 25%; display: none; overflow: hidden; }
    Banner.-shown { display: block; }
    """

    def update(self, trouble: str) -> None:
        """Show this problem; hide the banner for an empty text."""
        self.set_class(bool(trouble), "-shown")
        lines: list[StyledLine] = [line(("! ", "warn"), (trouble, "strong"), indent=1)] if trouble else []
        self.styles.height = 1 if len(trouble) + 4 <= self.app.size.width else 2
        self.show(lines)
