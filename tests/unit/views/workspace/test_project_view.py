"""Projects as every surface sees them."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.workspace.projects import GitFacts, PastSession, Project, ProjectEntry
from quarterdeck.views.workspace.project_view import project_view, shown
from tests.support.views import is_read_back

GIT = GitFacts(remote="git@host:a.git", branch="main", is_dirty=True, ahead=1, behind=0, worktree_of="/w/other")


def entry(path: str, trust: str = "rules", git: GitFacts | None = None) -> ProjectEntry:
    past = PastSession(session_id="s1", agent="a", title="fix", last_used_at=3.0)
    return ProjectEntry(
        project=Project(path=path, has_agent_config=True, last_modified=2.0, git=git), trust=trust, past=(past,), live=2
    )


def test_a_project_shows_its_git_facts_and_sessions() -> None:
    view = project_view(entry("/w/app", git=GIT), "otter")
    assert is_read_back(view)
    assert (view.name, view.git_branch, view.is_dirty, view.worktree_of) == ("app", "main", True, "/w/other")
    assert (view.live_sessions, [one.title for one in view.prior_sessions]) == (2, ["fix"])


def test_only_full_trust_lets_sessions_start() -> None:
    trusted = {trust: project_view(entry("/w/app", trust), "otter").trusted for trust in ("none", "rules", "full")}
    assert trusted == {"none": False, "rules": False, "full": True}


@given(st.binary(max_size=30))
def test_any_path_is_shown_as_text(path: bytes) -> None:
    assert shown(os.fsdecode(path)) == path.decode(errors="replace")
