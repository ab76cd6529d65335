"""Every route of a hub: its own, those about the hub or one machine, and those that machines carry out."""

from __future__ import annotations

from quarterdeck.api.http.endpoint import ApiEndpoint, endpoints_in
from quarterdeck.api.live.socket_commands import COMMANDS, ROUTES, TYPING
from quarterdeck.hub.routes import hub_lists, machine_routes
from quarterdeck.hub.routes.forwarded import ForwardedEndpoint, OwnOrForwardedEndpoint, TypedEndpoint
from quarterdeck.hub.routes.rule_routes import NewRuleEndpoint, RuleListEndpoint, RuleRemovalEndpoint

LOCAL = frozenset(
    {
        *("healthz", "get_metrics", "whoami", "logout", "create_login_code", "create_pairing_code", "pair_device"),
        *("list_tokens", "create_token", "revoke_token", "list_devices", "revoke_device", "ask_step_up"),
        *("confirm_step_up", "list_clients", "command_client", "get_health", "list_settings", "get_stats"),
    }
)
"""Operations about the hub itself, its people and their devices."""
RULES = {"list_rules": RuleListEndpoint, "add_rule": NewRuleEndpoint, "remove_rule": RuleRemovalEndpoint}
"""Operations about rules, which the hub has as well as machines."""


def _hub_routes() -> dict[str, ApiEndpoint]:
    own = endpoints_in(hub_lists, machine_routes)
    known = {**ROUTES, **COMMANDS}
    kinds: dict[str, type[ForwardedEndpoint]] = dict.fromkeys(known, ForwardedEndpoint)
    kinds |= dict.fromkeys(LOCAL, OwnOrForwardedEndpoint) | RULES
    return {name: kinds[name](one) for name, one in known.items() if name not in TYPING} | own


_ALL = _hub_routes()
HUB_ROUTES = {name: one for name, one in _ALL.items() if one.operation.path}
"""The endpoints of REST."""
HUB_COMMANDS = {name: one for name, one in _ALL.items() if one.operation.is_command} | {
    name: TypedEndpoint(COMMANDS[name]) for name in TYPING
}
"""The commands of the WebSocket."""
