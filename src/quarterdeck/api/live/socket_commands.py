"""The commands of the WebSocket: every operation that changes something, and typing into terminals."""

from __future__ import annotations

from quarterdeck.api.endpoints import ENDPOINTS
from quarterdeck.api.http.endpoint import endpoints_in
from quarterdeck.api.live import clients, deck_keys, terminals

_TERMINALS = endpoints_in(terminals)
_DECK = endpoints_in(deck_keys)
_ALL = {**ENDPOINTS, **_TERMINALS, **endpoints_in(clients), **_DECK}
ROUTES = {name: one for name, one in _ALL.items() if one.operation.path}
"""The endpoints of REST."""
COMMANDS = {name: one for name, one in _ALL.items() if one.operation.is_command}
TYPING = frozenset(_TERMINALS)
SLOW = COMMANDS.keys() - TYPING - _DECK.keys() - {"decide", "add_rule", "remove_rule"}
"""Commands that may take long: they run in the background, so that other messages need not wait."""
