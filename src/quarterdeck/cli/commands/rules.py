"""`qd rules`: list, add, test, explain, simulate, suggest and remove rules."""

from __future__ import annotations

import json as jsonlib
import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import RenderableType
from rich.text import Text

from quarterdeck.cli.commands.rule_files import export_rules, import_rules
from quarterdeck.cli.common import (
    Columns,
    Expires,
    Json,
    Output,
    Yes,
    argument,
    cell,
    client,
    command,
    confirm,
    default_command,
    full_id,
    full_request_id,
    group,
    option,
    out,
    require_one_of,
    table,
    time_or_never,
)
from quarterdeck.cli.output.progress import progress_bar
from quarterdeck.cli.output.request_card import styled_texts
from quarterdeck.cli.output.time_args import read_duration
from quarterdeck.core.model.rule import ONLY_SESSION, SCOPES, Rule
from quarterdeck.core.model.tool_kinds import MAIN_FIELDS
from quarterdeck.core.patterns.coverage import coverage
from quarterdeck.core.patterns.rule_words import word_kind
from quarterdeck.core.rules.lint import lint
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import Misused
from quarterdeck.surfaces.terminal.forms.rule_form import rule_place
from quarterdeck.surfaces.terminal.lines.rule_lines import add_simulated, explanation_lines, rule_line, simulation_lines
from quarterdeck.surfaces.text.labels import ago

app = group("Manage rules, which allow or deny tool calls for you.", name="rules")
command(app, "import")(import_rules)
command(app, "export")(export_rules)

EFFECTS = ("allow", "deny", "ask")
STYLE = {"allow": "green", "deny": "red", "ask": "yellow"}
Words = Annotated[
    list[str],
    argument(
        "Effect and pattern of the rule, for example: allow 'Bash(git log:*)'.", metavar="[allow|deny|ask] PATTERN"
    ),
]
ScopeOption = Annotated[str | None, option("Where the rule applies (default: user).", metavar="|".join(SCOPES))]
SessionOption = Annotated[str | None, option("Session that the rule or call belongs to.", "--session")]
ProjectOption = Annotated[Path | None, option("Apply the rule only in this folder and below.", "--project")]
EffectOption = Annotated[
    str | None, option("Effect if you pass only a PATTERN.", "--effect", metavar="|".join(EFFECTS))
]
ToolArgument = Annotated[
    str, argument("Tool, like Bash, or with its input, like 'Bash(ls)'; or a request's id.", metavar="TOOL|REQUEST")
]
InputArgument = Annotated[
    str, argument("Input of the tool: a command, path or URL, or the whole input as JSON.", metavar="INPUT")
]
Cwd = Annotated[Path | None, option("Working directory of the agent (default: this one).", "--cwd")]


@default_command(app)
@command(app, "list")
def list_rules() -> Output:
    """List the rules, with their hits and with conflicts between them."""
    found = client().get("/api/v1/rules")
    return Output(found, _listing(found))


def _listing(found: Json) -> Iterator[RenderableType]:
    columns: Columns = {
        "id": "rule_id",
        "effect": _effect,
        "pattern": "pattern",
        "applies": _place,
        "hits": "hits",
        "last": lambda rule: ago(rule["last_hit_at"]),
        "expires": lambda rule: time_or_never(rule["expires_at"]),
    }
    hint = "No rules. Add one with: qd rules add allow 'Bash(git log:*)', or with --remember when you decide."
    yield table(found["rules"], columns, ("pattern", "applies")) if found["rules"] else hint
    yield from (cell(f"! {finding}", "yellow") for finding in found["findings"])


def _effect(rule: Json) -> Text:
    return cell(rule["effect"], STYLE[rule["effect"]])


def _place(rule: Json) -> str:
    return rule_place(rule, whole_path=True)


def _rule_text(rule: Json, more: str) -> Text:
    """A rule on a line, with more about it."""
    return next(styled_texts([rule_line(rule, more)]))


@command(app)
def add(
    words: Words,
    scope: ScopeOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    effect: EffectOption = None,
    expires: Expires = None,
    note: Annotated[str | None, option("Reason for the rule; a denied agent reads it.")] = None,
    yes: Yes = False,
) -> Output:
    """Add a rule. It also decides the waiting requests that it covers. A very broad one is added only after you
    confirm it, or with --yes."""
    ends = {"expires_at": time.time() + read_duration(expires)} if expires else {}
    body = _rule(words, effect, scope, session, project) | ends
    for problem in broad_problems(body):
        sys.stderr.write(f"{problem}\n")
        confirm("Add it anyway?", "nothing was added; use --yes to add such a broad rule", is_sure=yes)
    rule = client().post("/api/v1/rules", {**body, "note": note} if note else body)
    lines: list[RenderableType] = [_rule_text(rule, _place(rule))]
    if rule["effect"] == "allow" and (covers := coverage(rule["pattern"])):
        lines.append(cell(f"It {covers}.", "dim"))
    lines += [cell(f"! {finding}", "yellow") for finding in rule["findings"]]
    lines.append(cell(f"{rule['rule_id']}; remove it with: qd rules remove {rule['rule_id']}", "dim"))
    if ids := rule["also_decided"]:
        lines.append(f"It also decided {len(ids)} waiting: {', '.join(ids)}")
    return Output(rule, lines)


def broad_problems(body: Json) -> list[str]:
    """What makes the rule of a request body too broad to add without a question."""
    fields = {name: body[name] for name in ("effect", "pattern", "scope")}
    rule = Rule(rule_id="new", created_at=0.0, created_by="", **fields)
    return [finding.text for finding in lint([rule]) if finding.kind == "broad"]


def _rule(words: list[str], effect: str | None, scope: str | None, session: str | None, project: Path | None) -> Json:
    """The rule of a command line, as a request body."""
    patterns = [word for word in words if word not in EFFECTS]
    effects = [*(word for word in words if word in EFFECTS), *([effect] if effect else [])]
    require_one_of("--effect", effect, EFFECTS)
    require_one_of("--scope", scope, SCOPES)
    if not effects and len(patterns) == 2:
        raise Misused(f"the effect must be allow, deny or ask, is {patterns[0]!r}; like: allow 'Bash(git log:*)'")
    if len(effects) != 1 or len(patterns) != 1 or effects[0] not in EFFECTS:
        raise typer.BadParameter("must be one effect and one pattern, like: allow 'Bash(git log:*)'")
    return {"effect": effects[0], "pattern": patterns[0], **_scope_fields(scope, session, project)}


def _scope_fields(scope: str | None, session: str | None, project: Path | None) -> Json:
    """The scope fields of a rule. A contradiction is an error, so that no rule is broader than intended."""
    if session == "":
        raise Misused("--session: must not be empty; see: qd sessions")
    if session and project:
        raise Misused("--session and --project: a rule applies to a session or a folder; use one of them")
    found = scope or ("session" if session else "project" if project else "user")
    if session and found not in ("session", "once"):
        raise Misused(f"--session: a rule with scope {found} applies to every session; use one of them")
    if project and found != "project":
        raise Misused(f"--project: a rule with scope {found} applies in every folder; use one of them")
    if found == "session" and not session:
        raise Misused("--scope session: needs --session ID; see: qd sessions")
    if found == "project":
        return {"scope": found, "scope_path": str((project or Path.cwd()).resolve())}
    return {"scope": found, "scope_id": session} if session else {"scope": found}


@command(app)
def remove(
    rule_ids: Annotated[list[str], argument("Ids of rules, from `qd rules list`.", metavar="RULE…")],
) -> None:
    """Remove rules."""
    api = client()
    known = [str(rule["rule_id"]) for rule in api.get("/api/v1/rules")["rules"]]
    full_ids = [full_id(known, start, "rule", "qd rules list; nothing was removed") for start in rule_ids]
    for rule_id in dict.fromkeys(full_ids):
        api.call("DELETE", f"/api/v1/rules/{quote(rule_id, safe='')}")
    out.print("Removed.")


@command(app)
def clear(
    scope: Annotated[str | None, option("Only rules of this scope.", metavar="|".join(SCOPES))] = None,
    yes: Yes = False,
) -> None:
    """Remove all rules, or all of one scope."""
    require_one_of("--scope", scope, SCOPES)
    api = client()
    gone = [rule for rule in api.get("/api/v1/rules")["rules"] if scope in (None, rule["scope"])]
    for rule in gone:
        out.print(_rule_text(rule, _place(rule)))
    if not gone:
        out.print("No rules to remove.")
        return
    refusal = "nothing was removed; use --yes to remove them without confirmation"
    confirm(f"Remove these {len(gone)} rules?", refusal, is_sure=yes)
    for rule in gone:
        api.call("DELETE", f"/api/v1/rules/{rule['rule_id']}")
    out.print(f"Removed {len(gone)}.")


@command(app, "test")
def try_rules(tool: ToolArgument, input: InputArgument = "", session: SessionOption = None, cwd: Cwd = None) -> Output:
    """Show whether a tool call would be allowed, and by which rule."""
    found = _explained(tool, input, session, cwd)
    return Output(found, styled_texts(explanation_lines(found, is_whole=False)))


@command(app)
def explain(tool: ToolArgument, input: InputArgument = "", session: SessionOption = None, cwd: Cwd = None) -> Output:
    """Explain a verdict. Shows every rule for the tool, whether it matched, and why."""
    found = _explained(tool, input, session, cwd)
    return Output(found, styled_texts(explanation_lines(found if session else _with_hints(found))))


def _with_hints(found: Json) -> Json:
    """An explanation that names the option for rules of a session."""
    rows = [
        one | {"why": f"{one['why']}; try --session"} if one["why"].startswith(ONLY_SESSION) else one
        for one in found["considered"]
    ]
    return found | {"considered": rows}


def _explained(tool: str, text: str, session: str | None, cwd: Path | None) -> Json:
    api = client()
    body = tool_use_body(tool, text, session, cwd)
    named = {"request_id": full_request_id(api, body["request_id"])} if "request_id" in body else {}
    return api.post("/api/v1/rules/explain", body | named)


def tool_use_body(tool: str, text: str, session: str | None, cwd: Path | None) -> Json:
    """The request body for TOOL and INPUT, for both in one like Bash(ls), or for the id of a request."""
    if not text and (written := re.fullmatch(r"([^\s()]+)\((.*)\)\s*", tool, re.DOTALL)):
        tool, text = written[1], written[2]
    elif re.search(r"[\s()]", tool):
        raise Misused(
            f"{one_line(tool)}: must be a tool and its input, like Bash 'git log', or both as 'Bash(git log)'"
        )
    elif not text and not tool[:1].isupper() and not tool.startswith("mcp__"):
        return {"request_id": tool}
    here = {} if session and cwd is None else {"cwd": str((cwd or Path.cwd()).resolve())}
    return {"tool_name": tool, "tool_input": _input(tool, text), **here, **({"session_id": session} if session else {})}


def _input(tool: str, text: str) -> Json:
    if text.lstrip().startswith("{"):
        try:
            value = jsonlib.loads(text)
        except (ValueError, RecursionError) as error:
            raise typer.BadParameter(f"invalid JSON: {error}", param_hint="INPUT") from None
        return dict(value)
    key = MAIN_FIELDS.get(word_kind(tool))
    if text and key is None and word_kind(tool.capitalize()) in MAIN_FIELDS:
        raise Misused(f"no tool is called {tool}; did you mean {tool.capitalize()}?")
    if text and key is None:
        raise typer.BadParameter(f"the input of {one_line(tool)} must be JSON", param_hint="INPUT")
    return {key: text} if text and key else {}


@command(app)
def simulate(
    words: Words,
    scope: ScopeOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    effect: EffectOption = None,
    last: Annotated[int, option("Maximum number of past requests to try.", min=1)] = 10_000,
) -> Output:
    """Try a rule on past requests before you add it. Shows how many it would have decided, and where you decided
    otherwise."""
    body = _rule(words, effect, scope, session, project)
    result = _simulate(body, last)
    return Output(result, styled_texts(simulation_lines(result, body["effect"])))


def _simulate(body: Json, last: int) -> Json:
    """The result of a rule on the last past requests. Ctrl-C reports how far it got."""
    result: Json = {"seen": 0, "decided": 0, "surprises": [], "examples": []}
    api = client()
    before: Json = {}
    try:
        with progress_bar("Reading past requests") as progress:
            while result["seen"] < last:
                limit = min(2000, last - result["seen"])
                page = api.post("/api/v1/rules/simulate", {**body, "limit": limit, **before})
                result = add_simulated(result, page)
                progress(result["seen"], min(last, result["seen"] + page["left"]))
                if page["next"] is None:
                    break
                before = {"before": page["next"]}
    except KeyboardInterrupt:
        sys.stderr.write(f"quarterdeck: interrupted after {result['seen']:,} requests; nothing was changed\n")
        raise
    return result


@command(app)
def suggest() -> Output:
    """Suggest rules from your own decisions, with the evidence."""
    found = client().get("/api/v1/rules/suggestions")
    return Output(found, _suggestions(found))


def _suggestions(found: Json) -> Iterator[RenderableType]:
    if not found["suggestions"]:
        yield f"No suggestions yet, from {found['seen']:,} requests."
    for one in found["suggestions"]:
        yield _rule_text(one, f"you decided so {one['times']} times, last {ago(one['last_at'])}")
        yield from (cell(f"    {example['subject']}", "dim") for example in one["examples"])
        place = ["--project", one["scope_path"]] if one["scope"] == "project" else []
        yield f"  {shlex.join(['qd', 'rules', 'add', one['effect'], one['pattern'], *place])}"
