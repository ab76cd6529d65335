"""A request on the terminal: a few lines in a list, or the whole card with the commands that decide it."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterable, Iterator

from rich.text import Text

from quarterdeck.cli.common import Json, cell, out
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.styled_text import StyledLine, fold_line, line
from quarterdeck.views.resources.card_view import RequestSession
from quarterdeck.views.resources.session_view import SessionView

STYLES = {
    "strong": "bold",
    "dim": "dim",
    "key": "cyan",
    "asks": "cyan",
    "good": "green",
    "waiting": "yellow",
    "warn": "yellow",
    "added": "green",
    "removed": "red",
    "risk-medium": "yellow",
    "risk-high": "bold red",
    "risk-critical": "bold white on red",
}
ANSWERS = {
    "questions": (
        ("answer", "", "answer each question at a prompt"),
        ("answer", "LABEL", "answer with a label or your own words, one for each question"),
    ),
    "elicitation": (
        ("answer", "", "fill in each field at a prompt"),
        ("answer", "FIELD=VALUE", "fill it in"),
        ("deny", "", "decline it"),
    ),
    "plan": (
        ("allow", "", "approve it"),
        ("allow", "--mode acceptEdits", "approve it, and allow edits without asking"),
        ("deny", "--message TEXT", "send it back with your message"),
    ),
    "": (
        ("allow", "", "let it run"),
        ("allow", "--input JSON", "let it run with another input"),
        ("deny", "--message TEXT", "deny it; the agent reads your message"),
    ),
}


def styled_texts(lines: Iterable[StyledLine], indent: int = 0) -> Iterator[Text]:
    """Styled lines for the console, folded at the width of the terminal; in a pipe each line stays one line."""
    begun = Text()
    for one in lines:
        shown = one._replace(indent=0 if begun else one.indent + indent)
        for row in fold_line(shown, out.width if out.is_terminal else sys.maxsize):
            text = begun + Text.assemble(*((span.text, STYLES.get(span.style, "")) for span in row))
            begun = text if one.goes_on and not out.is_terminal else Text()
            if not begun:
                yield text


def request_lines(request: Json, session: SessionView | None = None) -> Iterator[Text]:
    """A request in a list."""
    yield from styled_texts([card.summary(request, session, time.time())])
    yield from styled_texts(body(request), 2)
    if request["truncated"] is not None:
        yield from styled_texts([line(f"see all of it with: qd requests {request['request_id']}")], 4)
    yield from styled_texts([*card.risk_lines(request), *card.outcome_lines(request)], 4)


def card_lines(request: Json, *, with_commands: bool = True) -> Iterator[Text]:
    """Everything about one request: its session, exact input, risk and reasons, and the commands to decide it."""
    head = card.head(request, _session(request), time.time(), risk=True)
    yield from styled_texts([*head, card.origin(request), StyledLine()])
    yield from styled_texts(body(request), 2)
    patterns = (request["rule"] or {}).get("patterns") or []
    remember = [line(("can be remembered as: ", "dim"), pattern) for pattern in patterns]
    yield from styled_texts([StyledLine()])
    yield from styled_texts([*card.tail(request), *remember, *card.outcome_lines(request)], 2)
    if request["status"] == "pending" and with_commands:
        yield from _commands(request)


def _session(request: Json) -> RequestSession | None:
    return read_view(RequestSession, request["session"]) if request["session"] else None


def _remember_command(request: Json) -> list[tuple[str, str, str]]:
    """The command that also creates a rule, with the narrowest pattern. Left out when the pattern has characters that
    the terminal cannot show, as a copy of it would differ."""
    patterns = (request["rule"] or {}).get("patterns") or []
    if request["form"] or not patterns or one_line(patterns[0]) != patterns[0]:
        return []
    return [("allow", f"--remember session --pattern {shlex.quote(patterns[0])}", "let it run now and next time")]


def _commands(request: Json) -> Iterator[Text]:
    """The commands that decide a request."""
    ways = (
        *ANSWERS.get(request["form"] or "", ANSWERS[""]),
        *_remember_command(request),
        *([("pass", "", "leave it to its own terminal")] if request["has_terminal"] else []),
    )
    commands = [" ".join(filter(None, ["qd", word, request["request_id"], more])) for word, more, _ in ways]
    widest = max(len(command) for command in commands if len(command) <= out.width // 2 or command == commands[0])
    yield Text()
    for command, (_, _, why) in zip(commands, ways, strict=True):
        yield Text("  ").append_text(cell(f"{command:<{widest}}", "bold")).append(f"  {why}", style="dim")
