"""`qd deck`: the key deck in this terminal, its file, and a check of other servers."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from quarterdeck.cli.common import AsJson, Output, argument, cell, client, command, endpoint, group, option, show
from quarterdeck.config.deck.deck_file import NAME, read_deck_file
from quarterdeck.config.deck.deck_template import TEMPLATE
from quarterdeck.config.deck.runbook_file import import_runbook
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.errors import ConfigError, Misused, Refused
from quarterdeck.surfaces.deck.conformance import ConformanceResult, check_conformance
from quarterdeck.surfaces.deck.console import DeckConsole
from quarterdeck.surfaces.terminal.forms.deck_panel import deck_lines
from quarterdeck.surfaces.terminal.styled_text import plain

app = group("Use the key deck in this terminal, and check its file.", name="deck")
TOKEN_VARIABLE = "QUARTERDECK_TOKEN"  # noqa: S105 the name of a variable
MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("·", "dim")}
FILE: dict[str, Any] = {"metavar": "[FILE]", "dir_okay": False, "resolve_path": True}


@app.callback(invoke_without_command=True, no_args_is_help=False)
def deck(context: typer.Context) -> None:
    """Show the key deck, and take keys until q. The keys are in deck.yaml; see docs/deck.md."""
    if context.invoked_subcommand is None:
        _use()


def _use() -> None:
    from quarterdeck.cli.common import report_errors

    report_errors(lambda: asyncio.run(DeckConsole(endpoint).run()))()


@command(app, "show")
def show_deck() -> Output:
    """Show what the deck shows now."""
    model = client().get("/api/v1/deck")
    return Output(model, [plain([one.spans]) for one in deck_lines(model, time.time())])


@command(app)
def check(
    file: Annotated[Path | None, argument("File to check (default: deck.yaml in Quarterdeck's home).", **FILE)] = None,
) -> Output:
    """Check deck.yaml, and name every mistake with its line."""
    path = file or home_path() / NAME
    if file is not None and not path.exists():
        raise Refused(f"{path}: there is no such file")
    reading = read_deck_file(path)
    if reading.layout is None:
        value = {"file": str(path), "ok": False, "problems": reading.problems}
        return Output(value, [cell(problem, "red") for problem in reading.problems], is_ok=False)
    layout, where = reading.layout, path if path.exists() else "the built-in deck: there is no deck.yaml"
    words = f"{where}: {len(layout.pages)} pages, {len(layout.prompts)} prompts, {len(layout.gates)} gates"
    return Output({"file": str(path), "ok": True, "problems": []}, [cell(f"✓ {words}", "green")])


@command(app)
def init() -> Output:
    """Write a deck.yaml to start from. One that exists is left alone."""
    path = home_path() / NAME
    _write(path, TEMPLATE)
    return Output({"file": str(path)}, [f"Wrote {path}; edit it, then: qd deck check"])


@command(app, "import")
def import_file(
    file: Annotated[Path, argument("The file of the Runbook prototype, or a deck.yaml.", **FILE)],
) -> Output:
    """Make a deck.yaml of another deck's file. One that exists is left alone."""
    try:
        made = import_runbook(file.read_text(encoding="utf-8"), str(file))
    except UnicodeDecodeError:
        raise Refused(f"{file}: is not UTF-8") from None
    if made.reading.layout is None:
        raise ConfigError("; ".join(made.reading.problems))
    path = home_path() / NAME
    _write(path, made.text)
    return Output({"file": str(path)}, [f"Wrote {path} from {file}"])


def _write(path: Path, text: str) -> None:
    """Write a new file that only this user can read. It appears whole: the daemon may read it at any time."""
    prepare_home(path.parent)
    if path.exists():
        raise Refused(f"{path}: exists already; move it away first")
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o600)
    fresh.replace(path)


@command(app)
def conformance(
    url: Annotated[str, argument("Address of the server, like http://127.0.0.1:4180.", metavar="URL")],
    token_file: Annotated[
        Path | None, option(f"File with a token for it (default: ${TOKEN_VARIABLE}).", dir_okay=False)
    ] = None,
    json: AsJson = False,
) -> None:
    """Check a server of decks. Connects as a deck, turns the pages, arms a prompt and disarms it. Nothing is decided or
    sent."""
    token = token_file.read_text(encoding="utf-8").strip() if token_file else os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise Misused(f"--token-file: a token is needed, there or in ${TOKEN_VARIABLE}")
    if not url.startswith(("http://", "https://")):
        raise Misused(f"URL: must be an address like http://127.0.0.1:4180, is {url!r}")
    results = asyncio.run(check_conformance(url, token))
    failed = [one for one in results if one.outcome == "failed"]
    value = {"ok": not failed, "checks": [{"name": r.name, "outcome": r.outcome, "detail": r.detail} for r in results]}
    show(Output(value, [_result_line(one) for one in results], not failed), as_json=json)


def _result_line(one: ConformanceResult) -> Text:
    mark, style = MARKS[one.outcome]
    return cell(f"{mark} {one.name}" + (f": {one.detail}" if one.detail else ""), style)
