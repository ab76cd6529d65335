"""Worktrees and prompts in the terminal UI: a loss is named first, typed text is kept."""

from __future__ import annotations

from textual.widgets import TextArea

from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import PromptDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from tests.contract.test_tui_session_commands import footer, tui_with
from tests.support.recorded_daemon import Json, owned_session

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
IN_TREE = owned_session(status="down", owned={"worktree": "/home/ann/shop"})


async def test_a_worktree_is_viewed_merged_and_discarded_after_a_question_that_names_the_loss() -> None:
    async with tui_with(IN_TREE, answers=ANSWERS) as (tui, daemon):
        await tui.sees("W worktree")
        await tui.press("W")
        await tui.shows_screen(WorktreePage)
        await tui.sees("+new = 2")
        for words in ("quarterdeck/s1 from main", "2 commits ahead", "notes.txt  untracked"):
            assert words in tui.text
        await tui.press("m")
        await tui.shows_screen(ConfirmDialog)
        await tui.sees("Merge 2 commits of quarterdeck/s1 into main")
        await tui.press("y")
        await tui.shows_message("Merged quarterdeck/s1 into main")
        await tui.shows_screen(WorktreePage)
        await tui.press("minus")
        await tui.shows_screen(ConfirmDialog)
        await tui.sees("Lost for good: 2 commits")
        await tui.press("n")
        await tui.shows_screen(WorktreePage)
        assert [path for _, path, _ in daemon.sent] == ["/worktrees/s1/merge"]
        await tui.press("minus")
        await tui.shows_screen(ConfirmDialog)
        await tui.press("y")
        await tui.shows_screen(MainScreen)
        assert daemon.sent[-1][:2] == ("DELETE", "/worktrees/s1?force=true")


async def test_a_worktree_with_nothing_to_lose_is_discarded_without_force() -> None:
    clean = TREE | {"ahead": 0}
    nothing = DIFF | {"diff": "", "files": [], "untracked": []}
    answers = ANSWERS | {"/worktrees": {"worktrees": [clean], "next": None}, "/worktrees/s1/diff": nothing}
    async with tui_with(IN_TREE, answers=answers) as (tui, daemon):
        await tui.runs_command("discard")
        await tui.sees("Nothing is lost: main has all of it.")
        await tui.press("y")
        await tui.shows_message("Discarded quarterdeck/s1")
        assert daemon.sent[-1][:2] == ("DELETE", "/worktrees/s1")


async def test_a_session_without_a_worktree_takes_no_worktree_commands() -> None:
    async with tui_with(owned_session(), answers=ANSWERS) as (tui, daemon):
        assert "worktree" not in footer(tui)
        await tui.runs_command("merge")
        await tui.shows_message("takes write")
        assert daemon.sent == []


async def test_a_session_is_started_in_a_new_worktree() -> None:
    async with tui_with(owned_session()) as (tui, daemon):
        await tui.press("s")
        await tui.shows_screen(StartDialog)
        await tui.press(*"docs", "enter", *"hi")
        tui.app.screen.query_one("#worktree", WordChoice).choose(1)
        answers = daemon.answers
        answers["/projects/brings"] = answers["/projects/brings"] | {"trusted": True}
        await tui.press("f2")
        await tui.until(lambda: daemon.sent, "an order")
        assert daemon.sent[-1][2] == {
            **{"cwd": "/home/ann/docs", "mode": "sdk", "prompt": "hi", "permission_mode": "default"},
            "worktree": True,
        }


async def test_an_unsent_prompt_is_there_the_next_time() -> None:
    async with tui_with(owned_session(), answers=ANSWERS) as (tui, daemon):
        await tui.press("greater_than_sign")
        await tui.shows_screen(PromptDialog)
        await tui.sees("Enter begins a new line, ^s sends it, esc keeps it for later")
        await tui.until(lambda: "esc keep for later" in tui.text, "the keys in the frame")
        assert "esc cancel" not in tui.text
        await tui.press(*"one", "enter", *"two", "escape")
        await tui.shows_screen(MainScreen)
        await tui.shows_message("Not sent; what you typed is kept for the next time")
        await tui.press("greater_than_sign")
        await tui.shows_screen(PromptDialog)
        assert tui.app.screen.query_one(TextArea).text == "one\ntwo"
        await tui.press("f2")
        await tui.shows_message("Sent to shop (s1)")
        assert daemon.sent[-1][2] == {"prompt": "one\ntwo"}
        await tui.press("greater_than_sign")
        await tui.shows_screen(PromptDialog)
        assert tui.app.screen.query_one(TextArea).text == ""
