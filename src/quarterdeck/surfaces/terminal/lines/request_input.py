"""The exact input of a request: a readable form for what is known, and every other field as it is; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quarterdeck.core.text.forms import LIMITS, TYPE_LABELS, FormField, form_fields
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.forms.answers import questions_of, value_text
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, exact_lines, hidden_count, line

Json = Mapping[str, Any]

IN_DIFF = frozenset({"file_path", "notebook_path", "old_string", "new_string", "content", "edits", "new_source"})
"""Fields of an input that a complete diff already shows."""
DIFF_STYLES = {"+": "added", "-": "removed", "@": "dim", "\\": "dim"}
SHORT = 200
"""Characters up to which a field is shown on the line of its name."""


def body(request: Json) -> Iterator[StyledLine]:
    """The exact input. A field without a better form is shown as it is, so that nothing is left out."""
    if request["truncated"] is not None:
        yield from exact_lines(request["truncated"]["begins"], "code")
        yield line((f"… {request['truncated']['bytes']:,} bytes in all", "warn"), indent=2)
        return
    shown: set[str] = set()
    yield from _BODIES.get(request["form"] or request["kind"], _tool)(request, shown)
    for key, value in request["tool_input"].items():
        if key not in shown:
            yield from _field(key, value)


def _field(key: str, value: Any, indent: int = 2) -> Iterator[StyledLine]:
    text, name = value_text(value), one_line(key)
    if "\n" in text or len(text) > SHORT:
        yield line((f"{name}:", "dim"), indent=indent)
        yield from exact_lines(text, "code", indent + 2)
    else:
        first = next(exact_lines(text, "code"))
        yield StyledLine((TextSpan(f"{name}: ", "dim"), *first.spans), indent, True)


def _other_fields(fields: Json, indent: int, **known: type | tuple[type, ...]) -> Iterator[StyledLine]:
    """The fields that are not shown otherwise: those with another name, or with an unexpected type."""
    for key, value in fields.items():
        if key not in known or not isinstance(value, known[key]):
            yield from _field(key, value, indent)


def _tool(request: Json, shown: set[str]) -> Iterator[StyledLine]:
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


def _diff(diff: str, change: Json) -> Iterator[StyledLine]:
    yield line((change["path"], "code"), *change_size(change), indent=2)
    for note in change["notes"]:
        yield line((f"({note})", "warn"), indent=2)
    for row in diff.removesuffix("\n").split("\n")[2:]:
        yield from exact_lines(row, DIFF_STYLES.get(row[:1], ""))


def change_size(change: Json) -> tuple[tuple[str, str], ...]:
    """The number of lines that a change adds and removes."""
    return (f"  +{change['added']}", "added"), (f" −{change['removed']}", "removed")


def _before_and_after(tool_input: Json, shown: set[str]) -> Iterator[StyledLine]:
    """An edit by its two texts: removed and added lines, between the lines they share."""
    old, new = tool_input.get("old_string"), tool_input.get("new_string")
    if isinstance(tool_input.get("content"), str):
        old, new = "", tool_input["content"]
        shown.add("content")
    elif isinstance(old, str) and isinstance(new, str):
        shown |= {"old_string", "new_string"}
    else:
        return
    before, after = old.split("\n") if old else [], new.split("\n") if new else []
    same = _common_length(before, after)
    end = _common_length(before[same:][::-1], after[same:][::-1])
    for mark, style, rows in (
        (" ", "dim", before[:same]),
        ("-", "removed", before[same : len(before) - end]),
        ("+", "added", after[same : len(after) - end]),
        (" ", "dim", before[len(before) - end :] if end else []),
    ):
        for row in rows:
            yield from exact_lines(row, style, 2, f"{mark} ")


def _common_length(one: list[str], other: list[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def choice_count(request: Json) -> int:
    """The number of keys (1 to 9) for the options of the first question; 0 when it is no question."""
    questions = questions_of(request) if request["form"] == "questions" else []
    return min(9, len(questions[0].get("options", []))) if questions else 0


def _questions(request: Json, shown: set[str]) -> Iterator[StyledLine]:
    for question in questions_of(request):
        shown.add("questions")
        yield from question_lines(question)


def question_lines(question: Json) -> Iterator[StyledLine]:
    """A question under its heading, with its numbered options; an unknown field is shown as it is."""
    several = " (several may be chosen)" if question.get("multiSelect") is True else ""
    header = question.get("header")
    title = [(f"{header} · ", "dim")] if isinstance(header, str) and header else []
    yield line(*title, (str(question["question"]), "strong"), (several, "dim"), indent=2)
    yield from _other_fields(question, 4, header=str, question=str, multiSelect=bool, options=list)
    for number, option in enumerate(question.get("options", []), 1):
        label, about = (str(option.get(name) or "") for name in ("label", "description"))
        yield line((f"{number}. ", "key"), (label, "code"), (f": {about}" if about else "", "dim"), indent=4)
        yield from _other_fields(option, 6, label=str, description=str)


def _plan(request: Json, shown: set[str]) -> Iterator[StyledLine]:
    plan = request["tool_input"].get("plan")
    if isinstance(plan, str) and plan.strip():
        shown.add("plan")
        yield from exact_lines(plan, "code")
    elif not plan:
        shown.add("plan")
        yield line(("The plan is empty: the agent gave no text.", "warn"), indent=2)


def _elicitation(request: Json, shown: set[str]) -> Iterator[StyledLine]:
    tool_input = request["tool_input"]
    server, message, schema = (tool_input.get(name) for name in ("mcp_server_name", "message", "requested_schema"))
    if isinstance(server, str):
        shown.add("mcp_server_name")
        yield line((server, "strong"), ":", indent=2)
    if isinstance(message, str):
        shown.add("message")
        yield from exact_lines(message, "code", 4)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict) and properties and all(isinstance(shape, dict) for shape in properties.values()):
        shown.add("requested_schema")
        for field in form_fields(schema):
            yield from field_lines(field)
            yield from _other_fields(properties[field.name], 4, **_SHAPE)
        yield from _other_fields(schema, 2, type=str, properties=dict, required=list)


_SHAPE: dict[str, type | tuple[type, ...]] = dict.fromkeys(("title", "description", "type", "format"), str)
_SHAPE |= dict.fromkeys(("enum", "enumNames", "oneOf", "anyOf"), list) | {"items": dict, "default": object}
_SHAPE |= dict.fromkeys(("minimum", "maximum", *LIMITS["string"], *LIMITS["array"]), (int, float))
"""The parts of a field's schema that `field_lines` shows."""


def field_lines(field: FormField) -> Iterator[StyledLine]:
    """A field of a form: its name, its type and limits, and its numbered choices."""
    limits = [f"at least {field.low:g}"] if field.low is not None else []
    limits += [f"at most {field.high:g}"] if field.high is not None else []
    kinds = [TYPE_LABELS.get(field.type, field.type), field.format, "required" if field.required else "", *limits]
    default = "" if field.default is None else f" [{value_text(field.default)}]"
    about = " – ".join(part for part in (field.title, field.description) if part)
    kind = f" ({', '.join(filter(None, kinds))})"
    yield line((field.name, "strong"), (kind, "dim"), default, f": {about}" if about else "", indent=2)
    for number, (value, title) in enumerate(field.choices, 1):
        words = f": {title}" if title != str(value) else ""
        yield line((f"{number}. ", "key"), (str(value), "code"), (words, "dim"), indent=4)


def _nothing(request: Json, shown: set[str]) -> Iterator[StyledLine]:
    return iter(())


_BODIES: Mapping[str, Callable[[Json, set[str]], Iterator[StyledLine]]] = {
    "questions": _questions,
    "plan": _plan,
    "elicitation": _elicitation,
    "stop": _nothing,
}
"""By the form of a request, or its kind when it has none."""


def concealed_parts(request: Json) -> list[str]:
    """The parts of a request that a person would miss, in words: what was cut off, and hidden characters."""
    if request["truncated"] is not None:
        return [f"{request['truncated']['bytes']:,} bytes in all"]
    hidden = sum(hidden_count(text) for text in _texts(request["tool_input"]))
    if not hidden:
        return []
    return ["1 hidden character" if hidden == 1 else f"{hidden} hidden characters"]


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
