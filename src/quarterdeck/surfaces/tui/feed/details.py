"""The lines of an opened row: input, decision, outcome and causes, or its raw JSON. Pure and lazy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from quarterdeck.core.text.feed.row_words import CALLS, OUTCOMES
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, fold_spans, row_text
from quarterdeck.surfaces.tui.feed.render.cut_text import text_lines, visible_line
from quarterdeck.surfaces.tui.feed.render.json_values import readable_lines, value_lines
from quarterdeck.surfaces.tui.feed.render.registry import tool_view_of
from quarterdeck.surfaces.tui.feed.render.tool_view import text_in

STEPS = ((60, 2_000), (400, 16_000), (3_000, 128_000), (20_000, 1_000_000))
"""Terminal lines, and characters of one line of text, that are shown at first and after each key press for more."""

MAX_COPIED = 100_000
"""Characters copied at most: as many as terminals accept at once."""

REPEATING = frozenset({*CALLS, "run.start", "request.assessed"})
"""Kinds that say nothing which the line of the row and its main event do not."""

Event = dict[str, Any]


def detail_lines(events: Sequence[Event], causes: list[str], *, raw: bool) -> Iterator[Row]:
    """All events of a row, line by line, not yet made visible: the input of a call, what was decided, the outcome."""
    if raw:
        for event in events:
            yield from value_lines(event)
        return
    main, after = _main_event(events), _outcome_of(events)
    after = None if after is main else after
    yield from islice(_event_lines(main), 1 if after is not None and _repeats_input(after) else None)
    for event in events:
        if event is not main and event is not after and event["kind"] not in REPEATING:
            yield from _further_lines(event)
    if after is not None:
        yield from _changed_input_lines(main, after)
        yield from _outcome_lines(after)
    yield from _cause_lines(events, causes)


def _main_event(events: Sequence[Event]) -> Event:
    """The event that says what the row is about."""
    named = (event for kind in (*CALLS, "user.prompt") for event in events if event["kind"] == kind)
    return next(named, events[0])


def _outcome_of(events: Sequence[Event]) -> Event | None:
    return next((event for event in reversed(events) if event["kind"] in OUTCOMES), None)


def _further_lines(event: Event) -> Iterator[Row]:
    """What another event of the row adds: its title, and the text that the title cuts."""
    title = str(event.get("title") or event["kind"])
    yield [*next(text_lines(title, "ok" if title.startswith("✓") else "error" if title.startswith("✗") else "dim"))]
    body = event.get("body")
    if isinstance(body, str) and " ".join(body.split()) not in title:
        yield from ([TextSpan("  "), *line] for line in text_lines(body))


def shown_lines(lines: Iterator[Row], width: int, indent: int, step: int) -> list[Row]:
    """The lines made visible and folded to a width, as many as the step allows, and a line with the key for more."""
    limit, longest = STEPS[min(step, len(STEPS) - 1)]
    lead = TextSpan(" " * max(indent - 2, 0) + "│ ", "rule")
    room = max(width - indent - 1, 10)
    flowing = ([lead, *row] for line in lines for row in fold_spans(visible_line(line, longest), room))
    made: list[Row] = list(islice(flowing, limit))
    if next(flowing, None) is not None:
        made.append([lead, TextSpan("… y: copy all of it" if step >= len(STEPS) - 1 else "… m: more of it", "more")])
    return made


def missing_row(indent: int) -> Row:
    """The line of an opened event that could not be read."""
    return [TextSpan(" " * indent + "no longer in the log, or the daemon is unreachable", "warn")]


def _repeats_input(after: Event) -> bool:
    data = after.get("data")
    return isinstance(data, dict) and tool_view_of(data).repeats_input(data.get("tool_response"))


def _event_lines(event: Event) -> Iterator[Row]:
    data = event.get("data")
    kind = str(event.get("kind"))
    if not isinstance(data, dict):
        yield from readable_lines(data)
    elif isinstance(data.get("tool_input"), dict) and kind in (
        "tool.pre",
        "permission.request",
        "question.request",
        "permission.denied",
    ):
        yield from _input_lines(data)
    elif kind in ("tool.post", "tool.failure"):
        yield from _input_lines(data) if isinstance(data.get("tool_input"), dict) else iter(())
        yield from _outcome_lines(event)
    else:
        yield from _texts(event, data)


def _input_lines(data: Event) -> Iterator[Row]:
    tool_input = data["tool_input"]
    if tool_input.get("message") and data.get("form") == "elicitation":
        yield from text_lines(str(tool_input["message"]))
    yield from tool_view_of(data).input_lines(tool_input)


def _changed_input_lines(event: Event, after: Event) -> Iterator[Row]:
    """The input that ran, if it differs from the agent's input."""
    before, ran = _input_of(event), _input_of(after)
    if ran and any(ran.get(key) != before[key] for key in before):
        yield [TextSpan("it ran with", "label")]
        yield from _input_lines(after["data"])


def _input_of(event: Event) -> Event:
    data = event.get("data")
    found = data.get("tool_input") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _outcome_lines(event: Event) -> Iterator[Row]:
    data = event.get("data")
    if not isinstance(data, dict):
        return
    kind, tool_input = str(event.get("kind")), data.get("tool_input")
    if kind == "tool.failure":
        yield [TextSpan("failed", "error")]
        yield from text_lines(text_in(data, "error"), "error")
    elif kind == "tool.post":
        yield [TextSpan("⎿", "dim")]
        tool_view = tool_view_of(data)
        yield from tool_view.output_lines(tool_input if isinstance(tool_input, dict) else {}, data.get("tool_response"))


_TEXTS = ("prompt", "text", "message", "last_assistant_message", "error", "reason", "note", "compact_summary")
"""Fields of any event data that are shown as text, in this order."""


def _texts(event: Event, data: Event) -> Iterator[Row]:
    seen = [key for key in _TEXTS if isinstance(data.get(key), str) and data[key]]
    for n, key in enumerate(seen):
        if n:
            yield [TextSpan(key, "label")]
        yield from text_lines(data[key])
    rest = {key: value for key, value in data.items() if key not in seen and value not in (None, "", [], {})}
    if rest and not seen:
        yield from readable_lines(rest)


def _cause_lines(events: Sequence[Event], causes: list[str]) -> Iterator[Row]:
    """The number and kind of each event, the actor, and the causes."""
    numbers = [f"#{event.get('seq_no')} {event.get('kind')}" for event in events]
    yield [TextSpan(" · ".join([*numbers, str(events[0].get("actor_id"))]), "dim")]
    for depth, words in enumerate(causes):
        yield [TextSpan("  " * depth + "↑ because of ", "dim"), TextSpan(words, "dim")]


def clipboard_text(events: Sequence[Event]) -> str:
    """The row as text for the clipboard: input and outcome, made visible, without labels of Quarterdeck."""
    main, after = _main_event(events), _outcome_of(events)
    lines: list[str] = []
    left = MAX_COPIED
    for line in chain(_event_lines(main), _outcome_lines(after) if after is not None and after is not main else ()):
        text = row_text(visible_line(line, left))
        lines.append(text)
        left -= len(text) + 1
        if left <= 0:
            lines.append("… cut here")
            break
    return "\n".join(lines)
