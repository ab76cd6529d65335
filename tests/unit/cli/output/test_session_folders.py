"""The folders of sessions."""

from __future__ import annotations

from quarterdeck.cli.output.session_folders import SessionFolders
from tests.support.scene import Scene


def test_a_session_stays_in_its_folder_until_an_event_names_another() -> None:
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
    scene.receives("UserPromptSubmit", prompt="on", cwd="/w/other")
    folders = SessionFolders()
    of_each = [folders.of(event) for event in scene.events]
    assert list(dict.fromkeys(of_each)) == ["/w/app", "/w/other"]
    assert any(event.context is None for event in scene.events)
    assert folders.known == {"s1": "/w/other"}


def test_a_session_whose_folder_no_event_has_named_has_none() -> None:
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
    later = next(event for event in scene.events if event.context is None)
    folders = SessionFolders()
    assert (folders.of(later), folders.known) == ("", {})
