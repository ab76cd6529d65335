"""The machine of each resource: every one names it, and lists can be narrowed to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.api.http.error_responses import ApiError, not_found
from quarterdeck.views.resources.runner_resource import Resource

T = TypeVar("T")


def on_machine(answer: T, runner_id: str) -> T:
    """The response with `runner_id` added to each resource."""
    if isinstance(answer, Resource):
        answer.runner_id = answer.runner_id or runner_id
    elif isinstance(answer, Struct):
        for field in answer.__struct_fields__:
            values = getattr(answer, field)
            for one in values if isinstance(values, list) else ():
                if isinstance(one, Resource):
                    one.runner_id = one.runner_id or runner_id
    return answer


def without_items(answer: Any) -> Any:
    """A list with nothing in it: what a machine answers about another one."""
    fields = answer.__struct_fields__
    emptied: dict[str, Any] = {field: [] for field in fields if isinstance(getattr(answer, field), list)}
    emptied |= dict.fromkeys({"next", "previous"}.intersection(fields))
    return replace(answer, **emptied)


def require_machine(named: str | None, runner_id: str) -> None:
    """Raise when a client means another machine than this one."""
    if named not in (None, runner_id):
        raise ApiError(404, "not_found", f"no such machine: {str(named)[:100]}; see: GET /api/v1/runners")


def one_of(found: Mapping[str, T], what: str, name: str, see: str) -> T:
    """The only resource with this id, of those found by machine. ApiError when there is none, or when several machines
    have one of this id: it names them, and a client says with `runner_id` which it means."""
    if not found:
        raise not_found(what, name[:200], see)
    if len(found) > 1:
        machines = sorted(found)
        message = f"{len(found)} machines have the {what} {name[:200]}; add runner_id: {', '.join(machines)}"
        raise ApiError(409, "ambiguous", message, runner_ids=machines)
    return next(iter(found.values()))
