"""Projects joined with their trust."""

from __future__ import annotations

from quarterdeck.core.workspace.projects import Project
from quarterdeck.daemon.backend.projects import join_sessions


def test_a_project_shows_the_trust_of_the_nearest_folder_with_a_setting() -> None:
    projects = [
        Project(path=path, has_agent_config=False, last_modified=0.0) for path in ("/w/app", "/w/vendor", "/x", "/y/z")
    ]
    entries = join_sessions(projects, {"/w": "full", "/w/vendor": "none", "/y": "rules"}, [], [])
    assert [entry.trust for entry in entries] == ["full", "none", "none", "rules"]
