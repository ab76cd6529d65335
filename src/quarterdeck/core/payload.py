"""Reading an agent's payload: every question has an answer whatever the payload holds."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from quarterdeck.core.runtime import RuntimeEvent

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


def canonical(value: object) -> bytes:
    """One spelling per value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr).encode()


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
    return hashlib.sha256(canonical(shown)).hexdigest()
