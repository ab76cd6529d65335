"""Which session a deck shows, and what it may say of it: each row of the tables of the design, as a story."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.deck.shown_session import ENDED_SECONDS, WITHOUT_HOOKS, selected_target, targets
from quarterdeck.core.engine.deck_messages import SeenTerminal
from quarterdeck.core.engine.fold import fold
from quarterdeck.core.model.state import State
from tests.support.deck_scene import DeckScene

BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
ONE = SeenTerminal(pid=11, tag="tag-1", name="zsh", active=True)
TWO = SeenTerminal(pid=22, tag="tag-2", name="zsh (2)")


def starts(scene: DeckScene, session: str, tag: str = "") -> DeckScene:
    """A session whose hooks report the tag of its terminal."""
    received = scene.hook_received("SessionStart", "", session, "", {"source": "startup"})
    context = replace(received.event.context, tag=tag)
    scene.submits(replace(received, event=replace(received.event, context=context)))
    return scene


def two_sessions() -> DeckScene:
    """Two sessions with tags; the second works."""
    scene = starts(starts(DeckScene(), "s1", "tag-1"), "s2", "tag-2")
    scene.receives("UserPromptSubmit", session="s2", prompt="go")
    return scene


# one row each of "only hook events may set these states"


@pytest.mark.parametrize(
    ("hooks", "state"),
    [
        ([("SessionStart", {"source": "startup"})], "idle"),
        ([("Notification", {"notification_type": "idle_prompt", "message": ""})], "idle"),
        ([("UserPromptSubmit", {"prompt": "go"})], "running"),
        ([("PreToolUse", {**BASH, "tool_use_id": "t"})], "running"),
        ([("PostToolUse", {**BASH, "tool_use_id": "t", "tool_response": {}})], "running"),
        ([("PermissionRequest", BASH)], "waiting_permission"),
        ([("PermissionRequest", {"tool_name": "AskUserQuestion", "tool_input": {"questions": []}})], "waiting_input"),
        ([("UserPromptSubmit", {"prompt": "go"}), ("Stop", {})], "settled"),
    ],
)
def test_hooks_set_every_state(hooks: list[tuple[str, dict[str, Any]]], state: str) -> None:
    scene = DeckScene()
    for name, payload in hooks:
        scene.receives(name, **payload)
    assert scene.shows == (state, "active")


def test_the_end_of_a_session_is_a_state_without_hooks() -> None:
    scene = DeckScene().receives("SessionStart", source="startup").receives("SessionEnd", reason="other")
    assert scene.shows == ("ended", "absent")
    assert scene.model.state.since == scene.clock


# "degraded mode"


def test_without_a_hook_nothing_is_known() -> None:
    scene = DeckScene()
    scene.submits_owned("pty")
    assert scene.shows == ("unknown", "absent")


def test_a_text_that_was_sent_is_all_that_is_known_without_hooks() -> None:
    scene = DeckScene()
    scene.submits_owned("pty")
    scene.presses("tests").presses_button("enter").acknowledged()
    assert scene.shows == ("sent", "absent")
    assert scene.model.state.source == "operator"


def test_a_hook_replaces_sent() -> None:
    scene = DeckScene()
    scene.submits_owned("pty")
    scene.presses("tests").presses_button("enter").acknowledged()
    scene.receives("UserPromptSubmit", session="own", prompt="go")
    assert scene.shows == ("running", "active")


def test_everything_of_the_operator_works_without_hooks() -> None:
    scene = DeckScene()
    scene.presses("tests").turns_page(1).turns_page(-1).presses("tests")
    assert (scene.model.armed is not None, scene.shows) == (True, ("unknown", "absent"))


# when hooks are active


def test_hooks_are_absent_before_the_first_and_after_the_end() -> None:
    scene = DeckScene()
    assert scene.model.hooks_mode == "absent"
    scene.receives("SessionStart", source="startup")
    assert scene.model.hooks_mode == "active"
    scene.receives("SessionEnd", reason="other")
    assert scene.model.hooks_mode == "absent"
    scene.receives("SessionStart", source="resume")
    assert scene.model.hooks_mode == "active"


def test_another_process_of_the_session_is_another_life() -> None:
    scene = DeckScene()
    scene.receives("UserPromptSubmit", prompt="go").process_seen("busy", pid=7)
    assert scene.model.hooks_mode == "active"
    scene.process_seen("busy", pid=8)
    assert scene.shows == ("unknown", "absent")
    scene.receives("UserPromptSubmit", prompt="on")
    assert scene.shows == ("running", "active")


def test_a_change_of_the_process_without_a_hook_within_ten_seconds_proves_that_none_comes() -> None:
    scene = DeckScene()
    scene.receives("UserPromptSubmit", prompt="go")
    scene.process_seen("busy", after=11)
    assert scene.shows == ("running", "active")
    scene.clock += 60
    scene.process_seen("idle", after=9)
    assert scene.model.hooks_mode == "active"
    scene.process_seen("idle", after=11)
    assert scene.shows == ("unknown", "absent")


def test_a_hook_within_ten_seconds_proves_that_they_come() -> None:
    scene = DeckScene()
    scene.receives("UserPromptSubmit", prompt="go")
    scene.clock += 60
    scene.receives("Stop").process_seen("idle", after=30)
    assert scene.shows == ("settled", "active")


# "multi-session rendering rules"


def test_no_live_session_shows_the_last_end_for_ten_minutes() -> None:
    scene = two_sessions()
    scene.receives("SessionEnd", session="s2", reason="other").receives("SessionEnd", session="s1", reason="other")
    assert (scene.model.state.session_id, scene.model.agent_state) == ("s1", "ended")
    scene.clock += ENDED_SECONDS - 1
    assert scene.model.agent_state == "ended"
    scene.clock += 1
    assert (scene.model.state.session_id, scene.model.agent_state) == (None, "unknown")


def test_one_live_session_is_shown_whatever_is_selected() -> None:
    scene = starts(DeckScene(), "s1", "tag-1").sees_terminals(ONE, replace(TWO, active=True))
    assert scene.model.state.session_id == "s1"


def test_several_without_tags_are_unknown() -> None:
    scene = starts(starts(DeckScene(), "s1"), "s2").sees_terminals(ONE, TWO)
    assert (scene.model.state.session_id, scene.model.agent_state) == (None, "unknown")


def test_of_several_the_selected_terminal_says_which() -> None:
    scene = two_sessions().sees_terminals(ONE, TWO)
    assert (scene.model.state.session_id, scene.model.agent_state) == ("s1", "idle")
    scene.sees_terminals(replace(ONE, active=False), replace(TWO, active=True))
    assert (scene.model.state.session_id, scene.model.agent_state) == ("s2", "running")


def test_a_terminal_without_a_session_is_unknown() -> None:
    scene = two_sessions().sees_terminals(SeenTerminal(pid=33, tag="tag-3", active=True))
    assert scene.model.state.session_id is None


def test_a_tag_of_two_sessions_proves_nothing() -> None:
    scene = starts(starts(DeckScene(), "s1", "tag-1"), "s2", "tag-1").sees_terminals(ONE)
    assert scene.model.state.session_id is None


def test_the_process_of_a_terminal_says_which_session_it_is() -> None:
    scene = starts(starts(DeckScene(), "s1"), "s2").process_seen("busy", session="s2", pid=22)
    scene.sees_terminals(SeenTerminal(pid=22, active=True))
    assert scene.model.state.session_id == "s2"


def test_the_roller_selects_and_the_focus_of_the_editor_selects_again() -> None:
    scene = two_sessions().sees_terminals(ONE, TWO).turns("roller")
    assert [command.kind for command in scene.editor_commands] == ["focus_terminal"]
    assert scene.model.state.session_id == "s2"
    scene.sees_terminals(replace(ONE, active=False), replace(TWO, active=True))
    scene.sees_terminals(replace(ONE, active=True), TWO)
    assert scene.model.state.session_id == "s1"


def test_without_an_editor_the_roller_selects_sessions() -> None:
    scene = two_sessions()
    assert scene.model.state.session_id is None
    assert scene.turns("roller").model.state.session_id == "s1"
    assert scene.turns("roller").model.state.session_id == "s2"
    assert scene.turns("roller").model.state.session_id == "s1"
    assert scene.turns("roller", -1).model.state.session_id == "s2"


def test_a_terminal_keeps_its_session_when_the_window_is_loaded_again() -> None:
    """The editor forgets the tag, and lists its terminals in another order; the process is the same."""
    scene = two_sessions().sees_terminals(ONE, TWO)
    scene.sees_terminals(replace(TWO, tag="", active=True), replace(ONE, tag="", active=False))
    assert scene.model.state.session_id == "s2"
    assert len(targets(scene.state)) == 2


def test_a_selected_terminal_that_closes_is_not_replaced_by_a_guess() -> None:
    scene = two_sessions().sees_terminals(replace(ONE, active=False), TWO).turns("roller").turns("roller")
    assert scene.model.state.session_id == "s2"
    scene.sees_terminals(replace(ONE, active=False))
    assert selected_target(scene.state) is None
    assert scene.model.state.session_id is None


# properties


moves = st.lists(
    st.tuples(
        st.sampled_from(["press", "button", "page", "roller", "dial", "terminals", "delivered"]),
        st.integers(-2, 9),
        st.booleans(),
    ),
    max_size=20,
)


def play(scene: DeckScene, story: list[tuple[str, int, bool]]) -> None:
    for move, number, flag in story:
        match move:
            case "press":
                scene.presses_slot(number, revision=scene.model.revision if flag else None)
            case "button":
                scene.presses_button(["enter", "esc", "ctrl_c", "export"][number % 4])
            case "page":
                scene.turns_page(1 if flag else -1)
            case "terminals":
                seen = (ONE, TWO, SeenTerminal(pid=number))[: abs(number) % 4]
                scene.sees_terminals(*(replace(one, active=flag) for one in seen))
            case "delivered" if scene.state.deck.dispatch is not None:
                scene.dispatch_ends(None if flag else "lost")
            case _:
                scene.turns("roller" if move == "roller" else "dial", number or 1)


@given(moves, st.booleans())
def test_the_operator_and_the_editor_alone_never_show_more_than_unknown_sent_or_ended(
    story: list[tuple[str, int, bool]], has_session: bool
) -> None:
    scene = DeckScene()
    if has_session:
        scene.submits_owned("pty")
    play(scene, story)
    assert scene.model.agent_state in WITHOUT_HOOKS
    assert scene.model.hooks_mode == "absent"


@pytest.mark.law("E13")
@given(moves)
def test_the_same_log_gives_the_same_model(story: list[tuple[str, int, bool]]) -> None:
    scene = two_sessions()
    play(scene, story)
    first = State(runner_id="otter", settings=scene.state.settings)
    again = DeckScene()
    again.state, again.clock = fold(first, scene.events), scene.clock
    assert again.state == scene.state
    assert again.model == scene.model


@given(moves, st.sampled_from(["s1", "s2"]))
def test_the_end_of_a_session_clears_no_intent(story: list[tuple[str, int, bool]], session: str) -> None:
    scene = two_sessions()
    play(scene, story)
    before = scene.state.deck
    scene.receives("SessionEnd", session=session, reason="other")
    assert scene.state.deck == before
