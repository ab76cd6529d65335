"""The messages of the link, and what an event on it stands for."""

from __future__ import annotations

from typing import get_args

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from quarterdeck.link.messages import AnyHubMessage, AnyRunnerMessage, LinkEvent


def tags(union: object) -> set[str]:
    return {str(kind.__struct_config__.tag) for kind in get_args(union)}


def test_each_side_has_its_messages() -> None:
    events = {"runner.register", "event.backfill", "event"}
    assert tags(AnyRunnerMessage) == {*events, "view", "command.result", "query.result", "stream", "ping", "pong"}
    streams = {"stream.open", "stream.credit", "stream.close"}
    acks = {"runner.registered", "backfill.ack", "event.ack"}
    assert tags(AnyHubMessage) == {
        *acks,
        *streams,
        *("session.command", "query", "attending", "rules", "refused", "ping", "pong"),
    }


def test_an_event_stands_for_itself_or_for_a_gap() -> None:
    event = LinkEvent(seq_no=8, hash="ab", event=Raw(b'{"kind":"notification"}'))
    assert event.begins == 8
    assert replace(event, first=3).begins == 3


def test_an_event_goes_as_it_is_stored() -> None:
    event = LinkEvent(seq_no=8, hash="ab", event=Raw(b'{"kind": "notification"}'))
    assert msgspec.json.encode(event) == b'{"seq_no":8,"hash":"ab","event":{"kind": "notification"}}'
