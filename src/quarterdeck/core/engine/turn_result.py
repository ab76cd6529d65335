"""How a turn ended: the fields we keep of what an agent's SDK says, whatever it sends."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.payload import flag, items, maybe_text, number, text

LONGEST = 10_000


def turn_result(result: dict[str, Any]) -> dict[str, Any]:
    """The fields of `TurnResultData`."""
    turns = number(result, "num_turns")
    said = maybe_text(result, "result")
    usage = result.get("usage")
    return {
        "subtype": text(result, "subtype", "unknown"),
        "is_error": flag(result, "is_error") or text(result, "subtype", "success") != "success",
        "stop_reason": maybe_text(result, "stop_reason"),
        "turns": int(turns) if turns is not None and abs(turns) < 1e15 else None,
        "duration_ms": number(result, "duration_ms"),
        "api_ms": number(result, "duration_api_ms"),
        "cost_usd": number(result, "total_cost_usd"),
        "usage": usage if isinstance(usage, dict) else None,
        "errors": [error[:LONGEST] for error in items(result, "errors") if isinstance(error, str)],
        "text": said[:LONGEST] if said else None,
    }
