"""The keys under which the index files an event: its kind, level, actor, tool, its place in its run, and its cause."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from quarterdeck.core.model.events import FeedEvent

PLAIN = 1 << 62
"""Set in the key of a field's value; the keys of places in a run are below it."""
PLACES = 1 << 31
"""The numbers of one run. An event beyond it would be filed with another run and found by a walk only."""
ORDINARY = "info"
"""The level of most events: a reader finds enough of them without an index."""


def plain_key(field: str, value: str) -> int:
    """The key of a value. Two values may share one, so that a reader still compares the events."""
    return PLAIN | _hashed(f"{field}\0{value}") >> 2


def place_range(field: str, run_id: str) -> tuple[int, int]:
    """The first and the last key of a run. Its events are in their order between them, as their numbers grow."""
    first = (_hashed(f"{field}\0{run_id}") >> 33) * PLACES
    return first, first + PLACES - 1


def place_key(field: str, event_id: str) -> int | None:
    """The key of an event by its id; None for what is no id of an event. Events of a run lie together in the index, so
    that adding them touches few pages of it."""
    run_id, _, seq = event_id.rpartition(":E")
    if not run_id or not seq.isdecimal() or len(seq) > 10:
        return None
    return place_range(field, run_id)[0] + int(seq) % PLACES


def keys_of(event: FeedEvent) -> Iterator[int]:
    """Every key of an event."""
    yield plain_key("kind", event.kind)
    yield plain_key("actor", event.actor_id)
    if event.level != ORDINARY:
        yield plain_key("level", event.level)
    data = event.data  # of an unknown kind it is a plain object
    tool = data.get("tool_name") if isinstance(data, dict) else getattr(data, "tool_name", None)
    if isinstance(tool, str):
        yield plain_key("tool", tool)
    parent = event.cause.parent_event_id if event.cause else None
    for field, event_id in (("run", event.event_id), ("cause", parent)):
        key = place_key(field, event_id) if event_id else None
        if key is not None:
            yield key


def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest())
