"""What every command shares: where home is, how things are printed, how an error ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from quarterdeck.config import home_path
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import ConfigError, Misused, NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import CALL_SECONDS, Client
from quarterdeck.surfaces.text.labels import ago as ago
from quarterdeck.surfaces.text.labels import state_word

if TYPE_CHECKING:
    from quarterdeck.config import Config

P = ParamSpec("P")
R = TypeVar("R")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Read settings from this file.", dir_okay=False, resolve_path=True),
]

PIPE_WIDTH = 200
WHOLE_ID = 36
out = Console(highlight=False, markup=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def plainly(command: Callable[P, R]) -> Callable[P, R]:
    """An error ends as one line on stderr: 3 when no daemon answers, 2 for wrong words or settings, 1 for a refusal."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except QuarterdeckError as error:
            sys.stderr.write(f"quarterdeck: {one_line(str(error))}\n")
            code = 3 if isinstance(error, NoDaemon) else 2 if isinstance(error, ConfigError | Misused) else 1
            raise typer.Exit(code) from None
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(0) from None
        except OSError as error:
            sys.stderr.write(f"quarterdeck: {one_line(str(error))}\n")
            raise typer.Exit(1) from None

    return wrapped


def one_of(option: str, word: str | None, known: Iterable[str]) -> None:
    """Refuses a word that an option does not know, naming those it does."""
    *words, last = known
    if word is not None and word not in (*words, last):
        raise Misused(f"{option}: must be {', '.join(words)} or {last}, is {word!r}")


def client(timeout: float = CALL_SECONDS) -> Client:
    """The daemon of this home."""
    return Client.of_home(home_path(), timeout=timeout)


def whole_id(asked: Client, session: str) -> str:
    """A session by its id or the start of it, as tables show it."""
    found = [s["session_id"] for s in asked.all("/api/v1/sessions") if s["session_id"].startswith(session)]
    if session in found or len(found) == 1:
        return session if session in found else str(found[0])
    if not found and len(session) == WHOLE_ID:
        return session  # younger than the daemon's last look, perhaps
    raise Refused(f"{'no' if not found else 'more than one'} session begins with {session}; see: qd sessions --all")


def settings(file: Path | None = None, **flags: dict[str, Any]) -> Config:
    """The settings of this home, with what flags say of each section."""
    from quarterdeck.config import load_config

    return load_config(home_path(), file, flags=flags)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def cell(value: object, style: str = "") -> Text:
    """Text from outside, made harmless."""
    return Text(one_line(str(value)), style=style)


def state_cell(state: str) -> Text:
    known = state_word(state)
    return Text(one_line(f"{known.glyph} {known.word}"), style=known.colour)
