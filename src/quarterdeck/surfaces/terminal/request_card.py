"""A request as a card: who asks, what exactly, how risky, and what hides in it; pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import cut
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.terminal.styled_text import Line, Span, exact_lines, line, unseen_in
from quarterdeck.surfaces.text.labels import RISK_MARKS, ago, project_name

Json = Mapping[str, Any]

WANTS = {
    "Bash": "wants to run",
    "Read": "wants to read",
    "Write": "wants to write",
    "Edit": "wants to edit",
    "MultiEdit": "wants to edit",
    "NotebookEdit": "wants to edit",
    "WebFetch": "wants to fetch",
    "WebSearch": "wants to search the web",
    "Agent": "wants to start a sub-agent",
    "Task": "wants to start a sub-agent",
}
FORMS = {
    "questions": "asks you",
    "plan": "has a plan and asks to begin",
    "elicitation": "asks for a form to be filled in",
}
TITLE = 60
GLYPHS = {"permission": "◆", "question": "?", "stop": "■"}
IN_DIFF = frozenset({"file_path", "notebook_path", "old_string", "new_string", "content", "edits", "new_source"})
"""What of an input a whole diff shows already."""
DIFF_STYLES = {"+": "added", "-": "removed", "@": "dim", "\\": "dim"}


def head(request: Json, session: Json | None, now: float, name: Name | None = None) -> list[Line]:
    """Who asks, and since when. One of several sessions in a project is told by its name and its title."""
    cwd = str((session or {}).get("cwd") or "")
    who = str(name or Name(project_name(cwd))) if cwd else f"session {request['session_id'][:8]}"
    title = str((session or {}).get("title") or "") if name and name.mark else ""
    wants = FORMS.get(request["form"] or "") or ("wants to stop" if request["kind"] == "stop" else "")
    wants = wants or WANTS.get(request["tool_name"], f"wants to use {request['tool_name']}")
    sub = f" · sub-agent {request['agent_type'] or request['agent_id']}" if request["agent_id"] else ""
    tail = f"{sub} · {ago(request['opened_at'], now)}{f' · {cut(title, TITLE)}' if title else ''}"
    glyph = Span(GLYPHS.get(request["kind"], "◆") + " ", "asks" if request["kind"] == "question" else "waiting")
    return [line(glyph, (who, "strong"), f" {wants}", (tail, "dim"))]


def body(request: Json) -> Iterator[Line]:
    """The exact thing that is asked for. A field that has no better form is shown as it is."""
    if request["truncated"] is not None:
        yield from exact_lines(request["truncated"]["begins"], "code")
        return
    shown: set[str] = set()
    form = _BODIES.get(request["form"] or ("stop" if request["kind"] == "stop" else ""), _tool)
    yield from form(request, shown)
    for key, value in request["tool_input"].items():
        if key not in shown:
            yield from _field(key, value)


def _field(key: str, value: Any, indent: int = 2) -> Iterator[Line]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    name = one_line(key)
    if "\n" in text or len(text) > 200:
        yield line((f"{name}:", "dim"), indent=indent)
        yield from exact_lines(text, "code", indent + 2)
    else:
        first = next(exact_lines(text, "code"))
        yield Line((Span(f"{name}: ", "dim"), *first.spans), indent, True)


def _tool(request: Json, shown: set[str]) -> Iterator[Line]:
    tool_input, diff, change = request["tool_input"], request.get("diff"), request.get("change")
    if isinstance(tool_input.get("command"), str):
        shown.add("command")
        yield from exact_lines(tool_input["command"], "code")
    elif diff and change:
        if not change["cut"]:
            shown |= IN_DIFF | ({"replace_all"} if change["compared"] else set())
        yield from _diff(diff, change)
    elif isinstance(tool_input.get("file_path"), str):
        shown |= {"file_path"}
        yield from exact_lines(tool_input["file_path"], "code")
        yield from _before_and_after(tool_input, shown)


def _diff(diff: str, change: Json) -> Iterator[Line]:
    yield line(
        (change["path"], "code"), (f"  +{change['added']}", "added"), (f" −{change['removed']}", "removed"), indent=2
    )
    for note in change["notes"]:
        yield line((f"({note})", "warn"), indent=2)
    for row in diff.removesuffix("\n").split("\n")[2:]:
        yield from exact_lines(row, DIFF_STYLES.get(row[:1], ""))


def _before_and_after(tool_input: Json, shown: set[str]) -> Iterator[Line]:
    """An edit by its two texts: what goes, what comes, and between them what both have."""
    old, new = tool_input.get("old_string"), tool_input.get("new_string")
    if isinstance(tool_input.get("content"), str):
        old, new = "", tool_input["content"]
        shown.add("content")
    elif isinstance(old, str) and isinstance(new, str):
        shown |= {"old_string", "new_string"}
    else:
        return
    before, after = old.split("\n") if old else [], new.split("\n") if new else []
    same = _common(before, after)
    end = _common(before[same:][::-1], after[same:][::-1])
    for mark, style, rows in (
        (" ", "dim", before[:same]),
        ("-", "removed", before[same : len(before) - end]),
        ("+", "added", after[same : len(after) - end]),
        (" ", "dim", before[len(before) - end :] if end else []),
    ):
        for row in rows:
            yield from exact_lines(row, style, 2, f"{mark} ")


def _common(one: list[str], other: list[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def questions_of(request: Json) -> list[Json]:
    """The questions of a request; none when any of them has another shape, so that they are shown as they are."""
    found = request["tool_input"].get("questions")
    if not isinstance(found, list) or not all(
        isinstance(q, dict) and isinstance(q.get("question"), str) for q in found
    ):
        return []
    options = [q.get("options", []) for q in found]
    return found if all(isinstance(o, list) and all(isinstance(x, dict) for x in o) for o in options) else []


def choices_of(request: Json) -> int:
    """How many numbers the first question of a request has to choose from; none when it is no question."""
    questions = questions_of(request) if request["form"] == "questions" else []
    return min(9, len(questions[0].get("options", []))) if questions else 0


def named(request: Json) -> str:
    """What kind of request it is, in words."""
    return _NAMES.get(request["form"] or request["kind"], "this")


_NAMES = {
    "permission": "a tool",
    "plan": "a plan",
    "questions": "a question",
    "elicitation": "a form",
    "stop": "an agent that wants to stop",
}


def _questions(request: Json, shown: set[str]) -> Iterator[Line]:
    """Each question under its heading, with its choices; a field that nobody here knows is shown as it is."""
    for question in questions_of(request):
        shown.add("questions")
        several = " (several may be chosen)" if question.get("multiSelect") is True else ""
        header = question.get("header")
        title = [(f"{header} · ", "dim")] if isinstance(header, str) and header else []
        yield line(*title, (str(question["question"]), "strong"), (several, "dim"), indent=2)
        yield from _others(question, 4, header=str, question=str, multiSelect=bool, options=list)
        for number, option in enumerate(question.get("options", []), 1):
            label, about = (str(option.get(name, "")) for name in ("label", "description"))
            yield line((f"{number} ", "key"), (label, "code"), (f"  {about}", "dim"), indent=4)
            yield from _others(option, 6, label=str, description=str)


def _others(found: Json, indent: int, **known: type) -> Iterator[Line]:
    """The fields beside those that are told in words: of another name, or of another shape than they should have."""
    for key, value in found.items():
        if key not in known or not isinstance(value, known[key]):
            yield from _field(key, value, indent)


def _plan(request: Json, shown: set[str]) -> Iterator[Line]:
    plan = request["tool_input"].get("plan")
    if isinstance(plan, str) and plan.strip():
        shown.add("plan")
        yield from exact_lines(plan, "code")
    elif not plan:
        shown.add("plan")
        yield line(("The plan is empty: the agent gave no text.", "warn"), indent=2)


def fields_of(request: Json) -> dict[str, Json]:
    """The fields a form asks for, by name."""
    schema = request["tool_input"].get("requested_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = isinstance(properties, dict) and all(isinstance(v, dict) for v in properties.values())
    return properties if known and isinstance(properties, dict) else {}


def _elicitation(request: Json, shown: set[str]) -> Iterator[Line]:
    tool_input = request["tool_input"]
    shown |= {"session_id", "transcript_path", "cwd", "prompt_id", "hook_event_name", "mode"}
    shown |= {"mcp_server_name", "message"}
    yield line((str(tool_input.get("mcp_server_name", "An MCP server")), "strong"), ": ", indent=2)
    yield from exact_lines(str(tool_input.get("message", "")), "code", 4)


def _stop(request: Json, shown: set[str]) -> Iterator[Line]:
    return iter(())


_BODIES: Mapping[str, Callable[[Json, set[str]], Iterator[Line]]] = {
    "questions": _questions,
    "plan": _plan,
    "elicitation": _elicitation,
    "stop": _stop,
}


def risk_lines(request: Json) -> list[Line]:
    """The risk in words; nothing for a low one."""
    return list(_risk(request))


def background(request: Json, why: str = "") -> list[Line]:
    """What the command does, what the rules and the agent say."""
    return [*_command(request), *_rules(request, why), *_asked_for(request)]


def tail(request: Json, why: str = "") -> list[Line]:
    """Everything that is told beside what is wanted."""
    return [*risk_lines(request), *background(request, why)]


def risk_mark(request: Json) -> str:
    """The mark and the level; nothing for a low one."""
    level = request["risk"]["level"]
    mark = RISK_MARKS.get(level, "?")
    return f"{mark} {one_line(level)}" if mark else ""


def _risk(request: Json) -> Iterator[Line]:
    level, reasons = request["risk"]["level"], request["risk"]["reasons"]
    if RISK_MARKS.get(level, "?"):
        words = " · ".join(reasons) or "no reason is known"
        yield line((risk_mark(request), f"risk-{level}"), ": ", words)


def _command(request: Json) -> Iterator[Line]:
    """A shell line taken apart, where the daemon says how."""
    command = request.get("command")
    if not isinstance(command, dict):
        return
    calls = command["calls"]
    for call in calls if len(calls) > 1 else ():
        mark = risk_mark(call)
        via = f"  by {call['via']}" if call["via"] else ""
        words = call["text"] if not call["via"] else " ".join(call["words"])
        yield line(
            ("runs ", "dim"),
            ("| " if call["piped"] else "") + cut(words, 100),
            (via, "dim"),
            (f"  {mark}" if mark else "", f"risk-{call['risk']['level']}"),
        )
    if command.get("more"):
        yield line((f"and {command['more']} more", "dim"))
    if command["writes"]:
        yield line(("writes to ", "dim"), " · ".join(command["writes"]))


def _rules(request: Json, why: str) -> Iterator[Line]:
    if why:
        yield line((why, "dim"))
    for sentence in request.get("suggested") or _suggested(request["suggestions"]):
        yield line(("Claude suggests: ", "dim"), sentence)


def _suggested(suggestions: list[Any]) -> list[str]:
    """What the agent itself would remember, as patterns."""
    found = []
    for one in suggestions:
        for rule in one.get("rules", []) if isinstance(one, dict) else []:
            if isinstance(rule, dict) and rule.get("toolName"):
                inside = f"({rule['ruleContent']})" if rule.get("ruleContent") else ""
                found.append(f"{one.get('behavior', 'allow')} {rule['toolName']}{inside} in {one.get('destination')}")
    return found


def _asked_for(request: Json) -> Iterator[Line]:
    prompt = (request.get("run") or {}).get("prompt")
    if prompt:
        yield line(("asked for: ", "dim"), (cut(prompt, 200), "dim"))


def concealed(request: Json) -> list[str]:
    """What the eye would miss, in words: parts that were left out, and characters that do not show by themselves."""
    found = []
    if request["truncated"] is not None:
        found.append(f"{request['truncated']['bytes']:,} bytes in all")
        return found
    unseen = sum(unseen_in(text) for text in _texts(request["tool_input"]))
    if unseen:
        found.append("1 character that does not show" if unseen == 1 else f"{unseen} characters that do not show")
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def decisions_for(request: Json) -> tuple[str, ...]:
    """The decision keys that fit a request, in the order shown."""
    form = request["form"] or request["kind"]
    fitting = _FITTING.get(form, ("deny", "pass"))
    return fitting if request["has_terminal"] else tuple(verb for verb in fitting if verb != "pass")


_FITTING = {
    "permission": ("allow", "edit", "deny", "interrupt", "remember", "pass"),
    "plan": ("allow", "approve", "deny", "interrupt", "pass"),
    "questions": ("answer", "deny", "pass"),
    "elicitation": ("answer", "deny", "pass"),
    "stop": ("allow", "go_on", "pass"),
}
