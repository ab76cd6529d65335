"""A request in the terminal: a few lines in a list, or the whole card."""

from __future__ import annotations

import json as jsonlib
import shlex
from typing import Any

from rich.cells import chop_cells
from rich.text import Text

from quarterdeck.cli.common import ago, cell, out
from quarterdeck.cli.output.request_lines import describe, lines_of
from quarterdeck.core.model.decisions import DEFAULT_DENY
from quarterdeck.core.model.risk_levels import MARKS
from quarterdeck.core.text.sanitize import one_line, visible
from quarterdeck.core.text.titles import cut
from quarterdeck.surfaces.text.labels import outcome

RISK_STYLE = {"low": "dim", "medium": "yellow", "high": "bold red", "critical": "bold white on red"}
DIFF_STYLE = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}
GLYPHS = {"permission": "◆", "question": "?", "stop": "■"}
IN_DIFF = frozenset({"file_path", "notebook_path", "old_string", "new_string", "content", "edits", "new_source"})
"""What of an input a whole diff shows already."""

ASKS = {
    "questions": "asks you",
    "plan": "has a plan and asks to begin",
    "elicitation": "asks for a form to be filled in",
}
WANTS = {
    "Bash": "wants to run a command",
    "Read": "wants to read a file",
    "WebFetch": "wants to fetch a page",
    "WebSearch": "wants to search the web",
    "Agent": "wants to start a sub-agent",
    "Task": "wants to start a sub-agent",
}
ANSWERS = {
    "questions": (
        ("answer", "", "be asked each question here"),
        ("answer", "LABEL", "answer it with a label or your own words, one for each question"),
    ),
    "elicitation": (
        ("answer", "", "be asked for each field here"),
        ("answer", "FIELD=VALUE", "fill it in"),
        ("deny", "", "decline it"),
    ),
    "plan": (
        ("allow", "", "let it begin"),
        ("allow", "--mode acceptEdits", "let it begin, and edit without asking"),
        ("deny", "--message TEXT", "send it back with your words"),
    ),
    "": (
        ("allow", "", "let it run"),
        ("allow", "--input JSON", "let it run with another input"),
        ("deny", "--message TEXT", "refuse; the agent reads your words"),
    ),
}
FEW = 3
"""How many reasons a list shows."""
LEFT = 11
"""How wide the words on the left are."""


def risk_cell(risk: dict[str, Any]) -> Text:
    """The mark and the level; nothing for a low one."""
    level = risk["level"]
    if not MARKS.get(level):
        return Text("")
    return Text(f"{MARKS[level]} {one_line(level)}", style=RISK_STYLE.get(level, ""))


def show_request(request: dict[str, Any]) -> None:
    """A request in a list."""
    head = Text().append(f"{GLYPHS.get(request['kind'], '◆')} ", style="yellow")
    head.append(one_line(request["request_id"]), style="bold")
    head.append_text(cell(f"  {request['tool_name']}  "))
    head.append_text(risk_cell(request["risk"]))
    who = f"{'  ' if head.plain[-1] != ' ' else ''}session {request['session_id'][:8]}"
    who += f" · sub-agent {request['agent_type'] or request['agent_id']}" if request["agent_id"] else ""
    head.append_text(cell(f"{who} · {ago(request['opened_at'])}", "dim"))
    out.print(head)
    for line in describe(request):
        _exactly(line)
    reasons = request["risk"]["reasons"]
    if reasons and MARKS.get(request["risk"]["level"]):
        more = f" · and {len(reasons) - FEW} more" if len(reasons) > FEW else ""
        for row in cell(" · ".join(reasons[:FEW]) + more, "dim").wrap(out, max(20, out.width - 4)):
            out.print(Text("    ").append_text(row))
    _show_outcome(request)


def show_card(card: dict[str, Any]) -> None:
    """Everything about one request: who, what exactly, how risky, why, and how to decide."""
    for part in (_head, _who, _what, _calls, _risk, _beside, _show_outcome, _ways):
        part(card)


def _exactly(line: str, style: str = "") -> None:
    """A line of the input as it is; what does not fit goes on below itself, and nothing is left out."""
    rows = chop_cells(line, max(20, out.width - 4)) if out.is_terminal else [line]
    for row in rows or [""]:
        out.print(Text("    ").append(row, style=style))


def _line(name: str, text: Text | str, style: str = "") -> None:
    """A word on the left and what belongs to it; what is longer goes on below itself."""
    shown = text if isinstance(text, Text) else cell(text, style)
    room = max(20, out.width - LEFT - 2)
    for number, row in enumerate(shown.wrap(out, room)):
        out.print(Text().append(f"  {name if number == 0 else '':<{LEFT}}", style="dim").append_text(row))


def _head(card: dict[str, Any]) -> None:
    session = card["session"] or {}
    project = str(session.get("cwd") or "").rstrip("/").rsplit("/", 1)[-1] or f"session {card['session_id'][:8]}"
    change = card["change"]
    wants = ASKS.get(card["form"] or "") or WANTS.get(card["tool_name"]) or f"wants to use {card['tool_name']}"
    if change:
        wants = f"wants to change {_brief(change['path'], session)}"
    head = Text().append(f"{GLYPHS.get(card['kind'], '◆')} ", style="yellow").append_text(cell(project, "bold"))
    head.append_text(cell(f" {wants}"))
    if change and card["diff"]:
        head.append(f"  +{change['added']}", style="green").append(f" −{change['removed']}", style="red")
    mark = risk_cell(card["risk"])
    gap = max(2, out.width - head.cell_len - mark.cell_len) if out.is_terminal else 2
    out.print(head.append(" " * gap if mark.plain else "").append_text(mark))


def _brief(path: str, session: dict[str, Any]) -> str:
    """A path from the project, where it is in it."""
    root = str(session.get("cwd") or "").rstrip("/") + "/"
    return path.removeprefix(root) if len(root) > 1 else path


def _who(card: dict[str, Any]) -> None:
    session, run = card["session"] or {}, card["run"] or {}
    others = card["others_waiting"]
    waits = f"{others} other{'s' if others != 1 else ''} wait{'' if others != 1 else 's'}"
    parts = [card["request_id"], f"session {card['session_id'][:8]}"]
    parts += [f"sub-agent {card['agent_type'] or card['agent_id']}"] if card["agent_id"] else []
    parts += [f"{_long(card['age_seconds'])} {'ago' if card['status'] == 'pending' else 'waited'}"]
    parts += [waits] if others else []
    for row in cell(" · ".join(parts), "dim").wrap(out, max(20, out.width - 2)):
        out.print(Text("  ").append_text(row))
    prompt = run.get("prompt") or session.get("title")
    if prompt:
        _line("asked for", cut(prompt, 300))


def _long(seconds: float) -> str:
    """A length of time in few characters."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _what(card: dict[str, Any]) -> None:
    """The exact input; an edit as a diff, and beside it what the diff does not show."""
    change, diff = card["change"], card["diff"]
    out.print()
    shown = IN_DIFF if change and diff and not change["cut"] else frozenset()
    shown |= {"replace_all"} if change and change["compared"] and diff else frozenset()
    for note in change["notes"] if change else ():
        out.print(Text("  ").append_text(cell(f"({note})", "yellow")))
    if diff:
        _show_diff(diff)
    rest = describe(card, shown)
    if diff and rest:
        out.print()
    for line in rest:
        _exactly(line, "bold" if card["command"] else "")
    out.print()


def _show_diff(diff: str) -> None:
    for line in lines_of(diff.removesuffix("\n"))[2:]:
        _exactly(line.expandtabs(4), DIFF_STYLE.get(line[:1], ""))


def _calls(card: dict[str, Any]) -> None:
    """The command taken apart, where it is more than one."""
    command = card["command"]
    if not command:
        return
    if len(command["calls"]) > 1:
        widest = max(20, out.width // 2 - LEFT)
        for number, call in enumerate(command["calls"], 1):
            _line("runs" if number == 1 else "", _call(call, widest))
    if command["more"]:
        _line("", f"and {command['more']} more")
    doubts = [doubt for doubt in command["doubts"] if not doubt.startswith("writes to ")]
    for name, found in (("writes to", command["writes"]), ("unclear", doubts)):
        if found:
            _line(name, " · ".join(found))


def _call(call: dict[str, Any], widest: int) -> Text:
    source = one_line(call["text"] if not call["via"] else shlex.join(call["words"]))
    line = cell(("| " if call["piped"] else "") + cut(source, widest), "bold")
    line.append(f"  by {one_line(call['via'])}" if call["via"] else "", style="dim")
    if call["risk"]["reasons"] and MARKS.get(call["risk"]["level"]):
        level = call["risk"]["level"]
        line.append(f"  {MARKS[level]} ", style=RISK_STYLE[level]).append(visible(call["risk"]["reasons"][0]))
    return line


def _risk(card: dict[str, Any]) -> None:
    level, reasons = card["risk"]["level"], card["risk"]["reasons"]
    if not reasons and not MARKS.get(level):
        return
    mark = Text().append(f"{MARKS.get(level, '')} {one_line(level)}".strip(), style=RISK_STYLE.get(level, ""))
    _line("risk", mark.append(f": {one_line(reasons[0])}" if reasons else ""))
    for reason in reasons[1:]:
        _line("", reason)


def _beside(card: dict[str, Any]) -> None:
    """How the rules saw it, and what the agent suggests."""
    rule = card["rule"]
    if rule:
        _line("rules", " · ".join([*rule["rules"], *rule["reasons"]]) or "no rule is about this")
        for number, pattern in enumerate(rule["patterns"]):
            _line("remember" if number == 0 else "", pattern)
    for number, sentence in enumerate(card["suggested"]):
        _line("suggested" if number == 0 else "", sentence)


def _show_outcome(request: dict[str, Any]) -> None:
    made = request["decision"]
    for line in _outcome(request, made) if made else ():
        _exactly(line, "dim")


def _outcome(request: dict[str, Any], made: dict[str, Any]) -> list[str]:
    """How a request ended: an edited input is what ran, so it is shown whole."""
    told = outcome(request)
    words = made["message"] or made["reason"] or ""
    is_news = words and words.lower() != told.lower() and words != DEFAULT_DENY.format(by=made["by"])
    edited = made["updated_input"] is not None
    head = f"→ {told}{f' · {words}' if is_news else ''}"
    ran = describe({**request, "tool_input": made["updated_input"]}) if edited else []
    answers = [f"  {question} {jsonlib.dumps(said, ensure_ascii=False)}" for question, said in _answered(made)]
    return [one_line(head), *("  " + line for line in ran), *map(one_line, answers)]


def _answered(made: dict[str, Any]) -> list[tuple[str, Any]]:
    """What was answered to what, and noted about it."""
    notes = [(f"{question} (note)", note) for question, note in (made["notes"] or {}).items()]
    return [*(made["answers"] or {}).items(), *notes]


def _lasting(card: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The command that also keeps the decision, by the narrowest pattern; none where it could not be copied."""
    patterns = (card["rule"] or {}).get("patterns") or []
    if card["form"] or not patterns or one_line(patterns[0]) != patterns[0]:
        return []
    return [("allow", f"--remember session --pattern {shlex.quote(patterns[0])}", "let it run now and again")]


def _ways(card: dict[str, Any]) -> None:
    """The commands that decide it."""
    if card["status"] != "pending":
        return
    ways = (
        *ANSWERS.get(card["form"] or "", ANSWERS[""]),
        *_lasting(card),
        *([("pass", "", "leave it to its own terminal")] if card["has_terminal"] else []),
    )
    commands = [" ".join(filter(None, ["qd", word, card["request_id"], more])) for word, more, _ in ways]
    widest = max(len(command) for command in commands if len(command) <= out.width // 2 or command == commands[0])
    out.print()
    for command, (_, _, why) in zip(commands, ways, strict=True):
        out.print(Text("  ").append_text(cell(f"{command:<{widest}}", "bold")).append(f"  {why}", style="dim"))
