"""A session's worktree in words: its changes, the merge question, and what discarding it loses; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quarterdeck.surfaces.terminal.styled_text import StyledLine, exact_lines, line
from quarterdeck.views.workspace.worktree_view import DiffView, WorktreeView

STYLES = {"+": "added", "-": "removed", "@": "dim"}
HEADINGS = ("+++ ", "--- ", "diff --git ", "index ")
MOST_NAMED = 5
"""Files that a question names; the others are counted."""


def find_worktree(trees: Iterable[WorktreeView], session_id: str) -> WorktreeView | None:
    """The worktree of a session, if it has one."""
    return next((tree for tree in trees if tree.session_id == session_id), None)


def merge_blocked_reason(tree: WorktreeView) -> str:
    """The reason why there is nothing to merge yet, in words; empty when there is."""
    if tree.is_dirty:
        return "the worktree has uncommitted changes; commit them, then merge"
    return f"{tree.base} already has all of it" if tree.ahead == 0 else ""


def merge_question(tree: WorktreeView) -> str:
    """The question before a merge."""
    return f"Merge {_commits(tree.ahead)} of {tree.branch} into {tree.base} of {tree.project}?"


def lost_work(tree: WorktreeView, diff: DiffView) -> list[str]:
    """The work that exists only in a worktree and is lost with it, in words."""
    if tree.trouble:
        return [f"whatever is in it, since git cannot read it ({tree.trouble})"]
    lost = [f"{_commits(tree.ahead)} that {tree.base} does not have"] if tree.ahead else []
    if tree.is_dirty:
        lost.append("uncommitted changes")
    if diff.untracked:
        lost.append(f"untracked files: {_names(diff.untracked)}")
    if lost and diff.files:
        lost.append(f"in all, changes to {_names([file.path for file in diff.files])}")
    return lost


def discard_question(tree: WorktreeView, lost: list[str]) -> str:
    """The question before a worktree is discarded, with everything that would be lost."""
    loss = f"Lost for good: {'; '.join(lost)}." if lost else f"Nothing is lost: {tree.base} has all of it."
    return f"Discard {tree.branch} and its folder {tree.path}? {loss}"


def worktree_lines(tree: WorktreeView, diff: DiffView) -> Iterator[StyledLine]:
    """The changes of a worktree since its base, file by file, then line by line."""
    yield line((tree.branch, "strong"), (f" from {tree.base} of {tree.project}", "dim"))
    yield line((tree.path, "dim"))
    yield line(_status_words(tree), *([(f" · ! {tree.trouble}", "warn")] if tree.trouble else []))
    for file in diff.files:
        counts = ("  no text", "dim") if file.added is None else (f"  +{file.added} −{file.removed}", "dim")
        yield line((file.path, "code"), counts, indent=2)
    for name in diff.untracked:
        yield line((name, "code"), ("  untracked", "warn"), indent=2)
    if not diff.files and not diff.untracked:
        yield line(("Nothing is changed.", "dim"), indent=2)
    for row in diff.diff.splitlines():
        style = "dim" if row.startswith(HEADINGS) else STYLES.get(row[:1], "")
        yield from exact_lines(row, style, 0)
    if diff.is_cut:
        yield line(("Not everything is shown: run git diff in the worktree.", "warn"))


def _status_words(tree: WorktreeView) -> str:
    parts = [f"{_commits(tree.ahead)} ahead"]
    parts += [f"{tree.behind} behind"] if tree.behind else []
    return " · ".join([*parts, "uncommitted changes"] if tree.is_dirty else parts)


def _commits(count: int | None) -> str:
    return "1 commit" if count == 1 else "no commits" if count == 0 else f"{'?' if count is None else count} commits"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
