"""A request as a card: who asks for what, its risk, what the rules and the agent say, and how it ended; pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from quarterdeck.core.model.decisions import ACTIONS, DEFAULT_DENY
from quarterdeck.core.model.risk_levels import MARKS
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.durations import age_words
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.lines.request_input import body, change_size
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, line
from quarterdeck.surfaces.text.labels import ago, outcome, own_allows_sentence, project_name, project_of, sentence
from quarterdeck.views.resources.card_view import RequestSession
from quarterdeck.views.resources.session_view import SessionView

Json = Mapping[str, Any]

WANTS: Mapping[str, str] = {
    ToolKind.SHELL: "wants to run",
    ToolKind.READ: "wants to read",
    ToolKind.WRITE: "wants to write",
    ToolKind.EDIT: "wants to edit",
    ToolKind.MULTI_EDIT: "wants to edit",
    ToolKind.NOTEBOOK_EDIT: "wants to edit",
    ToolKind.FETCH: "wants to fetch",
    ToolKind.WEB_SEARCH: "wants to search the web",
    ToolKind.TASK: "wants to start a sub-agent",
}
FORMS = {
    "questions": "asks you",
    "plan": "has a plan and asks to begin",
    "elicitation": "asks you to fill in a form",
}
TITLE = 60
PROMPT = 300
FOLDED_PROMPT = 60
GLYPHS = {"permission": "◆", "question": "?", "stop": "■"}


def head(
    request: Json,
    session: SessionView | RequestSession | None,
    now: float,
    name: SessionName | None = None,
    *,
    risk: bool = False,
) -> list[StyledLine]:
    """The asking session and the waiting time. One of several sessions in a project also shows its title."""
    cwd = session.cwd if session else ""
    who = str(name or SessionName(project_name(cwd))) if cwd else f"session {request['session_id'][:8]}"
    title = session.title if session and name and name.mark else ""
    title = "" if _is_prompt(title, request) else title
    mark = risk_span(request, "  ") if risk else TextSpan("")
    tail = f"{_subagent(request)} · {_age(request, now)}{f' · {cut(title, TITLE)}' if title else ''}"
    return [line(_glyph(request), (who, "strong"), *_wants(request, cwd), mark, (tail, "dim"))]


def summary(request: Json, session: SessionView | None, now: float) -> StyledLine:
    """A request in a list: its id and tool, its risk, the project and title of its session, and the waiting time. At
    a hub its machine is named too."""
    title = cut(session.title if session else "", TITLE)
    project = project_of(session) if session and session.cwd else ""
    names = [request.get("runner_name"), project, title, f"session {request['session_id'][:8]}"]
    where = f"  {' · '.join(filter(None, names))}{_subagent(request)} · {_age(request, now)}"
    subject = (request["request_id"], "strong"), f"  {request['tool_name']}"
    return line(_glyph(request), *subject, risk_span(request, "  "), (where, "dim"))


def _age(request: Json, now: float) -> str:
    """When a request came. One that waits shows how long, as the list of sessions does, and whether its agent is away
    after a restart of the daemon: until it is back, a decision is refused."""
    if request["status"] == "pending":
        away = " · the agent is reconnecting" if request.get("holder") == "reconnecting" else ""
        return f"{age_words(now - request['opened_at'])} ago{away}"
    return ago(request["opened_at"], now)


def _glyph(request: Json) -> TextSpan:
    return TextSpan(GLYPHS.get(request["kind"], "◆") + " ", "asks" if request["kind"] == "question" else "waiting")


def _subagent(request: Json) -> str:
    return f" · sub-agent {request['agent_type'] or request['agent_id']}" if request["agent_id"] else ""


def _wants(request: Json, cwd: str) -> Iterator[tuple[str, str]]:
    """What the session wants; of a change to a file also its path and its size."""
    change = request.get("change")
    if change:
        path = change["path"].removeprefix(f"{cwd.rstrip('/')}/") if cwd else change["path"]
        yield f" wants to change {path}", ""
        yield from change_size(change) if request.get("diff") else ()
        return
    wants = FORMS.get(request["form"] or "") or ("wants to stop" if request["kind"] == "stop" else "")
    wants = wants or WANTS.get(request["tool_kind"], f"wants to use {request['tool_name']}")
    yield f" {wants}", ""


def request_noun(request: Json) -> str:
    """A noun for the kind of a request."""
    return _NAMES.get(request["form"] or request["kind"], "this")


_NAMES = {
    "permission": "a tool",
    "plan": "a plan",
    "questions": "a question",
    "elicitation": "a form",
    "stop": "an agent that wants to stop",
}


def origin(card: Json) -> StyledLine:
    """The ids of a request and its session, how long it waited in all, and how many others wait."""
    parts = [card["request_id"], f"session {card['session_id'][:8]}"]
    parts += [f"waited {age_words(card['age_seconds'])}"] if card["status"] != "pending" else []
    others = card["others_waiting"]
    parts += [f"{others} other{'s wait' if others > 1 else ' waits'}"] if others else []
    return line((" · ".join(parts), "dim"), indent=2)


def risk_lines(request: Json) -> list[StyledLine]:
    """The risk with its reasons; nothing for a low one."""
    reasons = " · ".join(request["risk"]["reasons"]) or "no reason given"
    return [line(risk_span(request), ": ", reasons)] if risk_mark(request) else []


def background(request: Json, *, folded: bool = False) -> list[StyledLine]:
    """The prompt, the parts of a command, what the rules and the agent say. Folded, the prompt and the agent's
    suggestions take a line each."""
    return [*asked_for(request, folded=folded), *_low_risk(request), *_command(request), *_rules(request, folded)]


def tail(request: Json) -> list[StyledLine]:
    """Everything below the input: the risk, then the background."""
    return [*risk_lines(request), *background(request)]


def risk_mark(request: Json) -> str:
    """The mark and name of a risk level; empty for a low one."""
    level = request["risk"]["level"]
    mark = MARKS.get(level, "?")
    return f"{mark} {one_line(level)}" if mark else ""


def risk_span(request: Json, before: str = "") -> TextSpan:
    """The risk mark in its colour, after this text."""
    mark = risk_mark(request)
    return TextSpan(f"{before}{mark}" if mark else "", f"risk-{request['risk']['level']}")


def _low_risk(request: Json) -> Iterator[StyledLine]:
    """What is known about an input without a mark."""
    if request["risk"]["reasons"] and not risk_mark(request):
        yield line((f"{request['risk']['level']} risk: {' · '.join(request['risk']['reasons'])}", "dim"))


def _command(request: Json) -> Iterator[StyledLine]:
    """The calls of a shell command, as parsed by the daemon, what it writes to and what is unclear about it."""
    command = request.get("command")
    if not isinstance(command, dict):
        return
    calls = command["calls"]
    for call in calls if len(calls) > 1 else ():
        via = f"  by {call['via']}" if call["via"] else ""
        words = call["text"] if not call["via"] else shlex.join(call["words"])
        why = f" {call['risk']['reasons'][0]}" if risk_mark(call) and call["risk"]["reasons"] else ""
        piped = "| " if call["piped"] else ""
        yield line(("runs ", "dim"), piped + cut(words, 100), (via, "dim"), risk_span(call, "  "), (why, "dim"))
    if command.get("more"):
        yield line((f"and {command['more']} more", "dim"))
    doubts = [doubt for doubt in command["doubts"] if not doubt.startswith("writes to ")]
    for name, found in (("writes to ", command["writes"]), ("unclear: ", doubts)):
        if found:
            yield line((name, "dim"), " · ".join(found))


def rules_sentence(request: Json) -> str:
    """What the rules say about a request, and why; empty when they were not asked."""
    rule = request.get("rule")
    if rule is None or (request["kind"] != "permission" and rule["effect"] is None):
        return ""
    if rule["effect"] is not None:
        why = " · ".join(filter(None, [", ".join(rule["rules"]), *rule["reasons"]]))
        return f"The rules say {rule['effect']}: {why}"
    words = " · ".join(rule["reasons"]) or "no rule is about this"
    return " ".join(filter(None, [f"{sentence(words)}.", own_allows_sentence(rule.get("own_allows", ()))]))


def _rules(request: Json, folded: bool) -> Iterator[StyledLine]:
    if words := rules_sentence(request):
        yield line((words, "dim"))
    suggested = request.get("suggested") or _suggested_rules(request["suggestions"])
    shown = suggested[:1] if folded else suggested
    more = f" (and {len(suggested) - len(shown)} more)" if len(suggested) > len(shown) else ""
    for suggestion in shown:
        yield line(("The agent suggests: ", "dim"), suggestion, (more, "dim"))


def _suggested_rules(suggestions: list[Any]) -> list[str]:
    """The rules the agent itself suggests, as patterns."""
    patterns = []
    for one in suggestions:
        for rule in one.get("rules", []) if isinstance(one, dict) else []:
            if isinstance(rule, dict) and rule.get("toolName"):
                inside = f"({rule['ruleContent']})" if rule.get("ruleContent") else ""
                pattern = f"{rule['toolName']}{inside}"
                patterns.append(f"{one.get('behavior', 'allow')} {pattern} in {one.get('destination')}")
    return patterns


def asked_for(request: Json, *, folded: bool = False) -> Iterator[StyledLine]:
    """What the person had asked for: the prompt of the run, or else the title of the session."""
    prompt = _prompt(request) or (request.get("session") or {}).get("title")
    if prompt:
        yield line(("asked for: ", "dim"), (cut(prompt, FOLDED_PROMPT if folded else PROMPT), "dim"))


def _prompt(request: Json) -> str:
    return str((request.get("run") or {}).get("prompt") or "")


def _is_prompt(title: str, request: Json) -> bool:
    """Whether a title is only the beginning of the prompt, which the card shows anyway."""
    return " ".join(_prompt(request).split()).startswith(" ".join(title.split()).rstrip(" …"))


def outcome_lines(request: Json) -> Iterator[StyledLine]:
    """How a request ended: the decision with its message and note, the answers, and an edited input, which is what ran.
    Nothing while it waits."""
    made = request["decision"]
    if not made:
        return
    label, message = outcome(request), made.get("message") or made.get("reason") or ""
    is_new = message and message.lower() != label.lower() and message != DEFAULT_DENY.format(by=made["by"])
    yield line(("→ ", "strong"), (label, "strong"))
    for name, words in (("message", message if is_new else ""), ("note", made.get("note"))):
        if words:
            yield line((f"{name}: ", "dim"), str(words), indent=2)
    notes = {f"{question} (note)": note for question, note in (made.get("notes") or {}).items()}
    for question, answer in {**(made.get("answers") or {}), **notes}.items():
        yield line((f"{question} ", "dim"), json.dumps(answer, ensure_ascii=False), indent=2)
    if made.get("updated_input") is not None:
        yield line(("it ran with", "dim"), indent=2)
        view = {**request, "tool_input": made["updated_input"], "truncated": None, "diff": None, "change": None}
        yield from (one._replace(indent=one.indent + 2) for one in body(view))


def decisions_for(request: Json) -> tuple[str, ...]:
    """The decisions a request takes, in the order shown. Without a terminal there is nowhere to leave it to."""
    verbs = ACTIONS.get(request["form"] or request["kind"], ("deny", "pass"))
    return tuple(verb for verb in verbs if verb != "pass" or request["has_terminal"])
