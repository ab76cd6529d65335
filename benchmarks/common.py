"""What all benchmarks share: interleaved timing, percentiles, and figures as a table or as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

RESULTS = Path(__file__).parent / "results" / "latest.json"
WARM_UP = 3


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured value, what it is measured against, and the goal it must meet."""

    name: str
    value: float
    unit: str
    against: str
    goal: str
    ok: bool


def interleave(candidates: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every call. Each round calls every candidate, and starts with another one than the round before."""
    names = list(candidates)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(-WARM_UP, rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            candidates[name]()
            seconds[name].append(time.perf_counter() - started)
    return {name: taken[WARM_UP:] for name, taken in seconds.items()}


def ratios(
    candidates: Mapping[str, Sequence[Callable[[], object]]], base: str, percents: Sequence[float], rounds: int
) -> dict[tuple[str, float], tuple[float, float]]:
    """Of each candidate and percent: how many times the base's time it takes, and its own in seconds; of several rounds
    the median. A candidate is a call for each input, and all have the same input in turn. Time is the thread's own, so
    that what other programs take of the machine does not count."""
    found: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        seconds: dict[str, list[float]] = {name: [] for name in candidates}
        for calls in zip(*candidates.values(), strict=True):
            for name, call in zip(candidates, calls, strict=True):
                started = time.thread_time()
                call()
                seconds[name].append(time.thread_time() - started)
        for name, percent in product(candidates, percents):
            taken = percentile(seconds[name], percent)
            found.setdefault((name, percent), []).append((taken / percentile(seconds[base], percent), taken))
    return {key: (median(ratio for ratio, _ in taken), median(own for _, own in taken)) for key, taken in found.items()}


def load() -> str:
    """How busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def stolen() -> int:
    """Hundredths of a second that the machine below has kept from this one so far, on all its processors."""
    try:
        return int(Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=9)[8])
    except (OSError, ValueError, IndexError):
        return 0


def percentile(values: Iterable[float], percent: float) -> float:
    """Between the two nearest values, in proportion."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def print_table(figures: Sequence[Figure]) -> None:
    table = Table("figure", "value", "against", "goal", "")
    for figure in figures:
        value = f"{figure.value:g} {figure.unit}".strip()
        word = Text("ok", "green") if figure.ok else Text("missed", "red")
        table.add_row(*map(Text, (figure.name, value, figure.against, figure.goal)), word)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table)


def print_json_lines(figures: Sequence[Figure]) -> None:
    for figure in figures:
        print(json.dumps(asdict(figure), ensure_ascii=False))


def write_results(figures: Sequence[Figure], path: Path = RESULTS) -> None:
    """Write all figures of a whole run; those of earlier runs go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(f) for f in figures], indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main(figures: Callable[[], list[Figure]]) -> None:
    """What `python -m benchmarks.<name>` does: a table, or with --json one object per line."""
    show = print_json_lines if "--json" in sys.argv[1:] else print_table
    show(figures())
