"""The labels of states."""

from __future__ import annotations

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.views.session_label import FAILED, OVER_FAILURE, RETRYING, STATES, StateLabel, state_word


def test_every_state_has_a_label_of_its_own() -> None:
    assert STATES.keys() == set(AgentState)
    assert len({label.glyph for label in STATES.values()}) == len({label.word for label in STATES.values()}) == 10


def test_an_unknown_state_is_shown_by_its_name() -> None:
    assert state_word("dreaming") == StateLabel("·", "dreaming", "dim")


def test_a_session_that_rests_after_a_failed_run_is_labelled_as_failed() -> None:
    labels = {state: state_word(state, "Not logged in") for state in AgentState}
    assert {state for state, label in labels.items() if label == FAILED} == set(AgentState) - OVER_FAILURE
    assert all(labels[state] == STATES[state] for state in OVER_FAILURE)


def test_only_a_running_session_is_labelled_as_retrying() -> None:
    labels = {state: state_word(state, None, "the API answered 500") for state in AgentState}
    assert {state for state, label in labels.items() if label == RETRYING} == {AgentState.RUNNING}
