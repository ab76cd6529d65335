"""The messages: their published JSON Schema, and the notice about another version."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from quarterdeck import __version__
from quarterdeck.api.live.ws_messages import KINDS, AnyClientMessage, Hello, message_schema, version_notice

SCHEMA = message_schema()
CLIENT = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/client"})
GOOD: list[dict[str, Any]] = [
    {"type": "hello", "protocol": 2, "topics": ["feed"], "after": 3, "client_id": "tv", "capabilities": ["binary"]},
    {"type": "hello", "protocol": 2, "after": "a cursor of a hub"},
    {"type": "command", "id": [1], "name": "decide", "args": {}},
    {"type": "subscribe", "topics": ["feed"]},
    {"type": "unsubscribe", "topics": []},
    {"type": "visible", "visible": True, "request_id": "r1"},
    {"type": "ack", "id": "k1"},
    {"type": "taken", "bytes": 1},
    {"type": "ping"},
]
BAD: list[dict[str, Any]] = [
    {"type": "hello"},
    {"type": "hello", "protocol": 2, "client_id": "../x"},
    {"type": "subscribe"},
    {"type": "visible", "visible": 1},
    {"type": "ack", "id": "a b"},
    {"type": "taken", "bytes": -1},
    {"type": "unknown"},
    {},
]


def test_it_is_a_valid_schema_on_its_own() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert "\\Z" not in json.dumps(SCHEMA)


@pytest.mark.parametrize("message", GOOD, ids=json.dumps)
def test_what_is_read_is_valid(message: dict[str, Any]) -> None:
    CLIENT.validate(message)
    assert msgspec.convert(message, AnyClientMessage)


@pytest.mark.parametrize("message", BAD, ids=json.dumps)
def test_what_is_refused_is_invalid(message: dict[str, Any]) -> None:
    assert not CLIENT.is_valid(message)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(message, AnyClientMessage)


def test_every_type_of_a_client_is_tried() -> None:
    assert {message["type"] for message in GOOD} == set(KINDS)


def test_a_terminal_ui_of_another_version_gets_a_notice_of_what_to_restart() -> None:
    [notice] = version_notice(Hello(protocol=2, client="tui", version="0.1.0"))
    assert notice.message == f"this UI is 0.1.0, the daemon {__version__}: restart the older one"


@pytest.mark.parametrize(("client", "version"), [("tui", __version__), ("tui", ""), ("web", "7"), ("cli", "0.1.0")])
def test_other_clients_get_none(client: str, version: str) -> None:
    assert version_notice(Hello(protocol=2, client=client, version=version)) == []
