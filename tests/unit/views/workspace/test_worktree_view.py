"""Worktrees as every surface sees them."""

from __future__ import annotations

from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.views.workspace.worktree_view import worktree_view
from tests.support.views import is_read_back

TREE = Worktree(project="/w/app", path="/w/trees/\udcff", branch="qd/s1", base="main", session_id="s1", ahead=2)


def test_a_worktree_has_a_path_that_is_text_and_no_empty_trouble() -> None:
    view = worktree_view(TREE)
    assert is_read_back(view)
    assert (view.path, view.trouble, view.ahead) == ("/w/trees/\ufffd", None, 2)
