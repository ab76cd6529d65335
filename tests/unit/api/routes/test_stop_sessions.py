"""Which sessions `all` means."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from quarterdeck.api.routes.stop_sessions import is_at_work, is_running
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Ownership, ProcessId, Session

SEEN = Session(session_id="s1", started_at=1.0, last_event_at=1.0, process=ProcessId(7, "1"))
OWNED = Ownership(handle="s1", by="ann", launched_at=1.0, status="up")


def test_every_session_with_a_process_runs() -> None:
    assert is_running(SEEN)
    assert is_running(replace(SEEN, process=None, owned=OWNED))
    assert not is_running(replace(SEEN, process=None))
    assert not is_running(replace(SEEN, owned=replace(OWNED, status="down")))


@pytest.mark.parametrize(
    ("state", "works"),
    [
        (AgentState.RUNNING, True),
        (AgentState.WAITING_PERMISSION, True),
        (AgentState.SENT, True),
        (AgentState.IDLE, False),
        (AgentState.SETTLED, False),
        (AgentState.UNKNOWN, False),
    ],
)
def test_a_session_is_at_work_while_it_has_a_turn(state: AgentState, works: bool) -> None:
    assert is_at_work(replace(SEEN, agent_state=state)) is works
    assert not is_at_work(replace(SEEN, agent_state=state, process=None))
