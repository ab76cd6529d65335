"""Decide requests: allow, deny, answer, pass."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from quarterdeck.cli.common import (
    AsJson,
    Expires,
    Json,
    Output,
    Yes,
    argument,
    cell,
    client,
    command,
    confirm,
    full_request_id,
    group,
    option,
    out,
    require_one_of,
    show,
    without_empty,
)
from quarterdeck.cli.output.prompts import answers_from, ask_person
from quarterdeck.cli.output.request_card import card_lines
from quarterdeck.cli.output.time_args import read_duration
from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.core.model.risk_levels import MARKS
from quarterdeck.core.model.rule import OFFERED_SCOPES, SCOPES
from quarterdeck.core.text.decision_words import DECIDED
from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.forms.rule_form import CLAUDE_SCOPES, rule_place, trust_warning
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.styled_text import StyledLine, plain
from quarterdeck.surfaces.text import labels

app = group("Decide requests.")
RequestId = Annotated[
    str | None,
    argument("Request id, a unique prefix or its number (default: the only waiting request).", metavar="[ID]"),
]
RequestIds = Annotated[
    list[str] | None,
    argument("Request ids, unique prefixes or numbers (default: the only waiting request).", metavar="[ID]…"),
]
Note = Annotated[str | None, option("Note for the record.")]
Remember = Annotated[
    str | None,
    option("Create a rule from the decision, for this scope.", metavar="|".join(OFFERED_SCOPES)),
]
Pattern = Annotated[
    str | None, option("Pattern of the rule, like 'Bash(git log:*)' (default: the narrowest that covers the request).")
]
KEEPERS = tuple(scope for scope, _ in CLAUDE_SCOPES if scope)
"""The places where Claude Code can keep a rule."""
ANSWERED = ("questions", "elicitation")
"""Forms of a request that are answered, not allowed."""


@command(app)
def allow(
    request_ids: RequestIds = None,
    input: Annotated[str | None, option("Run the tool with this input instead, as a JSON object.", "--input")] = None,
    mode: Annotated[
        str | None, option("Permission mode to continue in after approving a plan.", metavar="|".join(PlanMode))
    ] = None,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    claude: Annotated[
        str | None, option("Also save the rule in these Claude Code settings.", metavar="|".join(KEEPERS))
    ] = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Allow a tool call or approve a plan. With --input the tool runs with an edited input; with --remember you also
    create a rule."""
    require_one_of("--mode", mode, PlanMode)
    edited = None if input is None else _object(input, "--input")
    rule = _new_rule(remember, pattern, expires, claude)
    alone = {"updated_input": edited, "mode": mode, "remember": rule}
    _decide_each(request_ids, "allow", {"note": note}, alone, is_sure=yes, as_json=json)


@command(app)
def deny(
    request_ids: RequestIds = None,
    message: Annotated[str | None, option("Message to the agent.", "--message", "-m")] = None,
    interrupt: Annotated[bool, option("Also interrupt the agent's turn.", "--interrupt")] = False,
    note: Note = None,
    remember: Remember = None,
    pattern: Pattern = None,
    expires: Expires = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Deny a tool call or send a plan back. For a stop request, keep the agent working. The agent gets --message
    verbatim."""
    rule = _new_rule(remember, pattern, expires)
    fields = {"message": message, "interrupt": interrupt or None, "note": note}
    _decide_each(request_ids, "deny", fields, {"remember": rule}, is_sure=yes, as_json=json)


@command(app)
def answer(
    request_id: RequestId = None,
    words: Annotated[
        list[str] | None,
        argument(
            "For each question a label, its number or your own words ('1,3' for several); for a form NAME=VALUE.",
            metavar="[LABEL]…",
        ),
    ] = None,
    answers: Annotated[
        str | None, option('Answers as JSON: {"<question text>": "<label or free text>"}, or the fields of a form.')
    ] = None,
    notes: Annotated[str | None, option('Notes on questions as JSON: {"<question text>": "<note>"}.')] = None,
    note: Note = None,
    json: AsJson = False,
) -> None:
    """Answer questions or fill in a form. Without answers, prompts for each on a terminal."""
    content = _object(answers, "--answers") if answers is not None else None
    question_notes = _object(notes, "--notes") if notes is not None else None
    if content is None and not words and not sys.stdin.isatty():
        raise typer.BadParameter("answers required: labels, or --answers", param_hint="[LABEL]…")
    [request] = _shown_requests([request_id] if request_id else None)
    request_id = request["request_id"]
    if request["form"] not in ANSWERED:
        raise Refused(f"{request_id} is not a question or form; decide it with: qd allow, qd deny or qd pass")
    if content is None and words:
        content = answers_from(request, words)
    elif content is None:
        content, question_notes = ask_person(request)
        if not content:
            raise Refused(f"nothing was answered; {request_id} is still waiting")
    _decide(request, {"decision": "answer", "answers": content, "notes": question_notes, "note": note}, as_json=json)


@command(app, "pass")
def pass_(request_ids: RequestIds = None, note: Note = None, yes: Yes = False, json: AsJson = False) -> None:
    """Leave requests to the agent's own dialog in its terminal."""
    _decide_each(request_ids, "pass", {"note": note}, {}, is_sure=yes, as_json=json)


def _decide_each(
    request_ids: list[str] | None, decision: str, fields: Json, alone: Json, *, is_sure: bool, as_json: bool
) -> None:
    """Decide one request; or show several, confirm once, and decide each. `alone` are fields for a single one."""
    shown = _shown_requests(request_ids)
    if len(shown) == 1:
        [request] = shown
        if decision == "allow" and request["form"] in ANSWERED:
            request_id = request["request_id"]
            raise Refused(f"{request_id} is a question or form; answer it with: qd answer {request_id}")
        if decision == "allow" and not request_ids and sys.stdin.isatty():
            for row in card_lines(request, with_commands=False):
                out.print(row)
            confirm("Allow it?", "nothing was decided", is_sure=is_sure)
        return _decide(request, {"decision": decision, **fields, **alone}, as_json=as_json)
    if any(alone.values()):
        raise typer.BadParameter("--input, --mode and --remember work with one request only")
    for request in [] if as_json else shown:
        mark = MARKS.get(request["risk"]["level"], "")
        out.print(cell(f"{request['session_id'][:8]}  {mark:<3} {about(request)}"))
    refusal = f"nothing was decided; use --yes to {decision} all {len(shown)} without confirmation"
    confirm(f"{decision.capitalize()} these {len(shown)} requests?", refusal, is_sure=is_sure)
    decisions = [_bound(request, {"decision": decision, **fields}) for request in shown]
    found = client().post("/api/v1/requests/decisions", {"decisions": decisions})
    results = found["decisions"]
    lines = [f"{_result(result)}: {about(request)}" for request, result in zip(shown, results, strict=True)]
    show(Output(found, lines, all(result["ok"] for result in results)), as_json=as_json)


def _bound(request: Json, fields: Json) -> Json:
    """A decision, bound by the digest to what was shown. To deny a request to stop is to block it."""
    given = {name: value for name, value in fields.items() if value is not None}
    if given["decision"] == "deny" and request["kind"] == "stop":
        given["decision"] = "block"
    return {**given, "request_id": request["request_id"], "digest": request["digest"]}


def _result(result: Json) -> str:
    return (
        labels.sentence(DECIDED[result["decision"]["decision"]])
        if result["ok"]
        else f"Not decided, {result['error']['message']}"
    )


def _new_rule(scope: str | None, pattern: str | None, expires: str | None, claude: str | None = None) -> Json | None:
    if scope is None and (pattern or expires or claude):
        raise typer.BadParameter("--pattern, --expires and --claude need --remember SCOPE")
    require_one_of("--remember", scope, SCOPES)
    require_one_of("--claude", claude, KEEPERS)
    if expires:
        read_duration(expires)
    return without_empty(scope=scope, pattern=pattern, expires=expires, claude=claude) or None


def _object(text: str, option: str) -> Json:
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"invalid JSON: {error}", param_hint=option) from None
    if not isinstance(value, dict):
        raise typer.BadParameter("must be a JSON object", param_hint=option)
    return value


def _shown_requests(starts: list[str] | None) -> list[Json]:
    """The requests as they are now; the only one that waits unless some are named."""
    api = client()
    request_ids = [full_request_id(api, start) for start in starts] if starts else [full_request_id(api, None)]
    return [api.get(f"/api/v1/requests/{request_id}") for request_id in dict.fromkeys(request_ids)]


def _decide(request: Json, fields: Json, *, as_json: bool) -> None:
    body = _bound(request, fields)
    decision = client().post(f"/api/v1/requests/{body.pop('request_id')}/decision", body)
    show(Output(decision, _decision_lines(request, decision)), as_json=as_json)


def _decision_lines(request: Json, decision: Json) -> Iterator[str]:
    edited = ", edited" if decision["updated_input"] is not None else ""
    yield f"{labels.sentence(DECIDED[decision['decision']])}{edited}: {about(request, decision)}"
    if rule := decision["remembered"]:
        place = rule_place(rule, whole_path=True)
        yield f"Remembered: {rule['effect']} {rule['pattern']} · {place} ({rule['rule_id']})"
        trust = (request.get("rule") or {}).get("trust")
        yield from filter(None, [trust_warning(rule["scope"], rule["effect"], trust, rule["scope_path"])])
    if ids := decision["also_decided"]:
        yield f"Also decided {len(ids)} more: {', '.join(ids)}"


def about(request: Json, decision: Json | None = None) -> str:
    """The subject of a decision in one line; for an edited input, what runs. Nothing of it is cut off."""
    if request["form"] == "plan":
        return plain([next(body(request), StyledLine()).spans])
    tool_input = (decision and decision["updated_input"]) or request["tool_input"]
    return labels.about({**request, "tool_input": tool_input}, sys.maxsize)
