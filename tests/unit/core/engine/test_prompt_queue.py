"""Prompts to owned sessions that wait, and those that a crash may have lost."""

from __future__ import annotations

import pytest

from quarterdeck.core.engine.messages import (
    DaemonRestarted,
)
from quarterdeck.core.engine.prompt_queue import is_resting, turns_ahead, waiting_prompts
from quarterdeck.core.engine.session_messages import (
    AgentStarted,
    CommandFailed,
    DeliverPrompt,
    InterruptAgent,
    InterruptSession,
    PromptDelivered,
    SendPrompt,
    TurnEnded,
)
from quarterdeck.core.text.titles import title_of
from tests.support.owned_scene import PROCESS, OwnedScene, tagged


def test_a_prompt_knows_the_number_of_turns_before_it() -> None:
    scene = OwnedScene().is_up()
    assert (waiting_prompts(scene.session), turns_ahead(scene.session, "m1")) == (0, 0)
    for message_id in ("m1", "m2"):
        scene.submits(SendPrompt(session_id="s1", message_id=message_id, prompt="more", by="bob", at=scene.clock))
    assert [turns_ahead(scene.session, message_id) for message_id in ("m1", "m2")] == [1, 2]
    assert waiting_prompts(scene.session) == 2
    scene.receives("Stop")
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result={"subtype": "success"}))
    scene.submits(PromptDelivered(session_id="s1", at=scene.clock, message_id="m1")).folds()
    assert (waiting_prompts(scene.session), turns_ahead(scene.session, "m2")) == (1, 1)


def test_a_session_that_was_resumed_and_rests_has_no_turn_before_its_first_prompt() -> None:
    scene = OwnedScene().is_up()
    scene.receives("Stop").ends(code=0)
    scene.starts(resume="s1").submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS))
    scene.receives("SessionStart", source="resume")
    scene.submits(InterruptSession(session_id="s1", by="bob", at=scene.clock))
    assert scene.last.events[0].data.idle
    scene.submits(SendPrompt(session_id="s1", message_id="m1", prompt="more", by="bob", at=scene.clock))
    assert turns_ahead(scene.session, "m1") == 0


def test_an_interrupt_of_a_resting_session_is_recorded_as_such() -> None:
    scene = OwnedScene().is_up()
    scene.receives("Stop")
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result={"subtype": "success"}))
    assert is_resting(scene.session)
    scene.submits(InterruptSession(session_id="s1", by="bob", at=scene.clock)).records("session.interrupt").folds()
    event = scene.last.events[0]
    assert (title_of(event), event.level) == ("· Nothing to interrupt, for bob", "info")
    assert scene.session_effects == [InterruptAgent(mode="sdk", handle="s1")], "the agent may know better"
    scene.submits(SendPrompt(session_id="s1", message_id="m1", prompt="more", by="bob", at=scene.clock))
    assert not is_resting(scene.session)


def sent(scene: OwnedScene, *message_ids: str) -> OwnedScene:
    for message_id in message_ids:
        scene.submits(
            SendPrompt(session_id="s1", message_id=message_id, prompt="more", by="bob", at=scene.clock)
        ).folds()
    return scene


@pytest.mark.law("S8")
@pytest.mark.parametrize("mode", ["sdk", "pty", "tmux"])
def test_unconfirmed_prompts_are_reported_after_a_crash_and_not_sent_again(mode: str) -> None:
    scene = sent(OwnedScene().is_up(mode), "m1", "m2", "m3", "m4")
    scene.submits(PromptDelivered(session_id="s1", message_id="m1", at=1.0)).folds()
    scene.receives("Stop").receives("UserPromptSubmit", prompt="more").folds()
    scene.submits(CommandFailed(session_id="s1", command="send", error="no", message_id="m2", at=1.0)).folds()
    scene.submits(DaemonRestarted(at=scene.clock)).does_nothing()
    found = AgentStarted(session_id="s1", at=1.0, process=PROCESS, recovered=True)
    scene.submits(found).folds()
    failed = [e.data for e in scene.last.events if e.kind == "session.failed"]
    assert [(one.order, one.message_id) for one in failed] == [("send", "m3"), ("send", "m4")]
    assert [effect for effect in scene.session_effects if isinstance(effect, DeliverPrompt)] == []
    scene.submits(found).records("session.up").folds()


@pytest.mark.law("S1")
def test_prompts_that_wait_in_the_host_of_a_session_are_not_lost() -> None:
    scene = sent(OwnedScene().is_up("sdk"), "m1", "m2", "m3")
    scene.submits(DaemonRestarted(at=scene.clock))
    scene.submits(AgentStarted(session_id="s1", at=1.0, process=PROCESS, recovered=True, queued=("m2", "m3"))).folds()
    assert [e.data.message_id for e in scene.last.events if e.kind == "session.failed"] == ["m1"]
    scene.submits(PromptDelivered(session_id="s1", message_id="m2", at=1.0)).records("session.given").folds()


@pytest.mark.law("S1")
def test_an_unconfirmed_first_prompt_is_reported_after_its_host_was_lost_too() -> None:
    scene = OwnedScene().trusts().starts(prompt="go").submits(AgentStarted(session_id="s1", at=1.0, process=PROCESS))
    scene.submits(PromptDelivered(session_id="s1", at=1.0)).folds()
    scene.ends(is_lost=True).folds()
    scene.records("session.failed", "session.exit", "session.end", "session.launch")
    assert scene.last.events[0].data.message_id is None


def test_a_queued_prompt_moves_to_the_new_id_at_a_clear() -> None:
    scene = sent(OwnedScene().is_up(), "m1", "m2")
    scene.receives("Stop").receives("SessionEnd", reason="clear").submits(tagged(scene, "s2", "s1")).folds()
    scene.submits(PromptDelivered(session_id="s1", message_id="m1", at=1.0)).records("session.given").folds()
    scene.submits(TurnEnded(session_id="s1", at=1.0, result={"subtype": "success"})).folds()
    scene.submits(PromptDelivered(session_id="s1", message_id="m1", at=1.0)).records()
    scene.ends(is_lost=True).folds()
    assert [(e.session_id, e.data.message_id) for e in scene.last.events if e.kind == "session.failed"] == [
        ("s2", "m2")
    ]
