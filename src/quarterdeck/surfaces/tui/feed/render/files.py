"""Files: reading, writing and changing them, and looking for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.tui.feed.render.diff import diff_counts, diff_lines, patch_lines
from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words, text_lines
from quarterdeck.surfaces.tui.feed.render.syntax import code_lines, ending_of
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Face,
    Input,
    count_in,
    counted,
    labelled,
    lines_count,
    said,
    text_in,
)

CHANGED = "changed by you before it was written"


def _path(given: Input) -> str:
    return text_in(given, "file_path", "notebook_path", "path")


def _path_line(given: Input) -> Iterator[Line]:
    yield [(text, "path") for text, _ in next(text_lines(_path(given)))]


def _read_subject(given: Input) -> str:
    first, limit = count_in(given, "offset"), count_in(given, "limit")
    if first is None and limit is None:
        return _path(given)
    start = first or 1
    return f"{_path(given)}:{start}{f'–{start + limit - 1}' if limit else ''}"


def _read_outcome(given: Input, response: Any) -> str:
    file = response.get("file") if isinstance(response, dict) else None
    number = count_in(file, "numLines")
    if number is not None:
        return counted(number, "line")
    size = count_in(file, "originalSize")
    return size_words(size) if size is not None else ""


def _read_got(given: Input, response: Any) -> Iterator[Line]:
    file = response.get("file") if isinstance(response, dict) else None
    content = text_in(file, "content") or said(response)
    yield from code_lines(content, ending_of(_path(given)), count_in(file, "startLine") or 1)


def _changes(given: Input) -> list[tuple[str, str]]:
    edits = given.get("edits")
    found = edits if isinstance(edits, list) else [given]
    return [(text_in(edit, "old_string"), text_in(edit, "new_string")) for edit in found[:200]]


def _signs(added: int, removed: int) -> str:
    return " ".join([f"+{added}"] * bool(added) + [f"−{removed}"] * bool(removed))


def _edit_subject(given: Input) -> str:
    counts = [diff_counts(old, new) for old, new in _changes(given)[:20]]
    signs = _signs(sum(added for added, _ in counts), sum(removed for _, removed in counts))
    return f"{_path(given)}  {signs}".rstrip()


def _edit_asked(given: Input) -> Iterator[Line]:
    yield from _path_line(given)
    for old, new in _changes(given):
        yield from diff_lines(old, new, ending_of(_path(given)))
    if given.get("replace_all") is True:
        yield [("everywhere in the file", "dim")]


def _patch(response: Any) -> list[Any]:
    patch = response.get("structuredPatch") if isinstance(response, dict) else None
    return patch if isinstance(patch, list) else []


def _patched(given: Input, response: Any) -> Iterator[Line]:
    """The patch with the file's own line numbers, where the agent reports one."""
    yield from patch_lines(_patch(response), ending_of(_path(given)))
    if _edit_outcome(given, response):
        yield [(CHANGED, "warn")]


def _edit_outcome(given: Input, response: Any) -> str:
    return CHANGED if isinstance(response, dict) and response.get("userModified") is True else ""


def _retold(response: Any) -> bool:
    return bool(_patch(response))


def _write_subject(given: Input) -> str:
    content = text_in(given, "content")
    return f"{_path(given)}  +{lines_count(content)}" if content else _path(given)


def _write_asked(given: Input) -> Iterator[Line]:
    yield from _path_line(given)
    content, ending = text_in(given, "content", "new_source"), ending_of(_path(given))
    for number, *line in code_lines(content, ending):
        yield [number, ("+ ", "added"), *((text, f"added {role}".rstrip()) for text, role in line)]


def _write_outcome(given: Input, response: Any) -> str:
    return {"create": "new file", "update": "overwritten"}.get(text_in(response, "type"), "")


def _hunt_asked(given: Input) -> Iterator[Line]:
    for key in ("pattern", "path", "glob", "type", "output_mode"):
        if text_in(given, key):
            yield labelled(key, text_in(given, key))


def _hunt_outcome(given: Input, response: Any) -> str:
    files, hits = count_in(response, "numFiles"), count_in(response, "numMatches", "numLines")
    if files is not None or hits is not None:
        words = [counted(hits, "match" if count_in(response, "numMatches") is not None else "line")] if hits else []
        words += [counted(files, "file")] if files is not None and (files or not hits) else []
        return " in ".join(words)
    text = said(response)
    return counted(lines_count(text), "line") if text else ""


def _hunt_got(given: Input, response: Any) -> Iterator[Line]:
    names = response.get("filenames") if isinstance(response, dict) else None
    if said(response):
        yield from text_lines(said(response))
    elif isinstance(names, list):
        for name in names:
            if isinstance(name, str):
                yield [(text, "path") for text, _ in next(text_lines(name))]


def _hunt_subject(given: Input) -> str:
    pattern, where = text_in(given, "pattern"), text_in(given, "path", "glob")
    return f"{pattern}  in {where}" if pattern and where else pattern or where


READ = Face(subject=_read_subject, outcome=_read_outcome, asked=_path_line, got=_read_got, compact=True)
EDIT = Face(
    subject=_edit_subject, outcome=_edit_outcome, asked=_edit_asked, got=_patched, compact=True, retells=_retold
)
MULTI_EDIT = EDIT
WRITE = Face(
    subject=_write_subject, outcome=_write_outcome, asked=_write_asked, got=_patched, compact=True, retells=_retold
)
NOTEBOOK = Face(subject=_path, outcome=_edit_outcome, asked=_write_asked, got=_patched, compact=True, retells=_retold)
GREP = Face(subject=_hunt_subject, outcome=_hunt_outcome, asked=_hunt_asked, got=_hunt_got, compact=True)
GLOB = GREP
