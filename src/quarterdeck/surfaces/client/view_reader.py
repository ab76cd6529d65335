"""The daemon's JSON as views. A daemon of an older version leaves out fields that came later: they read as empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct, field
from msgspec.structs import FieldInfo, fields

from quarterdeck.errors import Refused

S = TypeVar("S", bound=Struct)
_EMPTY: Mapping[Any, Any] = {str: "", int: 0, float: 0.0, bool: False}


def read_view(shape: type[S], body: object) -> S:
    """The view in a JSON value; `Refused` when a field is of another type."""
    try:
        view: S = msgspec.convert(body, _lenient(shape))
        return view
    except msgspec.ValidationError as error:
        raise Refused(f"the daemon's answer cannot be read: {error}; restart it, or this program") from None


def read_views(shape: type[S], bodies: Sequence[object]) -> list[S]:
    """The views in a list."""
    return [read_view(shape, body) for body in bodies]


@cache  # made once for each view: it takes longer than to read one
def _lenient(shape: type[S]) -> type[S]:
    """The view with a default for every field."""
    hints = get_type_hints(shape)
    known = {one.name: one for one in fields(shape)}
    made: list[tuple[str, Any, Any]] = []
    for name in shape.__struct_fields__:
        one, kind = known[name], _lenient_type(hints[name])
        made.append((name, kind, _default(one) if one.default is not one.default_factory else _empty(kind)))
    config = shape.__struct_config__
    renamed = {one.name: one.encode_name for one in known.values() if one.name != one.encode_name}
    made_type: Any = msgspec.defstruct(
        shape.__name__, made, bases=(shape,), kw_only=True, frozen=config.frozen, rename=renamed
    )
    lenient: type[S] = made_type
    return lenient


def _default(one: FieldInfo) -> Any:
    """The default that a field has."""
    return field(default_factory=one.default_factory) if one.default is NODEFAULT else one.default


def _lenient_type(kind: Any) -> Any:
    """The type with lenient views in place of views."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _lenient(kind)
    arguments = get_args(kind)
    if not arguments or not any(_has_view(one) for one in arguments):
        return kind
    parts = tuple(_lenient_type(one) for one in arguments)
    origin = get_origin(kind)
    return Union[parts] if origin in (Union, UnionType) else origin[parts]  # noqa: UP007 made of values


def _has_view(kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, Struct):
        return True
    return any(_has_view(one) for one in get_args(kind))


def _empty(kind: Any) -> Any:
    """The default of a type: nothing where that is possible, else what is empty."""
    if kind is Any or NoneType in get_args(kind):
        return None
    origin = get_origin(kind) or kind
    if origin in (list, dict, tuple):
        return field(default_factory=origin)
    if isinstance(origin, type) and issubclass(origin, Struct):
        return field(default_factory=origin)
    return _EMPTY.get(origin, NODEFAULT)
