"""Deciding from the command line: allow, deny, answer, pass."""

from __future__ import annotations

import json as jsonlib
import sys
from typing import Annotated, Any

import typer

from quarterdeck.cli.asking import answers_from, ask_person
from quarterdeck.cli.common import AsJson, cell, client, out, plainly, print_json
from quarterdeck.cli.describing import describe
from quarterdeck.cli.rules import where
from quarterdeck.cli.times import read_length
from quarterdeck.core.decisions import PlanMode
from quarterdeck.core.payload import ID
from quarterdeck.core.titles import subject_of
from quarterdeck.errors import Refused

RequestId = Annotated[str, typer.Argument(metavar="ID", help="The request, as `qd requests` shows it.")]
Note = Annotated[str | None, typer.Option(help="A note for the record.")]
Remember = Annotated[str | None, typer.Option(metavar="SCOPE", help="Remember it: session, project, user or hub.")]
Pattern = Annotated[
    str | None, typer.Option(help="What to remember, like 'Bash(git log:*)'; the narrowest that covers it unless told.")
]
Expires = Annotated[str | None, typer.Option(help="How long to remember it, like 12h or 7d; without it for ever.")]


@plainly
def allow(
    request_id: RequestId,
    input: Annotated[str | None, typer.Option("--input", help="Run it with this JSON object as its input.")] = None,
    mode: Annotated[PlanMode | None, typer.Option(help="How the agent works on a plan that you approve.")] = None,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    claude: Annotated[
        str | None,
        typer.Option(metavar="KEEPER", help="Let Claude Code remember it too: session, local, project or user."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Let the tool run, as asked or with an edited input, or approve a plan; with --remember also the next time."""
    edited = None if input is None else _object(input, "--input")
    kept = _remembered(remember, pattern, expires, claude)
    _decide(_shown(request_id), json, decision="allow", updated_input=edited, mode=mode, note=note, remember=kept)


@plainly
def deny(
    request_id: RequestId,
    message: Annotated[str | None, typer.Option("--message", "-m", help="What the agent reads.")] = None,
    interrupt: Annotated[bool, typer.Option("--interrupt", help="Also stop its turn.")] = False,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    json: AsJson = False,
) -> None:
    """Refuse, or send a plan back; the agent reads the message word for word. With --remember also the next time."""
    kept = _remembered(remember, pattern, expires)
    said = {"message": message, "interrupt": interrupt or None, "note": note}
    _decide(_shown(request_id), json, decision="deny", **said, remember=kept)


@plainly
def answer(
    request_id: RequestId,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[LABEL]…", help="Labels or your own words; NAME=VALUE for a form.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help='JSON object: {"<question text>": "<label or free text>"}, or a form\'s fields.')
    ] = None,
    notes: Annotated[str | None, typer.Option(help='JSON object: {"<question text>": "<note>"}.')] = None,
    note: Note = None,
    json: AsJson = False,
) -> None:
    """Answer a question or fill in a form; at a terminal without any answer given, asks for each."""
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
def pass_(request_id: RequestId, note: Note = None, json: AsJson = False) -> None:
    """Leave it to the agent's own dialog at its terminal."""
    _decide(_shown(request_id), json, decision="pass", note=note)


def _remembered(
    scope: str | None, pattern: str | None, expires: str | None, claude: str | None = None
) -> dict[str, Any] | None:
    if scope is None and (pattern or expires or claude):
        raise typer.BadParameter("--pattern, --expires and --claude go with --remember SCOPE")
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
    word = {"allow": "Allowed", "deny": "Denied", "answer": "Answered", "pass": "Passed to the terminal"}
    edited = ", edited" if made["updated_input"] is not None else ""
    out.print(cell(f"{word[made['decision']]}{edited}: {about(request, made)}"))
    if rule := made["remembered"]:
        out.print(cell(f"Remembered: {rule['effect']} {rule['pattern']} · {where(rule)} ({rule['rule_id']})"))
    if made["also_decided"]:
        out.print(cell(f"That settled {len(made['also_decided'])} more: {', '.join(made['also_decided'])}"))


def about(request: dict[str, Any], made: dict[str, Any]) -> str:
    """What was decided about, in one line: for an edit what runs, not what was asked."""
    if request["form"]:
        return (describe(request) or [request["tool_name"]])[0]
    subject = subject_of(made["updated_input"] or request["tool_input"])
    if request["tool_name"] == "Bash" and subject:
        return subject
    return f"{request['tool_name']}({subject})"


def register(cli: typer.Typer) -> None:
    cli.command()(allow)
    cli.command()(deny)
    cli.command()(answer)
    cli.command("pass")(pass_)
