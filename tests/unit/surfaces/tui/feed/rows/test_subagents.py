"""The sub-agents under which rows fold."""

from __future__ import annotations

from quarterdeck.surfaces.tui.feed.rows.subagents import Subagents


def test_a_sub_agent_folds_under_its_start_until_it_is_opened() -> None:
    known = Subagents()
    known.count(7, "tool.pre")
    known.start(3, 7)
    known.count(7, "tool.failure")
    group = known.group_under(3)
    assert group is not None
    assert (group.tools, group.failed, known.folded) == (1, 1, {7})
    known.fold(7, True)
    known.start(3, 7)
    assert known.folded == set()


def test_a_sub_agent_whose_start_has_left_the_window_is_forgotten() -> None:
    known = Subagents()
    known.start(3, 7)
    known.start(9, 8)
    known.forget_before(5)
    assert known.group_under(3) is None
    assert known.folded == {8}
