"""The views of tools that read, write, edit and search files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import size_words, text_lines
from quarterdeck.surfaces.tui.feed.render.diff import diff_counts, diff_lines, patch_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Input,
    ToolView,
    coloured_row,
    count_in,
    counted,
    first_line,
    labelled,
    lines_count,
    part_of,
    response_text,
    text_in,
)
from quarterdeck.views.code_colours import LINES, ending_of

CHANGED = "changed by you before it was written"


def _path(tool_input: Input) -> str:
    return text_in(tool_input, "file_path", "notebook_path", "path")


def _path_line(tool_input: Input) -> Iterator[Row]:
    yield first_line(_path(tool_input), "path")


def _read_subject(tool_input: Input) -> str:
    first, limit = count_in(tool_input, "offset"), count_in(tool_input, "limit")
    if first is None and limit is None:
        return _path(tool_input)
    start = first or 1
    return f"{_path(tool_input)}:{start}{f'–{start + limit - 1}' if limit else ''}"


def _read_outcome(tool_input: Input, response: Any) -> str:
    file = part_of(response, "file")
    number, size = count_in(file, "numLines"), count_in(file, "originalSize")
    return counted(number, "line") if number is not None else size_words(size) if size is not None else ""


def _read_output(tool_input: Input, response: Any) -> Iterator[Row]:
    file = part_of(response, "file")
    content = text_in(file, "content") or response_text(response)
    yield from code_lines(content, ending_of(_path(tool_input)), count_in(file, "startLine") or 1)


def _changes(tool_input: Input) -> list[tuple[str, str]]:
    edits = tool_input.get("edits")
    found = edits if isinstance(edits, list) else [tool_input]
    return [(text_in(edit, "old_string"), text_in(edit, "new_string")) for edit in found[:200]]


def _signs(added: int, removed: int) -> str:
    return " ".join([f"+{added}"] * bool(added) + [f"−{removed}"] * bool(removed))


def _edit_subject(tool_input: Input) -> str:
    counts = [diff_counts(old, new) for old, new in _changes(tool_input)[:20]]
    signs = _signs(sum(added for added, _ in counts), sum(removed for _, removed in counts))
    return f"{_path(tool_input)}  {signs}".rstrip()


def _edit_input(tool_input: Input) -> Iterator[Row]:
    yield from _path_line(tool_input)
    for old, new in _changes(tool_input):
        yield from diff_lines(old, new, ending_of(_path(tool_input)))
    if tool_input.get("replace_all") is True:
        yield [TextSpan("everywhere in the file", "dim")]


def _patch(response: Any) -> list[Any]:
    patch = part_of(response, "structuredPatch")
    return patch if isinstance(patch, list) else []


def _patched(tool_input: Input, response: Any) -> Iterator[Row]:
    """The patch with the file's own line numbers, if the agent reports one."""
    yield from patch_lines(_patch(response), ending_of(_path(tool_input)))
    if _edit_outcome(tool_input, response):
        yield [TextSpan(CHANGED, "warn")]


def _edit_outcome(tool_input: Input, response: Any) -> str:
    return CHANGED if part_of(response, "userModified") is True else ""


def _write_subject(tool_input: Input) -> str:
    content = text_in(tool_input, "content")
    return f"{_path(tool_input)}  +{lines_count(content)}" if content else _path(tool_input)


def _write_input(tool_input: Input) -> Iterator[Row]:
    yield from _path_line(tool_input)
    content, ending = text_in(tool_input, "content", "new_source"), ending_of(_path(tool_input))
    for number, *line in code_lines(content, ending):
        yield [number, TextSpan("+ ", "added"), *(TextSpan(span.text, f"added {span.style}".rstrip()) for span in line)]


def _write_outcome(tool_input: Input, response: Any) -> str:
    return {"create": "new file", "update": "overwritten"}.get(text_in(response, "type"), "")


def _search_input(tool_input: Input) -> Iterator[Row]:
    for key in ("pattern", "path", "glob", "type", "output_mode"):
        if text_in(tool_input, key):
            yield labelled(key, text_in(tool_input, key))


def _search_outcome(tool_input: Input, response: Any) -> str:
    files, hits = count_in(response, "numFiles"), count_in(response, "numMatches", "numLines")
    if files is not None or hits is not None:
        words = [counted(hits, "match" if count_in(response, "numMatches") is not None else "line")] if hits else []
        words += [counted(files, "file")] if files is not None and (files or not hits) else []
        return " in ".join(words)
    text = response_text(response)
    return counted(lines_count(text), "line") if text else ""


def _search_output(tool_input: Input, response: Any) -> Iterator[Row]:
    names = part_of(response, "filenames")
    if response_text(response):
        yield from text_lines(response_text(response))
    elif isinstance(names, list):
        yield from (first_line(name, "path") for name in names if isinstance(name, str))


def _search_subject(tool_input: Input) -> str:
    pattern, where = text_in(tool_input, "pattern"), text_in(tool_input, "path", "glob")
    return f"{pattern}  in {where}" if pattern and where else pattern or where


READ = ToolView(
    subject=_read_subject, outcome=_read_outcome, input_lines=_path_line, output_lines=_read_output, compact=True
)
EDIT = ToolView(
    subject=_edit_subject,
    outcome=_edit_outcome,
    input_lines=_edit_input,
    output_lines=_patched,
    compact=True,
    repeats_input=lambda response: bool(_patch(response)),
)
WRITE = replace(EDIT, subject=_write_subject, outcome=_write_outcome, input_lines=_write_input)
NOTEBOOK = replace(EDIT, subject=_path, input_lines=_write_input)
GREP = ToolView(
    subject=_search_subject,
    outcome=_search_outcome,
    input_lines=_search_input,
    output_lines=_search_output,
    compact=True,
)


def code_lines(text: str, ending: str, first: int = 1) -> Iterator[Row]:
    """Code with line numbers, lazily."""
    start, number = 0, first
    while start < len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        code = coloured_row(text[start:stop], ending if number - first < LINES else "")
        yield [TextSpan(f"{number:>5} ", "lineno"), *code]
        start, number = stop + 1, number + 1
