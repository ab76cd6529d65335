"""The diff of an edit: correct, bounded, and with a note for everything it does not show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.file_diff import MAX_BYTES, MAX_LINES, FileDiff, diff_against_file, diff_from_input

FILE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def edit(old: str, new: str, **fields: Any) -> dict[str, Any]:
    return {"file_path": "/w/a.txt", "old_string": old, "new_string": new, **fields}


def test_an_edit_is_shown_against_the_file() -> None:
    change = diff_against_file("edit", edit("four", "4"), FILE)
    assert change.diff == (
        "--- /w/a.txt\n+++ /w/a.txt\n@@ -1,7 +1,7 @@\n one\n two\n three\n-four\n+4\n five\n six\n seven\n"
    )
    assert (change.added, change.removed, change.compared, change.cut, change.notes) == (1, 1, True, False, ())


def test_a_write_is_shown_against_the_file() -> None:
    change = diff_against_file("write", {"file_path": "/w/a.txt", "content": FILE + "eight"}, FILE)
    assert change.diff.endswith("@@ -5,3 +5,4 @@\n five\n six\n seven\n+eight\n\\ No newline at end of file\n")
    assert (change.added, change.removed) == (1, 0)


def test_a_new_file_is_all_new() -> None:
    change = diff_against_file("write", {"file_path": "/w/new.txt", "content": "a\nb\n"}, None)
    assert change.diff == "--- /w/new.txt\n+++ /w/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert change.notes == ("a new file",)
    assert diff_against_file("edit", edit("", "a\n"), None).added == 1


def test_several_edits_make_one_diff() -> None:
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "1\n2"}]
    change = diff_against_file("multi_edit", {"file_path": "/w/a.txt", "edits": edits}, FILE)
    assert "-one\n-two\n+1\n+2\n three" in change.diff


@pytest.mark.parametrize(
    ("tool", "tool_input", "current", "note"),
    [
        ("edit", edit("nine", "9"), FILE, "old_string is not in the file as it is now"),
        ("edit", edit("e", "E"), FILE, "old_string occurs 6 times in the file as it is now"),
        ("edit", edit("", "x"), FILE, "old_string is empty, and the file is not"),
        ("edit", edit("one", "1"), None, "there is no such file"),
        ("multi_edit", {"edits": [{"old_string": "one"}, {"old_string": "one"}]}, FILE, "edit 2: old_string is not in"),
        ("notebook_edit", {"notebook_path": "/w/n.ipynb", "cell_id": "x"}, "{", "the file is not a notebook"),
        ("notebook_edit", {"notebook_path": "/w/n.ipynb", "cell_id": "x"}, '{"cells":[]}', "the cell is not in the"),
    ],
)
def test_an_edit_that_does_not_apply_is_shown_from_its_input_with_the_reason(
    tool: str, tool_input: dict[str, Any], current: str | None, note: str
) -> None:
    change = diff_against_file(tool, tool_input, current)
    assert change.notes[0].startswith(note)
    assert not change.compared


def test_replacing_all_occurrences_shows_each_of_them() -> None:
    change = diff_against_file("edit", edit("t", "T", replace_all=True), FILE)
    assert (change.added, change.removed) == (2, 2)


def test_windows_line_endings_make_no_difference() -> None:
    change = diff_against_file("edit", edit("two\nthree", "2\n3"), FILE.replace("\n", "\r\n"))
    assert (change.added, change.removed, change.compared) == (2, 2, True)


def test_an_edit_that_changes_nothing_has_a_note() -> None:
    assert diff_against_file("edit", edit("one", "one"), FILE) == FileDiff(
        path="/w/a.txt", diff="", compared=True, notes=("changes nothing",)
    )


def test_a_notebook_edit_shows_only_its_cell() -> None:
    notebook = json.dumps({"cells": [{"id": "a", "source": ["x = 1\n", "y = 2"]}, {"id": "b", "source": "z"}]})
    fields = {"notebook_path": "/w/n.ipynb", "cell_id": "a", "new_source": "x = 1\ny = 3"}
    change = diff_against_file("notebook_edit", fields, notebook)
    assert "-y = 2\n" in change.diff
    assert "+y = 3\n" in change.diff
    assert diff_against_file("notebook_edit", {**fields, "edit_mode": "insert"}, notebook).removed == 0
    assert diff_against_file("notebook_edit", {**fields, "edit_mode": "delete"}, notebook).added == 0


@pytest.mark.law("I3")
@pytest.mark.law("D10")
def test_a_large_diff_is_cut_with_a_note() -> None:
    change = diff_from_input("write", {"file_path": "/w/a", "content": "x\n" * 10_000})
    assert change.cut
    assert change.diff.count("\n") <= MAX_LINES + 2
    assert (change.added, change.notes[-1]) == (10_000, "8,001 more lines are not shown here; the input holds all")
    wide = diff_from_input("write", {"file_path": "/w/a", "content": "y" * (MAX_BYTES + 1)})
    assert wide.cut


@pytest.mark.law("I4")
def test_an_edit_that_would_make_a_huge_file_is_not_compared() -> None:
    change = diff_against_file("edit", edit("a", "b" * 1_000_000, replace_all=True), "a" * 1_000_000)
    assert change.notes[0] == "the change is too large to be compared"
    assert diff_against_file("write", {"file_path": "/w/a", "content": "x\n" * 5_000_000}, "").cut


def test_a_hostile_input_gives_an_empty_or_bounded_diff() -> None:
    hostile: list[dict[str, Any]] = [{}, {"old_string": 7}, {"edits": "x"}, {"edits": [1, None]}, {"content": []}]
    for tool_input in hostile:
        for tool in ("edit", "write", "multi_edit", "notebook_edit"):
            assert diff_against_file(tool, tool_input, FILE).path == ""
            assert diff_from_input(tool, tool_input).path == ""


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=12).map("".join)


@pytest.mark.law("D10")
@given(lines, lines)
def test_applying_the_diff_to_the_old_file_gives_the_new_one(old: str, new: str) -> None:
    change = diff_against_file("write", {"file_path": "a", "content": new}, old)
    assert applied(old, change.diff) == new


def applied(old: str, diff: str) -> str:
    """Apply a unified diff, and check that every kept or removed line is where the diff says."""
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
