"""The state after a start: the last snapshot and the fold of what came after it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from msgspec.structs import replace

from quarterdeck.core.engine.fold import fold
from quarterdeck.core.model.state import Settings, State
from quarterdeck.store.log import Log

CHUNK = 5_000


def recover(
    log: Log, runner_id: str, settings: Settings, progress: Callable[[int, int], None] = lambda done, total: None
) -> State:
    """Rebuild the state up to the first damage; `progress` hears how many events of how many are folded."""
    state = log.snapshot() or State(runner_id=runner_id)
    state = replace(state, settings=settings, runner_id=runner_id)
    sound = log.seq_no if log.damage is None else log.damage.seq_no - 1
    if state.seq_no > sound:
        state = State(runner_id=runner_id, settings=settings)
    if state.seq_no < log.trimmed:
        state = replace(state, seq_no=log.trimmed)
    events = log.events_after(state.seq_no, upto=sound)
    first, total = state.seq_no, sound - state.seq_no
    while chunk := list(islice(events, CHUNK)):
        state = fold(state, chunk)
        progress(state.seq_no - first, total)
    return state
