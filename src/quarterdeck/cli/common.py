"""Shared by every command: how it is added, its options, its output, the client and error handling."""

from __future__ import annotations

import difflib
import inspect
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.help_text import PlainCommand, PlainGroup
from quarterdeck.config.home import home_path
from quarterdeck.core.model.payload import ID
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.errors import ConfigError, Misused, NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import CALL_SECONDS, Client
from quarterdeck.surfaces.client.remote import HINT, RemoteDaemon
from quarterdeck.surfaces.text.labels import date_and_time, state_label
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.config.settings import Config


def option(help: str, *names: str, **more: Any) -> Any:
    """An option. Without names it is named like its parameter."""
    return typer.Option(*names, help=help, **more)


def argument(help: str, **more: Any) -> Any:
    """An argument. Without a metavar it is named like its parameter."""
    return typer.Argument(help=help, **more)


Json = dict[str, Any]
R = TypeVar("R")
Command = TypeVar("Command", bound=Callable[..., Any])
Columns = dict[str, str | Callable[[Json], object]]
"""The columns of a table: each shows a field by its name, or what a function makes of the resource."""
AsJson = Annotated[bool, option("Print JSON instead of a table.", "--json")]
Yes = Annotated[bool, option("Skip the confirmation.", "--yes", "-y")]
Expires = Annotated[str | None, option("Lifetime, like 12h or 7d (default: forever).")]
Session = Annotated[str, argument("Session id, or a unique prefix.", metavar="SESSION")]
ConfigFile = Annotated[
    Path | None,
    option(
        "Config file to use (default: config.yaml in Quarterdeck's home).",
        "--config",
        dir_okay=False,
        resolve_path=True,
    ),
]

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
PIPE_WIDTH = 200
SESSION_ID_LENGTH = 36
SLOW_CALL_SECONDS = 90.0
"""For calls that run git or an agent's program, which may take a minute."""
_REMOTE: ContextVar[RemoteDaemon | None] = ContextVar("remote", default=None)
out = Console(highlight=False, markup=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)


class Output(NamedTuple):
    """The result of a command: `value` is what --json prints, `lines` is what people read. Without `is_ok` the exit
    code is 1."""

    value: Any
    lines: Iterable[RenderableType] = ()
    is_ok: bool = True


def group(help: str, **options: Any) -> typer.Typer:
    """A group of commands. Without a command it prints its help."""
    usual = {"no_args_is_help": True, "rich_markup_mode": None, "context_settings": HELP_NAMES}
    return typer.Typer(cls=PlainGroup, help=help, **{**usual, **options})


def command(app: typer.Typer, name: str | None = None, help: str | None = None) -> Callable[[Command], Command]:
    """Add a command to an app. One that returns an `Output` also takes --json, unless it declares that itself."""

    def add(function: Command) -> Command:
        app.command(name, cls=PlainCommand, help=help, context_settings=HELP_NAMES)(report_errors(_printed(function)))
        return function

    return add


def default_command(app: typer.Typer) -> Callable[[Command], Command]:
    """Run a command without arguments when its group is called without a command."""

    def add(function: Command) -> Command:
        run = report_errors(_printed(function))

        def run_alone(context: typer.Context, json: AsJson = False) -> None:
            if context.invoked_subcommand is None:
                run(json=json)

        app.callback(invoke_without_command=True, no_args_is_help=False)(run_alone)
        return function

    return add


def _printed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command that prints the `Output` of the function, as lines or as JSON."""
    signature = inspect.signature(function, eval_str=True)
    if signature.return_annotation is not Output or "json" in signature.parameters:
        return function

    @wraps(function)
    def run(*args: Any, json: bool = False, **kwargs: Any) -> None:
        show(function(*args, **kwargs), as_json=json)

    option = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    setattr(run, "__signature__", signature.replace(parameters=[*signature.parameters.values(), option]))  # noqa: B010
    return run


def show(output: Output, *, as_json: bool) -> None:
    """Print the result of a command."""
    if as_json:
        sys.stdout.write(json.dumps(output.value, indent=2, ensure_ascii=False) + "\n")
    else:
        for line in output.lines:
            out.print(cell(line) if isinstance(line, str) else line)
    if not output.is_ok:
        raise typer.Exit(1)


def report_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Print an error as one line on stderr and exit: 3 when no daemon answers, 2 for wrong arguments or settings, 1 for
    anything else."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (QuarterdeckError, OSError) as error:
            sys.stderr.write(f"quarterdeck: {one_line(str(error))}\n")
            code = 3 if isinstance(error, NoDaemon) else 2 if isinstance(error, ConfigError | Misused) else 1
            raise typer.Exit(code) from None

    return run


def require_one_of(option: str, word: str | None, known: Iterable[str]) -> None:
    """Raise `Misused` for an invalid value of an option; the message lists the valid ones."""
    *words, last = known
    if word is not None and word not in (*words, last):
        raise Misused(f"{option}: must be {', '.join(words)} or {last}, is {word!r}")


def known_kinds(kinds: list[str] | None, known: Iterable[str], of: str, hint: str) -> list[str] | None:
    """The values of --kind, all of which must be known; None for none."""
    for kind in kinds or ():
        if kind not in known:
            near = difflib.get_close_matches(kind, known, n=1)
            raise Refused(f"--kind: no such kind of {of}: {kind}; {f'did you mean {near[0]}?' if near else hint}")
    return kinds or None


def confirm(question: str, refusal: str, *, is_sure: bool) -> None:
    """Ask at the terminal unless --yes was given. Raises `Refused` for a no, and where nobody can answer."""
    if not is_sure and not (sys.stdin.isatty() and typer.confirm(question)):
        raise Refused(refusal)


def use_remote(named: RemoteDaemon | None) -> None:
    """Make the commands of this process call this daemon; None: that of this home."""
    _REMOTE.set(named)


def remote() -> RemoteDaemon | None:
    """The daemon that `qd --url` names; None without it."""
    return _REMOTE.get()


def endpoint() -> tuple[str, str]:
    """The address of the daemon that is meant, and a token for it."""
    named = remote()
    return named.endpoint() if named else Client.endpoint(home_path())


def client(timeout: float = CALL_SECONDS) -> Client:
    """A client for the daemon that is meant: of this home, or the one of `qd --url`."""
    if (named := remote()) is None:
        return Client.of_home(home_path(), timeout=timeout)
    return Client(*named.endpoint(), timeout=timeout, hint=HINT)


def full_session_id(api: Client, session: str) -> str:
    """The full id of a session, from its id or the beginning of it, as tables show it."""
    if len(session) == SESSION_ID_LENGTH:
        return session  # may be newer than the daemon's last scan
    found = [s.session_id for s in api.sessions()]
    return full_id(found, session, "session", "qd sessions --all")


def project_id_named(api: Client, project: str) -> str:
    """The id of the project with this id, folder or name; of several with one name, none."""
    found = api.get("/api/v1/projects")["projects"]
    folder = str(Path(project).resolve()) if "/" in project or project in (".", "..") else None
    named = [one for one in found if project in (one["project_id"], one["name"]) or one["path"] == folder]
    if folder is not None and not named:
        return str(project_id_of(folder))  # its sessions may be known though no scan found it
    if len({one["project_id"] for one in named}) != 1:
        which = "more than one project is" if named else "no project is"
        raise Refused(f"--project: {which} called {project}; name its folder, see: qd projects")
    return str(named[0]["project_id"])


def full_request_id(api: Client, start: str | None) -> str:
    """The full id of a request: from its id, its beginning or its number among those that wait; without any of it, the
    only one that waits."""
    if start is not None and not ID.fullmatch(start):
        raise Refused(f"no such request: {start}; see: qd requests")
    waiting = [str(one["request_id"]) for one in api.all("/api/v1/requests", status="pending")]
    return request_named(waiting, start)


def request_named(waiting: list[str], start: str | None) -> str:
    """The one of these requests that is meant. Its number is the one after the dash, which stays the same while other
    requests come and go, as a position in the list would not. An unknown id may be that of a decided request."""
    if start is None and not waiting:
        raise Refused("no requests are waiting")
    named = [one for one in waiting if start is None or one.startswith(start) or one.rpartition("-")[2] == start]
    if start in waiting or not named:
        return str(start)
    if len(named) > 1:
        which = f"{len(named)} requests wait" if start is None else f"{start} may be one of {len(named)} requests"
        raise Refused(f"{which}; name one of them: {', '.join(named)}")
    return named[0]


def full_id(known: Iterable[str], start: str, what: str, listing: str) -> str:
    """The one id with this beginning. Raises `Refused` when there is none or more than one."""
    matches = [one for one in known if start and one.startswith(start)]
    if start in matches or len(matches) == 1:
        return start if start in matches else matches[0]
    raise Refused(f"{'more than one' if matches else 'no'} {what} starts with {start}; see: {listing}")


def settings(file: Path | None = None, **flags: Json) -> Config:
    """The settings of this home; `flags` override them, by section."""
    from quarterdeck.config.loader import load_config

    return load_config(home_path(), file, flags=flags)


def without_empty(**fields: Any) -> Json:
    """The fields of a request body that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, [], "", False)}


def table(rows: Iterable[R], columns: Mapping[str, str | Callable[[R], object]], wide: Collection[str] = ()) -> Table:
    """A row for each resource. Only `wide` columns break a long text into lines."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        shown.add_column(name, no_wrap=name not in wide, overflow="fold" if name in wide else "ellipsis")
    for row in rows:
        values = (_field(row, read) if isinstance(read, str) else read(row) for read in columns.values())
        shown.add_row(*(value if isinstance(value, Text) else cell(value) for value in values))
    return shown


def _field(row: object, name: str) -> object:
    return row[name] if isinstance(row, Mapping) else getattr(row, name)


def cell(value: object, style: str = "") -> Text:
    """Text from outside as one line, without control characters."""
    return Text(one_line(str(value)), style=style)


def time_or_never(at: float | None) -> str:
    return date_and_time(at) if at else "never"


def state_cell(session: SessionView) -> Text:
    known = state_label(session)
    return cell(f"{known.glyph} {known.word}", known.colour)
