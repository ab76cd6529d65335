"""The change an edit would make to a file, as a unified diff of bounded size. Pure: the caller reads the file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import flag, items, text
from quarterdeck.core.model.tool_kinds import ToolKind

CONTEXT = 3
MAX_LINES = 2_000
MAX_BYTES = 256 * 1024
"""A card with more is slow to send and to draw, and nobody reads it to its end."""

MAX_COMPARED_LINES = 1_500
"""Lines of each side, between common start and end, that are compared one by one: `difflib` takes quadratic time."""
MAX_EDITS = 500
"""Each edit searches the whole file again."""

MAX_TEXT = 2 * 1024 * 1024
"""Characters of a text that can still be compared."""


class FileDiff(Struct, frozen=True, kw_only=True):
    """A change to a file. `diff` is empty when there is nothing to show. `notes` hold what a reader must know. `cut`:
    lines are missing. `compared`: the file itself was read."""

    path: str
    diff: str
    added: int = 0
    removed: int = 0
    compared: bool = False
    cut: bool = False
    notes: tuple[str, ...] = ()


class _EditError(Exception):
    """The reason why an edit does not apply."""


def _check_size(length: int) -> None:
    if length > MAX_TEXT:
        raise _EditError("the change is too large to be compared")


def edited_path(tool_input: Mapping[str, Any]) -> str:
    """The path an edit names; empty if it names none."""
    fields = dict(tool_input)
    return text(fields, "file_path") or text(fields, "notebook_path")


def diff_against_file(
    kind: str, tool_input: Mapping[str, Any], current: str | None, notes: tuple[str, ...] = ()
) -> FileDiff:
    """Return the change to a file whose text is `current` (None: the file does not exist). An edit that does not apply
    is shown from its input alone."""
    fields = dict(tool_input)
    try:
        before, after = _sides(kind, fields, current)
        _check_size(len(after))
    except _EditError as error:
        return diff_from_input(kind, tool_input, (str(error), *notes))
    if current is None:
        notes = ("a new file", *notes)
    elif before == after:
        notes = ("changes nothing", *notes)
    return _diff(edited_path(fields), before, after, compared=True, notes=notes)


def diff_from_input(kind: str, tool_input: Mapping[str, Any], notes: tuple[str, ...] = ()) -> FileDiff:
    """Return the change as the tool input describes it, without reading the file."""
    fields = dict(tool_input)
    path = edited_path(fields)
    parts = [_diff(path, old[:MAX_TEXT], new[:MAX_TEXT]) for old, new in _pairs(kind, fields)]
    lines = [line for n, part in enumerate(parts) for line in part.diff.splitlines(keepends=True)[2 if n else 0 :]]
    kept, is_cut = _truncated(lines)
    truncated = (
        ("not all of it is shown here; the input holds all",) if is_cut and not any(p.cut for p in parts) else ()
    )
    return FileDiff(
        path=path,
        diff="".join(kept),
        added=sum(part.added for part in parts),
        removed=sum(part.removed for part in parts),
        cut=is_cut or any(part.cut for part in parts),
        notes=(*notes, *dict.fromkeys(note for part in parts for note in part.notes), *truncated),
    )


def _pairs(kind: str, fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match kind:
        case ToolKind.WRITE:
            yield "", text(fields, "content")
        case ToolKind.NOTEBOOK_EDIT:
            yield "", text(fields, "new_source")
        case _:
            size = 0
            for edit in _edits(kind, fields):
                pair = text(edit, "old_string"), text(edit, "new_string")
                size += sum(map(len, pair))
                yield pair
                if size > MAX_TEXT:
                    return


def _edits(kind: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
    if kind == ToolKind.EDIT:
        return [fields]
    return [edit for edit in items(fields, "edits") if isinstance(edit, dict)][:MAX_EDITS]


def _sides(kind: str, fields: dict[str, Any], current: str | None) -> tuple[str, str]:
    """The text before and after the edit; for a notebook, of its one cell."""
    match kind:
        case ToolKind.WRITE:
            return current or "", text(fields, "content")
        case ToolKind.NOTEBOOK_EDIT:
            return _cell(fields, current)
        case _:
            return _edited(_edits(kind, fields), current)


def _edited(edits: list[dict[str, Any]], current: str | None) -> tuple[str, str]:
    if len(edits) >= MAX_EDITS:
        raise _EditError(f"more than {MAX_EDITS} edits: shown one by one, not against the file")
    if current is None:
        if edits and text(edits[0], "old_string") == "":
            return "", text(edits[0], "new_string")
        raise _EditError("there is no such file")
    before = current if any("\r\n" in text(edit, "old_string") for edit in edits) else current.replace("\r\n", "\n")
    after = before
    for number, edit in enumerate(edits, 1):
        after = _replaced(after, edit, f"edit {number}: " if len(edits) > 1 else "")
    return before, after


def _replaced(before: str, edit: dict[str, Any], label: str) -> str:
    old, new = text(edit, "old_string"), text(edit, "new_string")
    if old == "":
        if before.strip():
            raise _EditError(f"{label}old_string is empty, and the file is not")
        return new
    count = before.count(old)
    if not count:
        raise _EditError(f"{label}old_string is not in the file as it is now")
    _check_size(len(before) + count * (len(new) - len(old)))
    everywhere = flag(edit, "replace_all")
    if count > 1 and not everywhere:
        raise _EditError(f"{label}old_string occurs {count} times in the file as it is now")
    return before.replace(old, new) if everywhere else before.replace(old, new, 1)


def _cell(fields: dict[str, Any], current: str | None) -> tuple[str, str]:
    """The source of the edited notebook cell, before and after."""
    mode, cell_id = text(fields, "edit_mode") or "replace", text(fields, "cell_id")
    new = "" if mode == "delete" else text(fields, "new_source")
    if current is None:
        raise _EditError("the notebook does not exist")
    if mode == "insert":
        return "", new
    for number, cell in enumerate(_cells(current)):
        if cell_id in (str(cell.get("id", "")), f"cell-{number}", str(number)):
            source = cell.get("source", "")
            return "".join(map(str, source)) if isinstance(source, list) else str(source), new
    raise _EditError("the cell is not in the notebook as it is now")


def _cells(current: str) -> list[dict[str, Any]]:
    try:
        notebook = json.loads(current)
    except (ValueError, RecursionError):
        raise _EditError("the file is not a notebook") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _diff(path: str, before: str, after: str, *, compared: bool = False, notes: tuple[str, ...] = ()) -> FileDiff:
    old, new = _lines(before), _lines(after)
    hunks = list(_hunks(old, new))
    added = sum(line.startswith("+") for line in hunks)
    removed = sum(line.startswith("-") for line in hunks)
    kept, cut = _truncated(hunks)
    if cut:
        notes = (*notes, f"{len(hunks) - len(kept):,} more lines are not shown here; the input holds all")
    head = f"--- {path}\n+++ {path}\n" if kept else ""
    shown = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in kept)
    return FileDiff(path=path, diff=head + shown, added=added, removed=removed, compared=compared, cut=cut, notes=notes)


def _lines(value: str) -> list[str]:
    """Split at newlines only, as the agent's tools do. `splitlines` would also split at a lone CR or a form feed."""
    lines = [line + "\n" for line in value.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the lines of a unified diff without its header, in bounded time: the common start and end are skipped
    first, and if too many lines remain between them, they count as replaced."""
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not a and not b:
        return
    if max(len(a), len(b)) > MAX_COMPARED_LINES:
        groups = [[("replace", 0, len(a), 0, len(b))]]
    else:
        groups = [list(group) for group in difflib.SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT)]
    for number, group in enumerate(groups):
        lead = min(CONTEXT, start) if number == 0 and group[0][1] == 0 else 0
        trail = min(CONTEXT, end) if number == len(groups) - 1 and group[-1][2] == len(a) else 0
        yield from _hunk(old, new, start, group, lead, trail)


_Op = tuple[str, int, int, int, int]


def _hunk(old: list[str], new: list[str], start: int, group: list[_Op], lead: int, trail: int) -> Iterator[str]:
    first, last = group[0], group[-1]
    a1, a2 = start + first[1] - lead, start + last[2] + trail
    b1, b2 = start + first[3] - lead, start + last[4] + trail
    yield f"@@ -{_range(a1, a2)} +{_range(b1, b2)} @@\n"
    yield from (" " + line for line in old[a1 : a1 + lead])
    for kind, i1, i2, j1, j2 in group:
        if kind == "equal":
            yield from (" " + line for line in old[start + i1 : start + i2])
            continue
        yield from ("-" + line for line in old[start + i1 : start + i2])
        yield from ("+" + line for line in new[start + j1 : start + j2])
    yield from (" " + line for line in old[a2 - trail : a2])


def _range(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _common_prefix(one: list[str], other: list[str]) -> int:
    """The number of equal lines at the start."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _truncated(lines: list[str]) -> tuple[list[str], bool]:
    size = 0
    for number, line in enumerate(lines[:MAX_LINES]):
        size += len(line.encode(errors="surrogatepass"))
        if size > MAX_BYTES:
            return lines[:number], True
    return lines[:MAX_LINES], len(lines) > MAX_LINES
