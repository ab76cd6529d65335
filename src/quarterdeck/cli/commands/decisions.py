"""Deciding from the command line: allow, deny, answer, pass."""

from __future__ import annotations

import json as jsonlib
import sys
from typing import Annotated, Any

import typer

from quarterdeck.cli.commands.rule_files import where
from quarterdeck.cli.common import AsJson, cell, client, one_of, out, plainly, print_json
from quarterdeck.cli.output.prompts import answers_from, ask_person
from quarterdeck.cli.output.request_lines import describe
from quarterdeck.cli.output.time_args import read_length
from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.core.model.payload import ID
from quarterdeck.core.model.risk_levels import MARKS
from quarterdeck.core.model.rule import SCOPES
from quarterdeck.core.text.titles import subject_of
from quarterdeck.errors import Refused

RequestId = Annotated[str, typer.Argument(metavar="ID", help="The request, as `qd requests` shows it.")]
RequestIds = Annotated[
    list[str], typer.Argument(metavar="ID…", help="The request, as `qd requests` shows it; several are shown first.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Decide several without a question.")]
Note = Annotated[str | None, typer.Option(help="A note for the record.")]
Remember = Annotated[str | None, typer.Option(metavar="SCOPE", help="Remember it: session, project, user or hub.")]
Pattern = Annotated[
    str | None, typer.Option(help="What to remember, like 'Bash(git log:*)'; the narrowest that covers it unless told.")
]
KEEPERS = ("session", "local", "project", "user")
"""Where Claude Code can keep a rule."""

Expires = Annotated[str | None, typer.Option(help="How long to remember it, like 12h or 7d; without it for ever.")]


@plainly
def allow(
    request_ids: RequestIds,
    input: Annotated[str | None, typer.Option("--input", help="Run it with this JSON object as its input.")] = None,
    mode: Annotated[
        str | None,
        typer.Option(help=f"How the agent works on a plan that you approve: {', '.join(PlanMode)}."),
    ] = None,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    claude: Annotated[
        str | None,
        typer.Option(metavar="KEEPER", help="Let Claude Code remember it too: session, local, project or user."),
    ] = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Let the tool run, or approve a plan. As asked or with an edited input; with --remember also the next time."""
    one_of("--mode", mode, PlanMode)
    edited = None if input is None else _object(input, "--input")
    kept = _remembered(remember, pattern, expires, claude)
    if len(request_ids) > 1:
        if edited or mode or kept:
            raise typer.BadParameter("--input, --mode and --remember go with one request")
        decide_many(request_ids, "allow", {"note": note}, is_sure=yes, as_json=json)
        return
    shown = _shown(request_ids[0])
    if shown["form"] in ("questions", "elicitation"):
        raise Refused(f"{request_ids[0]} asks for an answer; give it with: qd answer {request_ids[0]}")
    _decide(shown, json, decision="allow", updated_input=edited, mode=mode, note=note, remember=kept)


@plainly
def deny(
    request_ids: RequestIds,
    message: Annotated[str | None, typer.Option("--message", "-m", help="What the agent reads.")] = None,
    interrupt: Annotated[bool, typer.Option("--interrupt", help="Also stop its turn.")] = False,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Refuse, send a plan back, or keep an agent from stopping. It reads the message word for word."""
    kept = _remembered(remember, pattern, expires)
    said = {"message": message, "interrupt": interrupt or None, "note": note}
    if len(request_ids) > 1:
        if kept:
            raise typer.BadParameter("--remember goes with one request")
        decide_many(request_ids, "deny", said, is_sure=yes, as_json=json)
        return
    shown = _shown(request_ids[0])
    _decide(shown, json, decision=_word(shown, "deny"), **said, remember=kept)


@plainly
def answer(
    request_id: RequestId,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LABEL]…",
            help="For each question a label, its number or your own words, '1,3' where several may be chosen; "
            "NAME=VALUE for a form.",
        ),
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help='JSON object: {"<question text>": "<label or free text>"}, or a form\'s fields.')
    ] = None,
    notes: Annotated[str | None, typer.Option(help='JSON object: {"<question text>": "<note>"}.')] = None,
    note: Note = None,
    json: AsJson = False,
) -> None:
    """Answer a question or fill in a form. At a terminal without any answer given, asks for each."""
    given = _object(answers, "--answers") if answers is not None else None
    noted = _object(notes, "--notes") if notes is not None else None
    if given is None and not words and not sys.stdin.isatty():
        raise typer.BadParameter("give labels, or --answers", param_hint="[LABEL]…")
    request = _shown(request_id)
    if request["form"] not in ("questions", "elicitation"):
        raise Refused(f"{request_id} asks for no answer; decide it with: qd allow, qd deny or qd pass")
    if given is None and words:
        given = answers_from(request, words)
    elif given is None:
        given, noted = ask_person(request)
        if not given:
            raise Refused(f"nothing was answered; {request_id} still waits")
    _decide(request, json, decision="answer", answers=given, notes=noted, note=note)


@plainly
def pass_(request_ids: RequestIds, note: Note = None, yes: Yes = False, json: AsJson = False) -> None:
    """Leave it to the agent's own dialog at its terminal."""
    if len(request_ids) > 1:
        decide_many(request_ids, "pass", {"note": note}, is_sure=yes, as_json=json)
    else:
        _decide(_shown(request_ids[0]), json, decision="pass", note=note)


def decide_many(request_ids: list[str], decision: str, said: dict[str, Any], *, is_sure: bool, as_json: bool) -> None:
    """Show each, ask once, then decide each by its own id and digest."""
    shown = [_shown(request_id) for request_id in dict.fromkeys(request_ids)]
    if not as_json:
        for request in shown:
            risk = request["risk"]["level"]
            out.print(cell(f"{request['session_id'][:8]}  {MARKS.get(risk, ''):<3} {about(request)}"))
    word = {"allow": "Allow", "deny": "Deny", "pass": "Pass"}[decision]
    if not is_sure and not (sys.stdin.isatty() and typer.confirm(f"{word} these {len(shown)}?")):
        raise Refused(f"nothing was decided; say --yes to {decision} all {len(shown)} without a question")
    given = {k: v for k, v in said.items() if v is not None}
    named = [
        {
            **given,
            "request_id": request["request_id"],
            "digest": request["digest"],
            "decision": _word(request, decision),
        }
        for request in shown
    ]
    told = client().post("/api/v1/requests/decisions", {"decisions": named})
    if as_json:
        print_json(told)
    else:
        for request, one in zip(shown, told["decisions"], strict=True):
            how = WORDS[one["decision"]["decision"]] if one["ok"] else f"Not decided, {one['error']['message']}"
            out.print(cell(f"{how}: {about(request)}"))
    if not all(one["ok"] for one in told["decisions"]):
        raise typer.Exit(1)


def _word(request: dict[str, Any], decision: str) -> str:
    return "block" if decision == "deny" and request["kind"] == "stop" else decision


WORDS = {
    "allow": "Allowed",
    "deny": "Denied",
    "block": "Goes on",
    "answer": "Answered",
    "pass": "Passed to the terminal",
}


def _remembered(
    scope: str | None, pattern: str | None, expires: str | None, claude: str | None = None
) -> dict[str, Any] | None:
    if scope is None and (pattern or expires or claude):
        raise typer.BadParameter("--pattern, --expires and --claude go with --remember SCOPE")
    one_of("--remember", scope, SCOPES)
    one_of("--claude", claude, KEEPERS)
    if scope is None:
        return None
    kept: dict[str, Any] = {"scope": scope}
    if pattern:
        kept["pattern"] = pattern
    if expires:
        read_length(expires)
        kept["expires"] = expires
    if claude:
        kept["claude"] = claude
    return kept


def _object(text: str, option: str) -> dict[str, Any]:
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint=option) from None
    if not isinstance(value, dict):
        raise typer.BadParameter("must be a JSON object", param_hint=option)
    return value


def _shown(request_id: str) -> dict[str, Any]:
    """The request as the daemon shows it right now."""
    if not ID.fullmatch(request_id):
        raise Refused(f"no such request: {request_id}; see: qd requests")
    return dict(client().get(f"/api/v1/requests/{request_id}"))


def _decide(request: dict[str, Any], as_json: bool, **body: Any) -> None:
    """Decide what was shown: the digest binds the decision to it."""
    given = {k: v for k, v in body.items() if v is not None}
    path = f"/api/v1/requests/{request['request_id']}/decision"
    made = client().post(path, {**given, "digest": request["digest"]})
    if as_json:
        print_json(made)
        return
    edited = ", edited" if made["updated_input"] is not None else ""
    out.print(cell(f"{WORDS[made['decision']]}{edited}: {about(request, made)}"))
    if rule := made["remembered"]:
        out.print(cell(f"Remembered: {rule['effect']} {rule['pattern']} · {where(rule)} ({rule['rule_id']})"))
    if made["also_decided"]:
        out.print(cell(f"That settled {len(made['also_decided'])} more: {', '.join(made['also_decided'])}"))


def about(request: dict[str, Any], made: dict[str, Any] | None = None) -> str:
    """What was decided about, in one line: for an edit what runs, not what was asked."""
    if request["form"]:
        return (describe(request) or [request["tool_name"]])[0]
    subject = subject_of((made and made["updated_input"]) or request["tool_input"])
    if request["tool_name"] == "Bash" and subject:
        return subject
    return f"{request['tool_name']}({subject})"


def register(cli: typer.Typer) -> None:
    cli.command()(allow)
    cli.command()(deny)
    cli.command()(answer)
    cli.command("pass")(pass_)
