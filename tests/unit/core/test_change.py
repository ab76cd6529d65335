"""What an edit would do to a file: a diff that is true, bounded, and says what it could not show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.file_diff import MOST_BYTES, MOST_LINES, Change, change_as_asked, change_of

FILE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"file_path": "/w/a.txt", "old_string": old, "new_string": new, **more}


def test_an_edit_is_shown_against_the_file() -> None:
    change = change_of("Edit", edit("four", "4"), FILE)
    assert change.diff == (
        "--- /w/a.txt\n+++ /w/a.txt\n@@ -1,7 +1,7 @@\n one\n two\n three\n-four\n+4\n five\n six\n seven\n"
    )
    assert (change.added, change.removed, change.compared, change.cut, change.notes) == (1, 1, True, False, ())


def test_a_write_is_shown_against_the_file() -> None:
    change = change_of("Write", {"file_path": "/w/a.txt", "content": FILE + "eight"}, FILE)
    assert change.diff.endswith("@@ -5,3 +5,4 @@\n five\n six\n seven\n+eight\n\\ No newline at end of file\n")
    assert (change.added, change.removed) == (1, 0)


def test_a_new_file_is_all_new() -> None:
    change = change_of("Write", {"file_path": "/w/new.txt", "content": "a\nb\n"}, None)
    assert change.diff == "--- /w/new.txt\n+++ /w/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert change.notes == ("a new file",)
    assert change_of("Edit", edit("", "a\n"), None).added == 1


def test_several_edits_are_one_change() -> None:
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "1\n2"}]
    change = change_of("MultiEdit", {"file_path": "/w/a.txt", "edits": edits}, FILE)
    assert "-one\n-two\n+1\n+2\n three" in change.diff


@pytest.mark.parametrize(
    ("tool", "tool_input", "now", "note"),
    [
        ("Edit", edit("nine", "9"), FILE, "old_string is not in the file as it is now"),
        ("Edit", edit("e", "E"), FILE, "old_string is 6 times in the file as it is now"),
        ("Edit", edit("", "x"), FILE, "old_string is empty, and the file is not"),
        ("Edit", edit("one", "1"), None, "there is no such file"),
        ("MultiEdit", {"edits": [{"old_string": "one"}, {"old_string": "one"}]}, FILE, "edit 2: old_string is not in"),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "cell_id": "x"}, "{", "the file is no notebook"),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "cell_id": "x"}, '{"cells":[]}', "the cell is not in the"),
    ],
)
def test_what_does_not_apply_says_so_and_is_shown_as_asked(
    tool: str, tool_input: dict[str, Any], now: str | None, note: str
) -> None:
    change = change_of(tool, tool_input, now)
    assert change.notes[0].startswith(note)
    assert not change.compared


def test_replacing_everywhere_shows_every_place() -> None:
    change = change_of("Edit", edit("t", "T", replace_all=True), FILE)
    assert (change.added, change.removed) == (2, 2)


def test_windows_line_ends_are_no_difference() -> None:
    change = change_of("Edit", edit("two\nthree", "2\n3"), FILE.replace("\n", "\r\n"))
    assert (change.added, change.removed, change.compared) == (2, 2, True)


def test_a_change_that_changes_nothing_says_so() -> None:
    assert change_of("Edit", edit("one", "one"), FILE) == Change(
        path="/w/a.txt", diff="", compared=True, notes=("changes nothing",)
    )


def test_a_cell_of_a_notebook_is_shown_alone() -> None:
    notebook = json.dumps({"cells": [{"id": "a", "source": ["x = 1\n", "y = 2"]}, {"id": "b", "source": "z"}]})
    given = {"notebook_path": "/w/n.ipynb", "cell_id": "a", "new_source": "x = 1\ny = 3"}
    change = change_of("NotebookEdit", given, notebook)
    assert "-y = 2\n" in change.diff
    assert "+y = 3\n" in change.diff
    assert change_of("NotebookEdit", {**given, "edit_mode": "insert"}, notebook).removed == 0
    assert change_of("NotebookEdit", {**given, "edit_mode": "delete"}, notebook).added == 0


@pytest.mark.law("I3")
@pytest.mark.law("D10")
def test_a_large_change_is_cut_and_says_so() -> None:
    change = change_as_asked("Write", {"file_path": "/w/a", "content": "x\n" * 10_000})
    assert change.cut
    assert change.diff.count("\n") <= MOST_LINES + 2
    assert (change.added, change.notes[-1]) == (10_000, "8,001 more lines are not shown here; the input holds all")
    wide = change_as_asked("Write", {"file_path": "/w/a", "content": "y" * (MOST_BYTES + 1)})
    assert wide.cut


@pytest.mark.law("I4")
def test_an_edit_that_would_make_a_huge_file_is_not_made() -> None:
    change = change_of("Edit", edit("a", "b" * 1_000_000, replace_all=True), "a" * 1_000_000)
    assert change.notes[0] == "the change is too large to be compared"
    assert change_of("Write", {"file_path": "/w/a", "content": "x\n" * 5_000_000}, "").cut


def test_hostile_inputs_are_shown_as_nothing_much() -> None:
    hostile: list[dict[str, Any]] = [{}, {"old_string": 7}, {"edits": "x"}, {"edits": [1, None]}, {"content": []}]
    for asked in hostile:
        for tool in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
            assert change_of(tool, asked, FILE).path == ""
            assert change_as_asked(tool, asked).path == ""


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=12).map("".join)


@pytest.mark.law("D10")
@given(lines, lines)
def test_the_diff_makes_the_new_file_of_the_old(old: str, new: str) -> None:
    change = change_of("Write", {"file_path": "a", "content": new}, old)
    assert applied(old, change.diff) == new


def applied(old: str, diff: str) -> str:
    """What a reader of unified diffs makes of it: every line that stays or goes is where the diff says."""
    marked = diff.replace("\n\\ No newline at end of file\n", "\0\n")
    rest, made, at = old.splitlines(keepends=True), [], 0
    for line in marked.splitlines(keepends=True)[2:]:
        sign, body = line[0], line[1:].replace("\0\n", "")
        if sign == "@":
            place = line.split()[1]
            begin = int(place.split(",")[0][1:]) - (not place.endswith(",0"))
            made += rest[at:begin]
            at = begin
            continue
        assert sign == "+" or rest[at] == body
        at += sign != "+"
        made += [body] * (sign != "-")
    return "".join([*made, *rest[at:]])
