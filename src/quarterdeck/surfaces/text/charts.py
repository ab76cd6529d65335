"""Small charts of text: bars and sparklines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = " ▁▂▃▄▅▆▇█"


def bar(value: float, most: float, width: int) -> str:
    """A bar as long as its share of `most`, of `width` cells then. A small value still has a mark."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(1, round(min(1.0, value / most) * width * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def sparkline(values: Sequence[float], width: int) -> str:
    """The values as columns, one cell each; where there are more than `width`, neighbours are summed up."""
    columns = _fitted(values, width)
    most = max(columns, default=0.0)
    return "".join(HEIGHTS[max(1, round(value / most * 8))] if value > 0 else HEIGHTS[0] for value in columns)


def _fitted(values: Sequence[float], width: int) -> list[float]:
    """At most `width` sums of neighbours."""
    if len(values) <= width:
        return list(values)
    edges = [round(n * len(values) / width) for n in range(width + 1)]
    return [sum(values[first:last]) for first, last in pairwise(edges)]
