"""The state of the deck after its events, also those that another version has recorded."""

from __future__ import annotations

from quarterdeck.core.engine.folds.deck_folds import deck_after
from quarterdeck.core.model.event_data.base import Data
from quarterdeck.core.model.event_data.deck_data import (
    OperatorArmData,
    OperatorDispatchData,
    OperatorSelectData,
    TerminalData,
)
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import ArmedPrompt, DeckState


def after(deck: DeckState, kind: str, data: Data, at: float = 5.0) -> DeckState:
    event = FeedEvent(
        seq_no=1,
        event_id="e",
        seq=1,
        run_id="quarterdeck:R0",
        session_id="quarterdeck",
        runner_id="r",
        at=at,
        kind=kind,
        level="info",
        actor_id="user",
        data=data,
    )
    return deck_after(deck, event)


def test_an_event_of_another_kind_changes_nothing() -> None:
    deck = DeckState(page=2)
    assert after(deck, "rule.add", Data()) is deck


def test_a_style_of_another_version_is_read_as_queue() -> None:
    assert after(DeckState(), "operator.arm", OperatorArmData(prompt_id="a", style="later")).armed == ArmedPrompt(
        prompt_id="a", style="queue"
    )


def test_a_choice_of_another_version_changes_nothing() -> None:
    deck = DeckState(page=2)
    assert after(deck, "operator.select", OperatorSelectData(what="planet", id="x")) == deck


def test_a_text_that_another_prompt_replaced_does_not_disarm_it() -> None:
    armed = DeckState(armed=ArmedPrompt(prompt_id="b", style="queue"))
    done = OperatorDispatchData(prompt_id="a", delivered=True, outcome="delivered", message_id="m")
    assert after(armed, "operator.dispatch", done).armed == armed.armed


def test_the_focus_counts_from_when_it_came() -> None:
    deck = after(DeckState(), "terminal.open", TerminalData(terminal_id="t", pid=1, active=True), at=5.0)
    again = after(deck, "terminal.open", TerminalData(terminal_id="t", pid=1, active=True, name="x"), at=9.0)
    assert (deck.active_at, again.active_at) == (5.0, 5.0)
