"""A session's worktree in words: what it changed, what a merge brings, and what is lost with it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import Line, exact_lines, line

Json = dict[str, Any]
STYLES = {"+": "added", "-": "removed", "@": "dim"}
HEADINGS = ("+++ ", "--- ", "diff --git ", "index ")
NAMED = 5
"""Files that are named in a question; of the others it says how many."""


def tree_of(trees: Iterable[Json], session_id: str) -> Json | None:
    """The worktree of a session, if it has one."""
    return next((tree for tree in trees if tree["session_id"] == session_id), None)


def unmerged(tree: Json) -> str:
    """Why nobody need be asked about a merge, in words; empty when there is one to make."""
    if tree["is_dirty"]:
        return "something in the worktree is not committed; commit it, then merge"
    return f"{tree['base']} has all of it" if tree["ahead"] == 0 else ""


def merge_question(tree: Json) -> str:
    """What a merge does, for who must be sure."""
    return f"Merge {_commits(tree['ahead'])} of {tree['branch']} into {tree['base']} of {tree['project']}?"


def losses(tree: Json, diff: Json) -> list[str]:
    """What is nowhere else and goes with a worktree."""
    if tree["trouble"]:
        return [f"whatever is in it, for git cannot tell ({tree['trouble']})"]
    lost = [f"{_commits(tree['ahead'])} that {tree['base']} has not"] if tree["ahead"] else []
    if tree["is_dirty"]:
        lost.append("what is not committed")
    if diff["untracked"]:
        lost.append(f"new files that git was not told of: {_names(diff['untracked'])}")
    if lost and diff["files"]:
        lost.append(f"in all, changes of {_names([one['path'] for one in diff['files']])}")
    return lost


def discard_question(tree: Json, lost: list[str]) -> str:
    """What goes with a worktree, for who must be sure."""
    goes = f"Lost for good: {'; '.join(lost)}." if lost else f"Nothing is lost: {tree['base']} has all of it."
    return f"Discard {tree['branch']} and its folder {tree['path']}? {goes}"


def tree_lines(tree: Json, diff: Json) -> Iterator[Line]:
    """What a worktree has changed since its base, file by file, then line by line."""
    yield line((tree["branch"], "strong"), (f" from {tree['base']} of {tree['project']}", "dim"))
    yield line((tree["path"], "dim"))
    yield line(_standing(tree), *([(f" · ! {tree['trouble']}", "warn")] if tree["trouble"] else []))
    for one in diff["files"]:
        counts = ("  no text", "dim") if one["added"] is None else (f"  +{one['added']} −{one['removed']}", "dim")
        yield line((one["path"], "code"), counts, indent=2)
    for name in diff["untracked"]:
        yield line((name, "code"), ("  new, git was not told of it", "warn"), indent=2)
    if not diff["files"] and not diff["untracked"]:
        yield line(("Nothing is changed.", "dim"), indent=2)
    for row in diff["diff"].splitlines():
        style = "dim" if row.startswith(HEADINGS) else STYLES.get(row[:1], "")
        yield from exact_lines(row, style, 0)
    if diff["is_cut"]:
        yield line(("There is more than is shown: see git diff in the worktree.", "warn"))


def _standing(tree: Json) -> str:
    parts = [f"{_commits(tree['ahead'])} ahead"]
    parts += [f"{tree['behind']} behind"] if tree["behind"] else []
    return " · ".join([*parts, "something is not committed"] if tree["is_dirty"] else parts)


def _commits(count: int | None) -> str:
    return "1 commit" if count == 1 else "no commits" if count == 0 else f"{'?' if count is None else count} commits"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
