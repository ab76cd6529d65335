"""Readers for an agent's payload that never raise, whatever it holds, and digests of values."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import fields

from quarterdeck.core.model.runtime_event import RuntimeEvent

TOO_LARGE = "quarterdeck_too_large"
"""The only key of a tool input that was too large to keep; such a request is never held."""

S = TypeVar("S", bound=Struct)
# An id becomes part of event ids and of what a terminal shows, and must never be a path: no slash, blank or control.
ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def text(payload: dict[str, Any], key: str, default: str = "") -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else default


def maybe_text(payload: dict[str, Any], key: str) -> str | None:
    value = payload.get(key)
    return value if isinstance(value, str) else None


def number(payload: dict[str, Any], key: str) -> float | None:
    value = payload.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def flag(payload: dict[str, Any], key: str) -> bool:
    return payload.get(key) is True


def obj(payload: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under the key; anything else is wrapped so that nothing is lost."""
    value = payload.get(key)
    if isinstance(value, dict):
        return value
    return {} if value is None else {"value": value}


def items(payload: dict[str, Any], key: str) -> list[Any]:
    value = payload.get(key)
    return value if isinstance(value, list) else []


def safe_id(value: object, default: str) -> str:
    """The value when it is valid in an id, else the default."""
    return value if value and isinstance(value, str) and ID.fullmatch(value) else default


def whole(payload: dict[str, Any], key: str) -> int | None:
    """The number without its fraction; None when there is none, or one that is infinite or as good as that."""
    value = number(payload, key)
    return int(value) if value is not None and abs(value) < 1e15 else None  # `int` raises on infinity


def read_fields(shape: type[S], payload: dict[str, Any], **given: Any) -> S:
    """A struct from the fields of the payload that have its names, but for those that are given; each is read by the
    reader for its type, so what is missing or of a wrong type becomes empty."""
    return shape(**{name: read(payload, name) for name, read in _readers(shape) if name not in given}, **given)


@cache  # reading the types of a struct takes far longer than reading a payload
def _readers(shape: type[Struct]) -> list[tuple[str, Callable[[dict[str, Any], str], Any]]]:
    return [(field.name, _READERS[field.type]) for field in fields(shape)]


_READERS: dict[Any, Callable[[dict[str, Any], str], Any]] = {
    str: text,
    str | None: maybe_text,
    bool: flag,
    int | None: whole,
    float | None: number,
    Any: dict.get,
}


def texts_in(value: Any, *, keys: bool = False) -> Iterator[str]:
    """Every text in a value of JSON, in no particular order. Iterative: it can be deeper than the call stack."""
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            nodes += [*node, *node.values()] if keys else node.values()
        elif isinstance(node, list | tuple):
            nodes += node


def shared_fields(source: Struct, target: type[Struct]) -> dict[str, Any]:
    """The fields of a struct that another type of struct has too, under the same names: to make one of the other."""
    return {name: getattr(source, name) for name in source.__struct_fields__ if name in target.__struct_fields__}


def sha256_of(value: object) -> bytes:
    """The digest of a value as canonical JSON: sorted keys, no blanks, ASCII. It encodes in pieces: one call of the
    encoder for megabytes would hold the interpreter lock and stop all other threads."""
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(piece.encode())
    return digest.digest()


PIECE = 512 * 1024
"""About as many characters as are encoded in one call."""


def _pieces(value: Any) -> Iterator[str]:
    if _is_light(value):
        yield _encode(value)
    elif isinstance(value, str):
        yield '"'
        for start in range(0, len(value), PIECE):
            yield _encode(value[start : start + PIECE])[1:-1]
        yield '"'
    elif isinstance(value, dict):
        separator = "{"
        for key, item in sorted(value.items()):
            yield separator
            yield from _pieces(key)
            yield ":"
            yield from _pieces(item)
            separator = ","
        yield "}"
    else:
        yield from _list_pieces(value)


def _list_pieces(value: list[Any]) -> Iterator[str]:
    separator = "["
    items = iter(value)
    while batch := list(islice(items, 1000)):  # one call for each of a million numbers would take far longer
        if _is_light(batch):
            yield separator
            yield _encode(batch)[1:-1]
        else:
            for item in batch:
                yield separator
                yield from _pieces(item)
                separator = ","
        separator = ","
    yield "]"


def _is_light(value: Any) -> bool:
    """True when one call can encode it in a moment."""
    weight = 0
    nodes = [value]
    for node in nodes:
        if isinstance(node, str):
            weight += len(node)
        elif isinstance(node, dict):
            weight += 8 * len(node)
            nodes += node.keys()
            nodes += node.values()
        elif isinstance(node, list):
            weight += 8 * len(node)
            nodes += node if weight <= PIECE else ()
        if weight > PIECE:
            return False
    return True


def _encode(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def digest_of(runner_id: str, event: RuntimeEvent, tool_input: dict[str, Any], cwd: str, mode: str) -> str:
    """The digest that a decision must name: of the exact input, its place, and the permission mode."""
    proven = {
        "runner": runner_id,
        "session": event.session_id,
        "cwd": cwd,
        "event": event.hook_name,
        "tool": event.tool_name,
        "input": tool_input,
        "mode": mode,
    }
    return sha256_of(proven).hex()
