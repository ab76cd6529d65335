"""Views over the wire and back."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)


def over_the_wire(view: S) -> S:
    """The view as a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(view), type=type(view))


def as_json(view: Struct) -> dict[str, Any]:
    """The view as plain JSON."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(view))
    return found


def is_read_back(view: Struct) -> bool:
    """True when a client reads everything that the view says: what it reads, written again, is the same."""
    return as_json(over_the_wire(view)) == as_json(view)
