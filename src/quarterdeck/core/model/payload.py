"""Reading an agent's payload: every question has an answer whatever the payload holds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from quarterdeck.core.model.runtime_event import RuntimeEvent

TOO_LARGE = "quarterdeck_too_large"
"""The only key of a tool input that was too large to keep; such a request is never held."""

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
    """The value when it may stand in an id, else the default."""
    return value if value and isinstance(value, str) and ID.fullmatch(value) else default


def sha256_of(value: object) -> bytes:
    """The digest of a value in its one spelling: JSON with sorted keys, no blanks, ASCII. Taken in pieces, so that
    other threads have their turn however large the value is."""
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(piece.encode())
    return digest.digest()


PIECE = 512 * 1024


def _pieces(value: Any) -> Iterator[str]:
    if _is_light(value):
        yield _spell(value)
    elif isinstance(value, str):
        yield '"'
        for start in range(0, len(value), PIECE):
            yield _spell(value[start : start + PIECE])[1:-1]
        yield '"'
    elif isinstance(value, dict):
        between = "{"
        for key, below in sorted(value.items()):
            yield between
            yield from _pieces(key)
            yield ":"
            yield from _pieces(below)
            between = ","
        yield "}"
    else:
        yield from _list_pieces(value)


def _list_pieces(value: list[Any]) -> Iterator[str]:
    between = "["
    items = iter(value)
    while some := list(islice(items, 1000)):
        if _is_light(some):
            yield between
            yield _spell(some)[1:-1]
        else:
            for below in some:
                yield between
                yield from _pieces(below)
                between = ","
        between = ","
    yield "]"


def _is_light(value: Any) -> bool:
    """Whether one call can spell it in a moment."""
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


def _spell(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def digest_of(runner_id: str, event: RuntimeEvent, tool_input: dict[str, Any], cwd: str, mode: str) -> str:
    """What a decision must name: exactly what was asked, where, and in which mode."""
    shown = {
        "runner": runner_id,
        "session": event.session_id,
        "cwd": cwd,
        "event": event.hook_name,
        "tool": event.tool_name,
        "input": tool_input,
        "mode": mode,
    }
    return sha256_of(shown).hex()
