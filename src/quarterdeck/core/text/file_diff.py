"""What an edit would do to a file, as a unified diff of bounded size; pure, the file's text is handed in."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import flag, items, text

EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
"""Tools that change a file in a way that can be foreseen."""

CONTEXT = 3
MOST_LINES = 2_000
MOST_BYTES = 256 * 1024
COMPARED = 1_500
"""How many lines of each side are compared line by line, after what is alike at both ends."""
MOST_EDITS = 500
LARGEST = 2 * 1024 * 1024
"""How many characters a text may have to be compared."""


class Change(Struct, frozen=True, kw_only=True):
    """A change. `diff` is empty when nothing can be shown; `notes` say what a reader must know; `cut` that lines are
    missing; `compared` that the file was read."""

    path: str
    diff: str
    added: int = 0
    removed: int = 0
    compared: bool = False
    cut: bool = False
    notes: tuple[str, ...] = ()


class _Cannot(Exception):
    """Why an edit does not apply."""


def _check_size(length: int) -> None:
    if length > LARGEST:
        raise _Cannot("the change is too large to be compared")


def path_in(tool_input: Mapping[str, Any]) -> str:
    """The file an edit names; empty for none."""
    given = dict(tool_input)
    return text(given, "file_path") or text(given, "notebook_path")


def change_of(tool_name: str, tool_input: Mapping[str, Any], now: str | None, notes: tuple[str, ...] = ()) -> Change:
    """The change to a file whose text is `now`; None for a file that is not there. What does not apply is shown as the
    input says it."""
    given = dict(tool_input)
    try:
        before, after = _sides(tool_name, given, now)
        _check_size(len(after))
    except _Cannot as why:
        return change_as_asked(tool_name, tool_input, (str(why), *notes))
    if now is None:
        notes = ("a new file", *notes)
    elif before == after:
        notes = ("changes nothing", *notes)
    return _change(path_in(given), before, after, compared=True, notes=notes)


def change_as_asked(tool_name: str, tool_input: Mapping[str, Any], notes: tuple[str, ...] = ()) -> Change:
    """The change by the words of the input alone."""
    given = dict(tool_input)
    path = path_in(given)
    parts = [_change(path, old[:LARGEST], new[:LARGEST]) for old, new in _pairs(tool_name, given)]
    lines = [line for n, part in enumerate(parts) for line in part.diff.splitlines(keepends=True)[2 if n else 0 :]]
    kept, is_cut = _bounded(lines)
    more = ("not all of it is shown here; the input holds all",) if is_cut and not any(p.cut for p in parts) else ()
    return Change(
        path=path,
        diff="".join(kept),
        added=sum(part.added for part in parts),
        removed=sum(part.removed for part in parts),
        cut=is_cut or any(part.cut for part in parts),
        notes=(*notes, *dict.fromkeys(note for part in parts for note in part.notes), *more),
    )


def _pairs(tool_name: str, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match tool_name:
        case "Write":
            yield "", text(given, "content")
        case "NotebookEdit":
            yield "", text(given, "new_source")
        case _:
            size = 0
            for edit in _edits(tool_name, given):
                pair = text(edit, "old_string"), text(edit, "new_string")
                size += sum(map(len, pair))
                yield pair
                if size > LARGEST:
                    return


def _edits(tool_name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    if tool_name == "Edit":
        return [given]
    return [edit for edit in items(given, "edits") if isinstance(edit, dict)][:MOST_EDITS]


def _sides(tool_name: str, given: dict[str, Any], now: str | None) -> tuple[str, str]:
    """The text before and after; for a notebook that of the one cell."""
    match tool_name:
        case "Write":
            return now or "", text(given, "content")
        case "NotebookEdit":
            return _cell(given, now)
        case _:
            return _edited(_edits(tool_name, given), now)


def _edited(edits: list[dict[str, Any]], now: str | None) -> tuple[str, str]:
    if len(edits) >= MOST_EDITS:
        raise _Cannot(f"more than {MOST_EDITS} edits: shown one by one, not against the file")
    if now is None:
        if edits and text(edits[0], "old_string") == "":
            return "", text(edits[0], "new_string")
        raise _Cannot("there is no such file")
    before = now if any("\r\n" in text(edit, "old_string") for edit in edits) else now.replace("\r\n", "\n")
    after = before
    for number, edit in enumerate(edits, 1):
        after = _replaced(after, edit, f"edit {number}: " if len(edits) > 1 else "")
    return before, after


def _replaced(before: str, edit: dict[str, Any], which: str) -> str:
    old, new = text(edit, "old_string"), text(edit, "new_string")
    if old == "":
        if before.strip():
            raise _Cannot(f"{which}old_string is empty, and the file is not")
        return new
    found = before.count(old)
    if not found:
        raise _Cannot(f"{which}old_string is not in the file as it is now")
    _check_size(len(before) + found * (len(new) - len(old)))
    everywhere = flag(edit, "replace_all")
    if found > 1 and not everywhere:
        raise _Cannot(f"{which}old_string is {found} times in the file as it is now")
    return before.replace(old, new) if everywhere else before.replace(old, new, 1)


def _cell(given: dict[str, Any], now: str | None) -> tuple[str, str]:
    """The source of the cell that a notebook edit means."""
    mode, wanted = text(given, "edit_mode") or "replace", text(given, "cell_id")
    new = "" if mode == "delete" else text(given, "new_source")
    if now is None:
        raise _Cannot("there is no such notebook")
    if mode == "insert":
        return "", new
    for number, cell in enumerate(_cells(now)):
        if wanted in (str(cell.get("id", "")), f"cell-{number}", str(number)):
            source = cell.get("source", "")
            return "".join(map(str, source)) if isinstance(source, list) else str(source), new
    raise _Cannot("the cell is not in the notebook as it is now")


def _cells(now: str) -> list[dict[str, Any]]:
    try:
        notebook = json.loads(now)
    except (ValueError, RecursionError):
        raise _Cannot("the file is no notebook") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _change(path: str, before: str, after: str, *, compared: bool = False, notes: tuple[str, ...] = ()) -> Change:
    old, new = _lines(before), _lines(after)
    hunks = list(_hunks(old, new))
    added = sum(line.startswith("+") for line in hunks)
    removed = sum(line.startswith("-") for line in hunks)
    kept, cut = _bounded(hunks)
    if cut:
        notes = (*notes, f"{len(hunks) - len(kept):,} more lines are not shown here; the input holds all")
    head = f"--- {path}\n+++ {path}\n" if kept else ""
    shown = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in kept)
    return Change(path=path, diff=head + shown, added=added, removed=removed, compared=compared, cut=cut, notes=notes)


def _lines(value: str) -> list[str]:
    """Lines that end where a file's do: a lone CR or a form feed is part of its line."""
    lines = [line + "\n" for line in value.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """The lines of a unified diff without its head, in bounded time: what is alike at both ends is skipped first, and
    where too much is left between, all of it is replaced."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not a and not b:
        return
    if max(len(a), len(b)) > COMPARED:
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


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines are the same from the beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _bounded(lines: list[str]) -> tuple[list[str], bool]:
    size = 0
    for number, line in enumerate(lines[:MOST_LINES]):
        size += len(line.encode(errors="surrogatepass"))
        if size > MOST_BYTES:
            return lines[:number], True
    return lines[:MOST_LINES], len(lines) > MOST_LINES
