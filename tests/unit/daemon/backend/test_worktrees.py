"""Worktrees of owned sessions: removed only with the core's consent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.model.state import State
from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.daemon.backend.worktrees import DaemonWorktrees
from quarterdeck.errors import Refused

TREE = Worktree(project="/w/shop", path="/w/trees/shop-1", branch="quarterdeck/1", base="main", session_id="s1")


class RefusingLoop:
    """A loop that refuses every command, and looks at the worktrees while one is under way."""

    def __init__(self) -> None:
        self.state = State(runner_id="otter")
        self.worktrees = DaemonWorktrees(cast(Any, self), Path("/w/trees"))
        self.seen: list[bool] = []

    async def command(self, command: Any) -> CommandReply:
        self.seen += [self.worktrees.is_being_discarded(path) for path in (f"{TREE.path}/src", "/w/trees/other")]
        return CommandReply(request_id=command.session_id, outcome="not_possible", message="s1 runs there")


async def test_a_start_in_a_folder_that_is_being_removed_can_know_it() -> None:
    loop = RefusingLoop()
    with pytest.raises(Refused, match="s1 runs there"):
        await loop.worktrees.discard(TREE, "owner", force=True)
    assert loop.seen == [True, False]
    assert not loop.worktrees.is_being_discarded(TREE.path)


async def test_without_an_owned_session_there_is_no_worktree() -> None:
    assert await RefusingLoop().worktrees.all() == []
