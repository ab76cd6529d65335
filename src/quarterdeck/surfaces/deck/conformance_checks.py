"""The rules that every model of a deck keeps, one function each: what is wrong, or None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]
SLOTS = 9
STATES = frozenset(
    {
        *("unknown", "sent", "idle", "running", "waiting_permission", "waiting_input"),
        *("blocked", "settled", "complete", "ended"),
    }
)
WITHOUT_HOOKS = frozenset({"unknown", "sent", "ended"})
FIELDS = ("agent_state", "hooks_mode", "armed", "keypad", "page_index", "page_count", "revision")


def has_fields(model: Json) -> str | None:
    """The fields that a deck draws."""
    missing = [name for name in FIELDS if name not in model]
    return f"lacks {', '.join(missing)}" if missing else None


def has_nine_slots(model: Json) -> str | None:
    """Nine keys, numbered from 0 in their order."""
    numbers = [key.get("slot") for key in model["keypad"]["slots"]]
    return None if numbers == list(range(SLOTS)) else f"the slots are {numbers}"


def arms_what_is_armed(model: Json) -> str | None:
    """A prompt's key is armed if its prompt is, and an empty key never."""
    armed = (model["armed"] or {}).get("prompt_id")
    for key in model["keypad"]["slots"]:
        if key.get("kind") == "empty" and key["armed"]:
            return f"the empty key {key['slot']} is armed"
        if key["prompt_id"] is not None and key["armed"] != (key["prompt_id"] == armed):
            return f"key {key['slot']} shows armed: {key['armed']}, and the armed prompt is {armed}"
    return None


def knows_without_hooks(model: Json) -> str | None:
    """Without hooks only unknown, sent and ended."""
    if model["agent_state"] not in STATES:
        return f"{model['agent_state']} is no state"
    if model["hooks_mode"] not in ("active", "absent"):
        return f"{model['hooks_mode']} is no mode of hooks"
    if model["hooks_mode"] == "absent" and model["agent_state"] not in WITHOUT_HOOKS:
        return f"shows {model['agent_state']} without hooks"
    return None


def is_on_a_page(model: Json) -> str | None:
    """The page is one of those that there are."""
    index, count = model["page_index"], model["page_count"]
    return None if 0 <= index < count else f"page {index} of {count}"


def has_revisions(model: Json) -> str | None:
    """Every key has a revision: a press names it."""
    without = [key["slot"] for key in model["keypad"]["slots"] if not key.get("revision")]
    return f"keys {without} have no revision" if without else None


def decides_what_it_shows(model: Json) -> str | None:
    """A decision key is about the shown request, with its digest."""
    request = model.get("request") or {}
    for key in model["keypad"]["slots"]:
        if key.get("action") in ("allow", "deny") and key.get("enabled"):
            named = (key.get("request_id"), key.get("digest"))
            if named != (request.get("request_id"), request.get("digest")) or not named[1]:
                return f"key {key['slot']} is about {named[0]}, and {request.get('request_id')} is shown"
    return None


def says_why_not(model: Json) -> str | None:
    """A key that does nothing says why."""
    silent = [
        key["slot"]
        for key in model["keypad"]["slots"]
        if key.get("kind") != "empty" and not key.get("enabled") and not key.get("reason")
    ]
    return f"keys {silent} do nothing and do not say why" if silent else None


MODEL_CHECKS: Mapping[str, Callable[[Json], str | None]] = {
    "the model has its fields": has_fields,
    "there are nine keys": has_nine_slots,
    "a key shows as armed only if it is": arms_what_is_armed,
    "without hooks little is known": knows_without_hooks,
    "the page exists": is_on_a_page,
    "every key has a revision": has_revisions,
    "a key decides what is shown": decides_what_it_shows,
    "a key that does nothing says why": says_why_not,
}
