"""Structs from others with the same fields: views from what the core knows, messages to the core from bodies."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Struct)


def struct_of(shape: type[S], source: object, **more: Any) -> S:
    """A struct with the fields that `source` has by the same names, and with `more`."""
    shared = [name for name in shape.__struct_fields__ if name not in more and hasattr(source, name)]
    return shape(**{name: getattr(source, name) for name in shared}, **more)
