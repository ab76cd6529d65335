"""Worktrees and prompts at the terminal face: what is lost is named first, what was typed is kept."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import WriteDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from tests.contract.test_tui_steering import foot, recorded, shows
from tests.support.tui import Json, ours

pytestmark = pytest.mark.timeout(60)
TREE: Json = {"session_id": "s1", "project": "/home/ann/shop", "path": "/home/ann/trees/shop-s1", "base": "main"}
TREE |= {"branch": "quarterdeck/s1", "is_dirty": False, "ahead": 2, "behind": 0, "trouble": None}
TEXT = "diff --git a/pay.py b/pay.py\n--- a/pay.py\n+++ b/pay.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n"
DIFF: Json = {"session_id": "s1", "diff": TEXT, "is_cut": False, "untracked": ["notes.txt"]}
DIFF |= {"files": [{"path": "pay.py", "added": 1, "removed": 1}]}
ANSWERS: dict[str, Json] = {
    "/worktrees": {"worktrees": [TREE], "next": None},
    "/worktrees/s1/diff": DIFF,
    "POST /worktrees/s1/merge": TREE,
    "DELETE /worktrees/s1": TREE,
    "POST /sessions/s1/messages": {"message_id": "m1", "session_id": "s1"},
}
IN_TREE = ours(status="down", owned={"worktree": "/home/ann/shop"})


async def test_a_worktree_is_looked_at_merged_and_discarded_after_a_question_that_names_what_is_lost() -> None:
    async with recorded(IN_TREE, answers=ANSWERS) as (face, talk):
        await face.sees("W worktree")
        await face.press("W")
        await shows(face, WorktreePage)
        await face.sees("+new = 2")
        for words in ("quarterdeck/s1 from main", "2 commits ahead", "notes.txt  new"):
            assert words in face.text
        await face.press("m")
        await shows(face, SureDialog)
        await face.sees("Merge 2 commits of quarterdeck/s1 into main")
        await face.press("y")
        await face.hears("Merged quarterdeck/s1 into main")
        await shows(face, WorktreePage)
        await face.press("minus")
        await shows(face, SureDialog)
        await face.sees("Lost for good: 2 commits")
        await face.press("n")
        await shows(face, WorktreePage)
        assert [path for _, path, _ in talk.ordered] == ["/worktrees/s1/merge"]
        await face.press("minus")
        await shows(face, SureDialog)
        await face.press("y")
        await shows(face, Bridge)
        assert talk.ordered[-1][:2] == ("DELETE", "/worktrees/s1?force=true")


async def test_what_loses_nothing_is_not_forced() -> None:
    clean = TREE | {"ahead": 0}
    nothing = DIFF | {"diff": "", "files": [], "untracked": []}
    answers = ANSWERS | {"/worktrees": {"worktrees": [clean], "next": None}, "/worktrees/s1/diff": nothing}
    async with recorded(IN_TREE, answers=answers) as (face, talk):
        await face.orders("discard")
        await face.sees("Nothing is lost: main has all of it.")
        await face.press("y")
        await face.hears("Discarded quarterdeck/s1")
        assert talk.ordered[-1][:2] == ("DELETE", "/worktrees/s1")


async def test_a_session_without_a_worktree_takes_no_such_orders() -> None:
    async with recorded(ours(), answers=ANSWERS) as (face, talk):
        assert "worktree" not in foot(face)
        await face.orders("merge")
        await face.hears("takes write")
        assert talk.ordered == []


async def test_a_session_is_started_in_a_new_worktree() -> None:
    async with recorded(ours()) as (face, talk):
        await face.press("s")
        await shows(face, StartDialog)
        await face.press(*"docs", "enter", *"hi")
        face.app.screen.query_one("#worktree", OneWord).choose(1)
        answers = talk.answers
        answers["/projects/brings"] = answers["/projects/brings"] | {"trusted": True}
        await face.press("f2")
        await face.until(lambda: talk.ordered, "an order")
        assert talk.ordered[-1][2] == {
            **{"cwd": "/home/ann/docs", "mode": "sdk", "prompt": "hi", "permission_mode": "default"},
            "worktree": True,
        }


async def test_what_was_typed_and_not_sent_is_there_the_next_time() -> None:
    async with recorded(ours(), answers=ANSWERS) as (face, talk):
        await face.press("greater_than_sign")
        await shows(face, WriteDialog)
        await face.sees("Enter begins a new line, ^s sends it, esc keeps it for later")
        assert "esc keep for later" in foot(face)
        assert "cancel" not in foot(face)
        await face.press(*"one", "enter", *"two", "escape")
        await shows(face, Bridge)
        await face.hears("Not sent; what you typed is kept for the next time")
        await face.press("greater_than_sign")
        await shows(face, WriteDialog)
        assert face.app.screen.query_one(TextArea).text == "one\ntwo"
        await face.press("f2")
        await face.hears("Sent to shop (s1)")
        assert talk.ordered[-1][2] == {"prompt": "one\ntwo"}
        await face.press("greater_than_sign")
        await shows(face, WriteDialog)
        assert face.app.screen.query_one(TextArea).text == ""
