"""What every command shares: where home is, how things are printed, how an error ends."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from quarterdeck.config import Config, home_path, load_config
from quarterdeck.core.text import one_line
from quarterdeck.errors import ConfigError, NoDaemon, QuarterdeckError
from quarterdeck.surfaces.client import CALL_SECONDS, Client

P = ParamSpec("P")
R = TypeVar("R")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="Read settings from this file.", dir_okay=False)]

PIPE_WIDTH = 200
out = Console(highlight=False, markup=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)

STATE_WORDS = {
    "running": ("● running", "green"),
    "waiting_permission": ("◆ needs you", "yellow"),
    "waiting_input": ("? asks", "cyan"),
    "idle": ("○ idle", "bright_black"),
    "complete": ("✓ done", "blue"),
    "settled": ("■ stopped", "bright_blue"),
    "blocked": ("✕ blocked", "red"),
    "sent": ("→ sent", "bright_black"),
    "unknown": ("· unknown", "dim"),
    "ended": ("– ended", "dim"),
}


def plainly(command: Callable[P, R]) -> Callable[P, R]:
    """An error ends as one line on stderr: 3 when no daemon answers, 2 for wrong settings, 1 for a refusal."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except QuarterdeckError as error:
            sys.stderr.write(f"quarterdeck: {one_line(str(error))}\n")
            code = 3 if isinstance(error, NoDaemon) else 2 if isinstance(error, ConfigError) else 1
            raise typer.Exit(code) from None
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(0) from None
        except OSError as error:
            sys.stderr.write(f"quarterdeck: {one_line(str(error))}\n")
            raise typer.Exit(1) from None

    return wrapped


def client(timeout: float = CALL_SECONDS) -> Client:
    """The daemon of this home."""
    return Client.of_home(home_path(), timeout=timeout)


def settings(file: Path | None = None, **flags: dict[str, Any]) -> Config:
    """The settings of this home, with what flags say of each section."""
    return load_config(home_path(), file, flags=flags)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def cell(value: object, style: str = "") -> Text:
    """Text from outside, made harmless."""
    return Text(one_line(str(value)), style=style)


def state_cell(state: str) -> Text:
    word, style = STATE_WORDS.get(state, (state, ""))
    return Text(one_line(word), style=style)


def ago(at: float | None, now: float | None = None) -> str:
    """How long ago, in few characters; the clock after an hour."""
    if at is None:
        return "–"
    seconds = max(0.0, (time.time() if now is None else now) - at)
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} m"
    return time.strftime("%H:%M" if seconds < 43200 else "%d %b %H:%M", time.localtime(at))
