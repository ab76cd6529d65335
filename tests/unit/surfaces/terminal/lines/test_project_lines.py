"""Projects as rows and lines."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.surfaces.terminal.lines.project_lines import place_lines, place_rows, project_places
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.project_view import ProjectView
from tests.support.recorded_daemon import (
    NOW,
    Json,
    owned_session_view,
    project_view,
    session_view,
)

SPENT: Json = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}


SHOP = project_view(is_dirty=True, ahead=2, git_branch="feature/login", has_claude_config=True)


TYPOS = {"session_id": "old", "title": "typos", "last_used_at": NOW - 120}
DOCS = project_view("docs", trusted=True, trust="full", prior_sessions=[TYPOS])


def cells_of(projects: list[ProjectView], sessions: list[SessionView]) -> dict[str, list[str]]:
    rows = place_rows(project_places(projects, sessions), NOW)
    return {key: [cell if isinstance(cell, str) else cell[0] for cell in cells] for key, cells in rows}


def test_a_project_is_shown_with_its_branch_its_trust_its_sessions_and_their_cost() -> None:
    here = [
        session_view("a", project_id="p_shop", usage=SPENT),
        session_view("b", "ended", ended_at=NOW - 9, usage=SPENT, project_id="p_shop"),
    ]
    rows = cells_of([DOCS, SHOP], here)
    assert list(rows) == ["/home/ann/shop", "/home/ann/docs"]
    assert rows["/home/ann/shop"][:7] == ["shop", "1", "· no", "feature/login* ↑2", "1/2", "$1.00", "12 s ago"]
    assert rows["/home/ann/docs"][:7] == ["docs", "", "✓ trusted", "main", "0/1", "", "2 m ago"]


def test_a_folder_without_a_project_still_shows_its_sessions() -> None:
    rows = cells_of([SHOP], [session_view(cwd="/gone", project_id="p_9", usage=SPENT)])
    assert rows["/gone"][0] == "gone"
    assert "$0.50" in rows["/gone"]
    assert rows["/home/ann/shop"][6] == "never"
    [gone, _] = project_places([SHOP], [session_view(cwd="/gone", project_id="p_9")])
    assert "knows no project here" in plain(fold(place_lines(gone, NOW), 100))
    assert gone.actions == {"start", "feed"}


def test_a_session_in_a_worktree_belongs_to_the_project_it_was_made_from() -> None:
    tree = owned_session_view("a", cwd="/trees/shop-a", project_id="p_7", owned={"worktree": "/home/ann/shop"})
    assert list(cells_of([SHOP], [tree])) == ["/home/ann/shop"]


def test_the_details_of_a_project_show_its_git_state_and_conversations() -> None:
    past = [{"session_id": f"o{n}", "title": f"talk {n}", "last_used_at": NOW - n} for n in range(12)]
    git: Json = {"git_trouble": "took too long", "git_remote": "git@host:shop", "git_branch": "feature/login"}
    shop = project_view(is_dirty=True, ahead=2, has_claude_config=True, prior_sessions=past, **git)
    [place] = project_places([shop], [session_view(project_id="p_shop", pending=2)])
    shown = plain(fold(place_lines(place, NOW), 100))
    for words in ("not trusted", "feature/login · changed · 2 ahead", "git@host:shop", "took too long", "talk 0"):
        assert words in shown
    assert "◆ needs you · 2 waiting  make the login work again" in shown
    assert "and 4 more" in shown


@pytest.mark.parametrize(
    ("more", "actions"),
    [
        ({}, {"start", "trust"}),
        ({"trust": "rules"}, {"start", "trust", "untrust"}),
        ({"trust": "full", "trusted": True}, {"start", "untrust"}),
    ],
)
def test_a_project_offers_what_fits_its_trust(more: dict[str, Any], actions: set[str]) -> None:
    [place] = project_places([project_view(**more)], [])
    assert place.actions == actions
