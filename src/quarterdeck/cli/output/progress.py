"""Progress on a terminal: a spinner for a slow call, and a bar. Elsewhere neither is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from quarterdeck.cli.common import SLOW_CALL_SECONDS, client


def call_with_spinner(title: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Make a call that may take a minute."""
    with _progress(SpinnerColumn(), _title(title), TimeElapsedColumn()) as progress:
        progress.add_task("", total=None)
        return client(SLOW_CALL_SECONDS).call(method, f"/api/v1{path}", body)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar, and the function that sets how much is done, and of how much."""
    with _progress(_title(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        bar = progress.add_task("", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def _title(title: str) -> TextColumn:
    return TextColumn(title, markup=False)


def _progress(*columns: ProgressColumn) -> Progress:
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
