"""JSON to and from the core's types: strict about input, and unknown kinds survive a round trip."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quarterdeck.core.model.events import KINDS, FeedEvent
from quarterdeck.core.model.payload import TOO_LARGE
from quarterdeck.core.model.state import Request, Session, State
from quarterdeck.errors import BadInput

MAX_BYTES = 32 * 1024 * 1024
MAX_TOOL_INPUT = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_KEYS = 50_000
MAX_ITEMS = 1_000_000
MAX_INTEGER = 2**63
LIGHT = 64 * 1024
"""Fewer bytes than this cannot hold MAX_KEYS keys or MAX_ITEMS items."""

HEAVY = 512 * 1024
"""Reading, deciding and writing this many bytes would delay every other call: such work is done in a thread."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def read_json(body: bytes) -> Any:
    """The value of a JSON text within all limits. Raises BadInput that names the limit."""
    if len(body) > MAX_BYTES:
        raise BadInput("too_large", f"{len(body)} bytes; at most {MAX_BYTES} are taken")
    if len(body) > MAX_ITEMS and body.count(b",") > 4 * MAX_ITEMS:
        raise BadInput("too_many_items", f"more than {MAX_ITEMS} items")
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadInput("not_json", f"not JSON: {error}") from None
    keys = _count_keys_fast(value) if len(body) <= LIGHT else _count_keys(value)
    if body.translate(None, b" \t\n\r").count(b'":') != keys:
        _refuse_duplicates(body)
    return value


def _count_keys_fast(value: Any) -> int:
    """`_count_keys` for a text too short to hold too many keys or items, as nearly all are."""
    keys = 0
    nodes: list[Any] = [(value,)]
    for node in nodes:
        if type(node) is dict:
            keys += len(node)
            node = node.values()
        for leaf in node:
            kind = type(leaf)
            if kind is str:
                continue
            if kind is dict or kind is list:
                nodes.append(leaf)
            elif kind is int and not -MAX_INTEGER <= leaf < MAX_INTEGER:
                raise BadInput("huge_integer", "an integer does not fit in 64 bits")
    return keys if len(nodes) <= MAX_DEPTH else _count_keys(value)


_COUNTED = frozenset({dict, list, int})


def _count_keys(value: Any) -> int:
    """Count the keys, level by level. Refuses a value that is too deep or too wide, or an integer that is too big."""
    keys = items = 0
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for leaf in [leaf for node in level for leaf in node if type(leaf) in _COUNTED]:
            kind = type(leaf)
            if kind is dict:
                keys += len(leaf)
                below.append(leaf.values())
            elif kind is list:
                items += len(leaf)
                below.append(leaf)
            elif not -MAX_INTEGER <= leaf < MAX_INTEGER:
                raise BadInput("huge_integer", "an integer does not fit in 64 bits")
        if not below:
            return keys
        if keys > MAX_KEYS:
            raise BadInput("too_many_keys", f"more than {MAX_KEYS} keys")
        if items > MAX_ITEMS:
            raise BadInput("too_many_items", f"more than {MAX_ITEMS} items in lists")
        level = below
    raise BadInput("too_deep", f"nested deeper than {MAX_DEPTH}")


def _refuse_duplicates(body: bytes) -> None:
    """Slow and exact; only called when the text has more `":` than keys."""
    try:
        json.loads(body, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise BadInput("not_json", f"not JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadInput("duplicate_key", "an object names the same key twice")
    return found


def cap_tool_input(payload: Any) -> Any:
    """The payload with a tool input over the limit replaced by its size and digest, so that none is shown in part."""
    if not isinstance(payload, dict) or "tool_input" not in payload:
        return payload
    body = write_heavy(payload["tool_input"])
    if len(body) <= MAX_TOOL_INPUT:
        return payload
    return {**payload, "tool_input": {TOO_LARGE: {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}}}


def compact_payload(payload: dict[str, Any], data: object) -> str | bytes:
    """A payload in the form that is stored with its event: null stands for a value that the event's data has under the
    same name. Where that would be ambiguous, the whole payload as bytes."""
    kept = {k: None if getattr(data, k, payload) is v else v for k, v in payload.items()}
    if any(v is None and getattr(data, k, payload) is not v for k, v in payload.items()):
        return _encode(payload)
    return _encode(kept).decode()


def full_payload(kept: str | bytes, data: object) -> dict[str, Any]:
    """The payload, from its stored form and the event's data."""
    found: dict[str, Any] = _decode(kept)
    if isinstance(kept, bytes):
        return found
    return {k: getattr(data, k) if v is None else v for k, v in found.items()}


def write_json(value: Any) -> bytes:
    """Compact JSON."""
    return _encode(value)


def write_heavy(value: Any) -> bytes:
    """The compact JSON of `write_json` for a large value: long texts are written in pieces, so that other threads can
    run between them."""
    return _encode(_in_pieces(msgspec.to_builtins(value)))


def _in_pieces(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= HEAVY else msgspec.Raw(_text_in_pieces(value))
    if isinstance(value, dict):
        return {key: _in_pieces(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_in_pieces(below) for below in value]
    return value


def _text_in_pieces(value: str) -> bytes:
    pieces = (_encode(value[start : start + HEAVY])[1:-1] for start in range(0, len(value), HEAVY))
    return b'"%b"' % b"".join(pieces)


class _Trim(msgspec.Struct):
    upto: int = 0


class _TrimEvent(msgspec.Struct):
    data: _Trim


_read_trim_event = msgspec.json.Decoder(_TrimEvent).decode


def read_trim(body: bytes) -> int:
    """The last row that a `log.trim` event lets leave the log; 0 when it names none."""
    try:
        return _read_trim_event(body).data.upto
    except (ValueError, msgspec.MsgspecError):
        return 0


class EventColumns(msgspec.Struct, frozen=True, gc=False):
    """The parts of an event that the store keeps in columns of their own."""

    session_id: str
    kind: str
    at: float


read_columns: Callable[[bytes], EventColumns] = msgspec.json.Decoder(EventColumns).decode
_any_event = msgspec.json.Decoder(FeedEvent).decode


class _Decoders(dict[bytes, Callable[[bytes], FeedEvent]]):
    """The decoder of each kind of event, made at its first use: making all of them would slow every short command."""

    def __missing__(self, kind: bytes) -> Callable[[bytes], FeedEvent]:
        shape = KINDS.get(kind.decode(errors="replace"))
        if shape is None:
            return _any_event
        of_any: Any = FeedEvent  # of which shape is known only now
        self[kind] = msgspec.json.Decoder(of_any[shape]).decode
        return self[kind]


_event_of = _Decoders()


def read_event(body: bytes | str) -> FeedEvent:
    """A stored event. An unknown kind, or data of another shape, keeps its data as it is."""
    content = body.encode() if isinstance(body, str) else body
    return _read_as(read_columns(content).kind.encode(), content)


def _read_as(kind: bytes, body: bytes) -> FeedEvent:
    try:
        return _event_of[kind](body)
    except msgspec.ValidationError:
        return _any_event(body)


def read_events(rows: Sequence[tuple[bytes, bytes]]) -> list[FeedEvent]:
    """Stored events whose kinds are known, which is faster: each is decoded only once."""
    try:
        return [_event_of[kind](body) for kind, body in rows]
    except msgspec.ValidationError:
        return [_read_as(kind, body) for kind, body in rows]


_request = msgspec.json.Decoder(Request).decode
_session = msgspec.json.Decoder(Session).decode
_state = msgspec.json.Decoder(State).decode


def read_request(body: bytes | str) -> Request:
    """A request as it is stored."""
    return _request(body)


def read_session(body: bytes | str) -> Session:
    """A session as it is stored."""
    return _session(body)


def read_state(body: bytes | str) -> State:
    """A snapshot."""
    return _state(body)
