"""An opened event: what was asked, what came of it, why it happened, and on demand its raw JSON. Pure and lazy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from quarterdeck.surfaces.tui.feed.render.json_values import value_lines
from quarterdeck.surfaces.tui.feed.render.registry import face_of
from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, folded, seen, text_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import text_in

STEPS = ((60, 2_000), (400, 16_000), (3_000, 128_000), (20_000, 1_000_000))
"""How many lines of the terminal, and how many characters of one line of a text, are shown at first and after each
wish to see more."""

COPIED = 100_000
"""Characters that are copied: what terminals take at once."""

Event = dict[str, Any]


def detail_lines(event: Event, after: Event | None, causes: list[str], *, raw: bool) -> Iterator[Line]:
    """Everything there is to see of an event and its outcome, line by line, as the agent gave it."""
    if raw:
        yield from value_lines(event)
        if after is not None:
            yield from value_lines(after)
        return
    yield from islice(_told(event), 1 if after is not None and _retells(after) else None)
    if after is not None:
        yield from _changed(event, after)
        yield from _came(after)
    yield from _because(event, causes)


def shown_lines(lines: Iterator[Line], width: int, indent: int, step: int) -> list[Line]:
    """The lines made visible and cut to a width, as many as the step allows, and a word how to see more."""
    limit, longest = STEPS[min(step, len(STEPS) - 1)]
    lead: Line = [(" " * max(indent - 2, 0) + "│ ", "rule")]
    room = max(width - indent - 1, 10)
    flowing = (lead + part for line in lines for part in folded(seen(line, longest), room))
    made = list(islice(flowing, limit))
    if next(flowing, None) is not None:
        made.append([*lead, ("… y: copy all of it" if step >= len(STEPS) - 1 else "… m: more of it", "more")])
    return made


def _retells(after: Event) -> bool:
    data = after.get("data")
    return isinstance(data, dict) and face_of(str(data.get("tool_name"))).retells(data.get("tool_response"))


def _told(event: Event) -> Iterator[Line]:
    data = event.get("data")
    kind = str(event.get("kind"))
    if not isinstance(data, dict):
        yield from value_lines(data)
    elif isinstance(data.get("tool_input"), dict) and kind in (
        "tool.pre",
        "permission.request",
        "question.request",
        "permission.denied",
    ):
        yield from _asked(data)
    elif kind in ("tool.post", "tool.failure"):
        yield from _asked(data) if isinstance(data.get("tool_input"), dict) else iter(())
        yield from _came(event)
    else:
        yield from _texts(event, data)


def _asked(data: Event) -> Iterator[Line]:
    given = data["tool_input"]
    if given.get("message") and data.get("form") == "elicitation":
        yield from text_lines(str(given["message"]))
    yield from face_of(str(data.get("tool_name"))).asked(given)


def _changed(event: Event, after: Event) -> Iterator[Line]:
    """What ran, where it was not what the agent had wanted."""
    wanted, ran = _input_of(event), _input_of(after)
    if ran and any(ran.get(key) != wanted[key] for key in wanted):
        yield [("it ran with", "label")]
        yield from _asked(after["data"])


def _input_of(event: Event) -> Event:
    data = event.get("data")
    found = data.get("tool_input") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _came(event: Event) -> Iterator[Line]:
    data = event.get("data")
    if not isinstance(data, dict):
        return
    kind, given = str(event.get("kind")), data.get("tool_input")
    if kind == "tool.failure":
        yield [("failed", "error")]
        yield from text_lines(text_in(data, "error"), "error")
    elif kind == "tool.post":
        yield [("⎿", "dim")]
        face = face_of(str(data.get("tool_name")))
        yield from face.got(given if isinstance(given, dict) else {}, data.get("tool_response"))
    else:
        yield [("⎿ ", "dim"), *next(text_lines(str(event.get("title"))))]
        yield from _texts(event, {k: v for k, v in data.items() if k not in ("request_id", "digest", "by", "source")})


_TEXTS = ("prompt", "text", "message", "last_assistant_message", "error", "reason", "note", "compact_summary")
"""Fields of any data that are for reading, in this order."""


def _texts(event: Event, data: Event) -> Iterator[Line]:
    seen = [key for key in _TEXTS if isinstance(data.get(key), str) and data[key]]
    for n, key in enumerate(seen):
        if n:
            yield [(key, "label")]
        yield from text_lines(data[key])
    rest = {key: value for key, value in data.items() if key not in seen and value not in (None, "", [], {})}
    if rest and not seen:
        yield from value_lines(rest)


def _because(event: Event, causes: list[str]) -> Iterator[Line]:
    """Where in the log it stands, who did it, and from what it follows."""
    yield [(f"#{event.get('seq_no')} · {event.get('kind')} · {event.get('actor_id')}", "dim")]
    for depth, words in enumerate(causes):
        yield [("  " * depth + "↑ because of ", "dim"), (words, "dim")]


def copied(event: Event, after: Event | None) -> str:
    """The event as text for a clipboard: what was asked and what came of it, visible, without our own words."""
    made: list[str] = []
    left = COPIED
    for line in chain(_told(event), _came(after) if after is not None else ()):
        text = "".join(text for text, _ in seen(line, left))
        made.append(text)
        left -= len(text) + 1
        if left <= 0:
            made.append("… cut here")
            break
    return "\n".join(made)
