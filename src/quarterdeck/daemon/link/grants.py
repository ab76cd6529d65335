"""Grants: what people at a hub may do on this machine. `hub.may` has the last word."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from quarterdeck.api.operations import OPERATIONS

NEVER = "never"
GRANTS: Mapping[str, str] = {
    "decide": "approve",
    "decide_many": "approve",
    "send_message": "prompt",
    "interrupt_session": "prompt",
    "end_session": "prompt",
    "interrupt_sessions": "prompt",
    "end_sessions": "prompt",
    "get_screen": "terminals",
    "terminal_input": "terminals",
    "terminal_resize": "terminals",
    "add_rule": "rules",
    "import_rules": "rules",
    "remove_rule": "rules",
    "scan_projects": "observe",
    "get_project_config": "observe",
    "get_metrics": "observe",
    "list_settings": "observe",
    "whoami": NEVER,
    "list_devices": NEVER,
    "revoke_device": NEVER,
    "ask_step_up": NEVER,
    "logout": NEVER,
    "command_client": NEVER,
    "healthz": "observe",
    "pair_device": NEVER,
}
"""What an operation needs that the rule of `grant_of` would not say."""

SCOPES: Mapping[str, frozenset[str]] = {
    "observe": frozenset({"observe"}),
    "approve": frozenset({"approve"}),
    "edit": frozenset({"edit"}),
    "prompt": frozenset({"prompt", "control"}),
    "launch": frozenset({"control"}),
    "terminals": frozenset({"control"}),
    "rules": frozenset({"control"}),
}
"""The scopes that each grant can use at most."""


def grant_of(name: str) -> str:
    """What a hub needs to call an operation: nothing but `launch` lets it change what runs on the machine, and nothing
    lets it touch credentials."""
    operation = OPERATIONS[name]
    if name in GRANTS:
        return GRANTS[name]
    if operation.scope == "admin":
        return NEVER
    return "observe" if operation.scope == "observe" else "launch"


def missing_grant(name: str, args: Mapping[str, Any], may: Collection[str]) -> str | None:
    """The grant that this machine would have to give for this call; None when it has given all."""
    needed = [grant_of(name)]
    decisions = args.get("decisions") if name == "decide_many" else [args] if name == "decide" else []
    for decision in decisions if isinstance(decisions, list) else []:
        if isinstance(decision, dict) and decision.get("remember") is not None:
            needed.append("rules")
        if isinstance(decision, dict) and decision.get("updated_input") is not None:
            needed.append("edit")
    return next((grant for grant in needed if grant not in may), None)


def scopes_of(may: Collection[str], given: Collection[str]) -> frozenset[str]:
    """The scopes of a person at the hub here: those that the hub gave, as far as this machine grants them."""
    granted = frozenset[str]().union(*(SCOPES.get(grant, frozenset()) for grant in may))
    return granted & frozenset(given)
