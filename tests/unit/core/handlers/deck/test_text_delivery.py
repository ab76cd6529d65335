"""A text of the deck on its way to a session."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.deck_messages import FollowDispatch, SeenTerminal
from quarterdeck.core.engine.messages import DaemonRestarted
from tests.support.deck_scene import LAYOUT, DeckScene

TERMINAL = SeenTerminal(pid=7, tag="tag-1", name="zsh", active=True)


def in_editor() -> DeckScene:
    """An observed session in a terminal of an editor."""
    scene = DeckScene().receives("UserPromptSubmit", prompt="go").process_seen("busy", pid=7)
    return scene.sees_terminals(TERMINAL)


@pytest.mark.parametrize(("mode", "route"), [("sdk", "sdk"), ("pty", "terminal")])
def test_enter_sends_what_is_armed(mode: str, route: str) -> None:
    scene = DeckScene().submits_owned(mode).presses("tests").presses_button("enter")
    scene.records("session.send", "operator.dispatch")
    assert scene.delivers() == ["/test"]
    assert len(scene.effects(FollowDispatch)) == 1
    last = scene.model.dispatch
    assert last is not None
    assert (last.route, last.outcome, last.session_id) == (route, "sending", "own")


def test_what_arrived_is_not_armed_any_more() -> None:
    scene = DeckScene().submits_owned("sdk").presses("tests").presses_button("enter")
    after = scene.acknowledged().records("operator.dispatch").model
    assert after.armed is None
    assert after.dispatch is not None
    assert after.dispatch.outcome == "delivered"


def test_what_did_not_arrive_stays_armed_and_says_why() -> None:
    scene = DeckScene().submits_owned("sdk").presses("tests").presses_button("enter").dispatch_ends("it has gone")
    last = scene.model.dispatch
    assert last is not None
    assert (last.outcome, last.reason) == ("undelivered", "it has gone")
    assert scene.model.armed is not None


def test_without_a_session_it_stays_armed_and_says_why() -> None:
    scene = DeckScene().presses("tests").presses_button("enter").records("operator.dispatch")
    assert scene.reply.outcome == "not_possible"
    assert scene.model.armed is not None
    assert scene.model.dispatch is not None
    assert scene.model.dispatch.reason == "the session is not known: select its terminal first"


def test_nothing_is_sent_twice_while_it_is_on_its_way() -> None:
    scene = DeckScene().submits_owned("sdk").presses("tests").presses_button("enter").presses_button("enter")
    assert (scene.reply.outcome, scene.delivers()) == ("deck_busy", [])


def test_the_editor_gets_the_terminal_by_its_process_and_tag() -> None:
    scene = in_editor().presses("tests").presses_button("enter")
    [command] = scene.editor_commands
    assert (command.kind, command.client_id, command.message_id) == ("send_text", "code", f"m{scene.clock:g}")
    assert command.payload == {"text": "/test", "newline": True, "pid": 7, "tag": "tag-1"}


def test_a_prefilled_text_is_typed_at_once_and_enter_only_sends_it() -> None:
    scene = in_editor().presses("review")
    [typed] = scene.editor_commands
    assert (typed.payload["text"], typed.payload["newline"]) == ("Review the diff.", False)
    [enter] = scene.presses_button("enter").editor_commands
    assert (enter.payload["text"], enter.payload["newline"]) == ("", True)


def test_a_prefilled_text_waits_for_enter_where_there_is_no_line_to_type_it_on() -> None:
    scene = DeckScene().submits_owned("sdk").presses("review")
    assert scene.delivers() == []
    assert scene.presses_button("enter").delivers() == ["Review the diff."]


def test_a_bare_enter_goes_to_the_editor_alone() -> None:
    [command] = in_editor().presses_button("enter").editor_commands
    assert (command.payload["text"], command.payload["newline"]) == ("", True)
    assert DeckScene().submits_owned("pty").presses_button("enter").reply.outcome == "not_possible"


def test_nothing_is_typed_into_a_dialog() -> None:
    scene = in_editor().presses("tests").receives("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})
    scene.presses_button("enter")
    assert (scene.reply.message, scene.editor_commands) == ("a dialog is open: decide it first", [])
    assert scene.model.armed is not None


def test_export_and_interrupt_reach_the_session() -> None:
    assert DeckScene().submits_owned("sdk").presses_button("export").delivers() == ["/export"]
    [interrupt] = in_editor().presses_button("ctrl_c").editor_commands
    assert interrupt.payload["text"] == "\x03"


def test_a_restart_says_that_the_outcome_is_not_known() -> None:
    scene = in_editor().presses("tests").presses_button("enter")
    scene.submits(DaemonRestarted(at=scene.clock + 1))
    last = scene.state.deck.dispatch
    assert last is not None
    assert (last.outcome, scene.state.deck.armed is not None) == ("undelivered", True)


def test_a_late_outcome_of_another_text_changes_nothing() -> None:
    scene = DeckScene().submits_owned("sdk").presses("tests").presses_button("enter").acknowledged()
    scene.dispatch_ends("late").does_nothing()


def test_the_page_can_change_while_a_text_is_on_its_way() -> None:
    scene = DeckScene(replace(LAYOUT)).submits_owned("sdk").presses("tests").presses_button("enter").turns_page(1)
    assert scene.acknowledged().model.armed is None
