"""The state after a start: the last snapshot, and the fold of all later events."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from msgspec.structs import replace

from quarterdeck.config.settings import Config
from quarterdeck.core.engine.fold import fold
from quarterdeck.core.model.state import Settings, State
from quarterdeck.store.hash_chain import Damage
from quarterdeck.store.log import Log
from quarterdeck.store.search_index import indexed_upto

# Each fold makes one draft of the state, so not one by one; small enough to show progress.
CHUNK = 5_000


def recover(
    log: Log, runner_id: str, settings: Settings, progress: Callable[[int, int], None] = lambda done, total: None
) -> State:
    """Rebuild the state up to the first damage. `progress` is called with the number of folded events and of all."""
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


def check_lost_rows(log: Log, config: Config) -> None:
    """Mark a log as damaged that is shorter than its search index: it lost rows, with its -wal file or to an older
    copy, and their numbers must not be used again. With `durability: normal` a power cut may take the last rows, which
    that setting accepts."""
    known = indexed_upto(log.path)
    if log.damage is None and config.store.durability == "full" and known > log.seq_no:
        reason = f"rows up to {known} were here and are gone; if you put an older copy back, remove search.db beside it"
        log.damage = Damage(log.seq_no + 1, reason)
