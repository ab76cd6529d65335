"""Standing decisions from the command line: made, listed, tried on a call or on the past, taken back."""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.commands import rule_files
from quarterdeck.cli.commands.rule_files import where
from quarterdeck.cli.common import AsJson, ago, cell, client, one_of, out, plainly, print_json
from quarterdeck.cli.output.time_args import read_length
from quarterdeck.core.model.rule import SCOPES
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import Misused, Refused
from quarterdeck.surfaces.client.http import Client

rules = typer.Typer(
    help="Standing decisions: what is allowed or denied without you.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EFFECTS = ("allow", "deny", "ask")
STYLE = {"allow": "green", "deny": "red", "ask": "yellow"}
MAIN = {
    "Bash": "command",
    "WebFetch": "url",
    "WebSearch": "query",
    "Grep": "pattern",
    "Glob": "pattern",
    "Agent": "subagent_type",
    "Task": "subagent_type",
}
FILES = frozenset({"Read", "Edit", "Write", "MultiEdit", "LS", "NotebookRead"})

Words = Annotated[list[str], typer.Argument(metavar="[allow|deny|ask] PATTERN", help="Like: allow 'Bash(git log:*)'.")]
ScopeOption = Annotated[str | None, typer.Option(help="once, session, project, user or hub; user unless told.")]
SessionOption = Annotated[str | None, typer.Option("--session", help="Only this session.")]
ProjectOption = Annotated[Path | None, typer.Option("--project", help="Only in this folder and below.")]
EffectOption = Annotated[str | None, typer.Option("--effect", help="allow, deny or ask, where PATTERN stands alone.")]
Expires = Annotated[str | None, typer.Option(help="How long it holds, like 12h or 7d; without it for ever.")]
ToolArgument = Annotated[str, typer.Argument(metavar="TOOL|REQUEST", help="A tool like Bash, or the id of a request.")]
InputArgument = Annotated[
    str, typer.Argument(metavar="INPUT", help="A command, path or URL; or the whole input as JSON.")
]
Cwd = Annotated[Path | None, typer.Option("--cwd", help="Where the agent works; here unless told.")]


@rules.command("list")
@plainly
def list_rules(json: AsJson = False) -> None:
    """List the rules, how often each has decided, what is odd."""
    found = client().get("/api/v1/rules")
    if json:
        print_json(found)
        return
    if not found["rules"]:
        out.print("No rules. Make one with: qd rules add allow 'Bash(git log:*)', or with --remember when you decide.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("id", "effect", "pattern", "holds", "hits", "last", "ends"):
        table.add_column(column, no_wrap=column not in ("pattern", "holds"), overflow="fold")
    for rule in found["rules"]:
        table.add_row(
            cell(rule["rule_id"]),
            cell(rule["effect"], STYLE[rule["effect"]]),
            cell(rule["pattern"]),
            cell(where(rule)),
            cell(rule["hits"]),
            cell(ago(rule["last_hit_at"])),
            cell(_end(rule["expires_at"])),
        )
    out.print(table)
    for finding in found["findings"]:
        out.print(cell(f"! {finding}", "yellow"))


def _end(at: float | None) -> str:
    return time.strftime("%d %b %H:%M", time.localtime(at)) if at else "never"


@rules.command("add")
@plainly
def add(
    words: Words,
    scope: ScopeOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    effect: EffectOption = None,
    expires: Expires = None,
    note: Annotated[str | None, typer.Option(help="Why; a denied agent reads it.")] = None,
    json: AsJson = False,
) -> None:
    """Make a rule. It also settles the requests that wait and that it covers."""
    body = _rule(words, effect, scope, session, project)
    if expires:
        body["expires_at"] = time.time() + read_length(expires)
    made = client().post("/api/v1/rules", {**body, "note": note} if note else body)
    if json:
        print_json(made)
        return
    out.print(Text.assemble((made["effect"], STYLE[made["effect"]]), " ", cell(made["pattern"]), f" · {where(made)}"))
    out.print(cell(f"{made['rule_id']}; take it back with: qd rules remove {made['rule_id']}", "dim"))
    if made["also_decided"]:
        out.print(cell(f"It settled {len(made['also_decided'])} waiting: {', '.join(made['also_decided'])}"))


def _rule(
    words: list[str], effect: str | None, scope: str | None, session: str | None, project: Path | None
) -> dict[str, Any]:
    """The rule that a command line names."""
    said = [word for word in words if word in EFFECTS]
    patterns = [word for word in words if word not in EFFECTS]
    effects = [*said, *([effect] if effect else [])]
    one_of("--effect", effect, EFFECTS)
    one_of("--scope", scope, SCOPES)
    if not effects and len(patterns) == 2:
        raise Misused(f"the effect must be allow, deny or ask, is {patterns[0]!r}; like: allow 'Bash(git log:*)'")
    if len(effects) != 1 or len(patterns) != 1 or effects[0] not in EFFECTS:
        raise typer.BadParameter("name one effect and one pattern, like: allow 'Bash(git log:*)'")
    place = _place(scope, session, project)
    return {"effect": effects[0], "pattern": patterns[0], **place}


def _place(scope: str | None, session: str | None, project: Path | None) -> dict[str, Any]:
    """Where the rule holds. Nothing that was said to narrow it is left out of account."""
    if session == "":
        raise Misused("--session: names no session; see: qd sessions")
    if session and project:
        raise Misused("--session and --project: a rule holds for a session or in a folder; name one")
    found = scope or ("session" if session else "project" if project else "user")
    if session and found not in ("session", "once"):
        raise Misused(f"--session: a rule of scope {found} holds for every session; leave one of them out")
    if project and found != "project":
        raise Misused(f"--project: a rule of scope {found} holds in every folder; leave one of them out")
    if found == "session" and not session:
        raise Misused("a session rule names its session: --session ID; see: qd sessions")
    if found == "project":
        return {"scope": found, "scope_path": str((project or Path.cwd()).resolve())}
    return {"scope": found, "scope_id": session} if session else {"scope": found}


@rules.command("remove")
@plainly
def remove(
    rule_ids: Annotated[list[str], typer.Argument(metavar="ID…", help="As `qd rules list` shows them.")],
) -> None:
    """Take rules back."""
    asked = client()
    known = [str(rule["rule_id"]) for rule in asked.get("/api/v1/rules")["rules"]]
    for rule_id in dict.fromkeys(_whole_id(known, start) for start in rule_ids):
        asked.call("DELETE", f"/api/v1/rules/{quote(rule_id, safe='')}")
    out.print("Removed.")


def _whole_id(known: list[str], start: str) -> str:
    """The rule that is meant by its id or the start of it."""
    near = [start] if start in known else [one for one in known if start and one.startswith(start)]
    if len(near) == 1:
        return near[0]
    few = f"no such rule: {start}" if not near else f"more than one rule begins with {start}"
    raise Refused(f"{few}; nothing was removed; see: qd rules list")


@rules.command("clear")
@plainly
def clear(
    scope: Annotated[str | None, typer.Option(help="Only rules of this scope.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Take all rules back, or all of one scope."""
    one_of("--scope", scope, SCOPES)
    asked = client()
    gone = [rule for rule in asked.get("/api/v1/rules")["rules"] if scope in (None, rule["scope"])]
    for rule in gone:
        out.print(cell(f"{rule['effect']} {rule['pattern']} · {where(rule)}"))
    if not gone:
        out.print("No rules to remove.")
        return
    if not yes and not (sys.stdin.isatty() and typer.confirm(f"Remove these {len(gone)}?")):
        raise Refused("nothing was removed; say --yes to remove them without a question")
    for rule in gone:
        asked.call("DELETE", f"/api/v1/rules/{rule['rule_id']}")
    out.print(f"Removed {len(gone)}.")


@rules.command("test")
@plainly
def try_rules(
    tool: ToolArgument,
    input: InputArgument = "",
    session: SessionOption = None,
    cwd: Cwd = None,
    json: AsJson = False,
) -> None:
    """Would this call be allowed, and by which rule?"""
    _explained(_question(tool, input, session, cwd), as_json=json)


@rules.command("explain")
@plainly
def explain(
    tool: ToolArgument,
    input: InputArgument = "",
    session: SessionOption = None,
    cwd: Cwd = None,
    json: AsJson = False,
) -> None:
    """Show the whole evaluation. Every rule of the tool, whether it matched, and why or why not."""
    found = _explained(_question(tool, input, session, cwd), as_json=json)
    if json:
        return
    for one in found["considered"]:
        rule = one["rule"]
        mark = "✓" if one["matched"] else "·"
        out.print(
            Text.assemble(f"  {mark} ", (rule["effect"], STYLE[rule["effect"]]), " ", cell(rule["pattern"]), " · "),
            cell(f"{where(rule)} · {one['why']}", "dim"),
            sep="",
        )
    if found["patterns"]:
        out.print(cell("Could be remembered as: " + ", ".join(found["patterns"]), "dim"))


def _explained(question: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    """The daemon's whole answer, of which the verdict is printed; all of it as JSON."""
    found = client().post("/api/v1/rules/explain", question)
    if as_json:
        print_json(found)
    else:
        _say_verdict(found)
    return found


def _question(tool: str, text: str, session: str | None, cwd: Path | None) -> dict[str, Any]:
    if not text and not tool[:1].isupper() and not tool.startswith("mcp__"):
        return {"request_id": tool}
    here = {"session_id": session} if session and cwd is None else {"cwd": str((cwd or Path.cwd()).resolve())}
    body = {"tool_name": tool, "tool_input": _input(tool, text), **here}
    return {**body, "session_id": session} if session else body


def _input(tool: str, text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            value = jsonlib.loads(text)
        except (ValueError, RecursionError) as error:
            raise typer.BadParameter(f"not JSON: {error}", param_hint="INPUT") from None
        return dict(value)
    key = "file_path" if tool in FILES else "notebook_path" if tool == "NotebookEdit" else MAIN.get(tool)
    if text and key is None:
        raise typer.BadParameter(f"write the input of {one_line(tool)} as JSON", param_hint="INPUT")
    return {key: text} if text and key else {}


def _say_verdict(found: dict[str, Any]) -> None:
    words = {"allow": "Allowed", "deny": "Denied", "ask": "Asks you", None: "Asks you"}
    style = STYLE.get(found["effect"] or "ask", "")
    by = ", ".join(f"{rule['pattern']} · {where(rule)}" for rule in found["rules"])
    why = "; ".join(found["reasons"])
    out.print(
        Text.assemble(
            (words[found["effect"]], style), cell(f" by rule {by}" if by else ""), cell(f": {why}" if why else "")
        )
    )


@rules.command("simulate")
@plainly
def simulate(
    words: Words,
    scope: ScopeOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    effect: EffectOption = None,
    last: Annotated[int, typer.Option(min=1, help="How many past requests to look at.")] = 10_000,
    json: AsJson = False,
) -> None:
    """Replay past requests against a rule before it is made. How many it would have decided, and which surprise."""
    body = _rule(words, effect, scope, session, project)
    told = _look_back(body, last)
    if json:
        print_json(told)
        return
    if not told["seen"]:
        out.print("There is no past request to try it on.")
        return
    would = {"allow": "allowed", "deny": "denied", "ask": "asked about"}[body["effect"]]
    past = f"{told['seen']:,} requests" if told["seen"] > 1 else "request"
    out.print(f"Of the last {past} it would have {would} {told['decided']:,}.")
    for one in told["surprises"]:
        out.print(
            Text.assemble(
                ("! ", "yellow"),
                cell(f"{ago(one['at'])}  {one['tool_name']}  {one['subject']}"),
                cell(f" · {one['surprise']}", "yellow"),
            )
        )
    for one in told["examples"][:5]:
        out.print(cell(f"  {ago(one['at'])}  {one['tool_name']}  {one['subject']}", "dim"))
    more = told["decided"] - len(told["surprises"]) - len(told["examples"][:5])
    if more > 0:
        out.print(cell(f"  … and {more:,} more", "dim"))


def _look_back(body: dict[str, Any], last: int) -> dict[str, Any]:
    """What the rule would have done to the past, as far back as asked. Ctrl-C says how far it came."""
    told: dict[str, Any] = {"seen": 0, "decided": 0, "surprises": [], "examples": []}
    try:
        _read_pages(client(), body, last, told)
    except KeyboardInterrupt:
        sys.stderr.write(f"quarterdeck: interrupted after {told['seen']:,} requests; nothing was changed\n")
        raise
    return told


def _read_pages(asked: Client, body: dict[str, Any], last: int, told: dict[str, Any]) -> None:
    """Page after page, with a bar on a terminal."""
    columns = (TextColumn("Looking back"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("", total=None)
        before = None
        while told["seen"] < last:
            limit = min(2000, last - told["seen"])
            page = asked.post(
                "/api/v1/rules/simulate", {**body, "limit": limit, **({"before": before} if before else {})}
            )
            for count in ("seen", "decided"):
                told[count] += page[count]
            told["surprises"] = (told["surprises"] + page["surprises"])[:50]
            told["examples"] = (told["examples"] + page["examples"])[:50]
            progress.update(bar, completed=told["seen"], total=min(last, told["seen"] + page["left"]))
            before = page["next"]
            if before is None:
                break


@rules.command("suggest")
@plainly
def suggest(json: AsJson = False) -> None:
    """Rules that your own decisions imply, with the evidence."""
    found = client().get("/api/v1/rules/suggestions")
    if json:
        print_json(found)
        return
    if not found["suggestions"]:
        out.print(f"Nothing yet: {found['seen']:,} requests show no habit that a rule does not know.")
        return
    for one in found["suggestions"]:
        command = ["qd", "rules", "add", one["effect"], one["pattern"]]
        command += ["--project", one["scope_path"]] if one["scope"] == "project" else []
        out.print(
            Text.assemble(
                (one["effect"], STYLE[one["effect"]]),
                " ",
                cell(one["pattern"]),
                cell(f" · you did so {one['times']} times, last {ago(one['last_at'])}", "dim"),
            )
        )
        for example in one["examples"]:
            out.print(cell(f"    {example['subject']}", "dim"))
        out.print(cell(f"  {shlex.join(command)}"))


rules.command("import")(rule_files.import_rules)
rules.command("export")(rule_files.export_rules)


def register(cli: typer.Typer) -> None:
    cli.add_typer(rules, name="rules")
