"""Frames: what is written is read again, and nothing else is, however large it claims to be."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.link.codec import (
    COMPRESS_FROM,
    MAX_BYTES,
    BadMessage,
    event_hash,
    read_hub_frame,
    read_runner_frame,
    write_frame,
)
from quarterdeck.link.messages import (
    AnyHubMessage,
    AnyRunnerMessage,
    BackfillMessage,
    EventAck,
    EventsMessage,
    HubPing,
    HubRule,
    LinkEvent,
    RefusalMessage,
    RegisteredMessage,
    RegisterMessage,
    RemoteCommand,
    RulesMessage,
    RunnerPing,
    ViewMessage,
)


def link_event(seq_no: int, text: str = "x") -> LinkEvent:
    body = msgspec.json.encode({"seq_no": seq_no, "data": {"text": text}})
    return LinkEvent(seq_no=seq_no, hash=event_hash(body), event=msgspec.Raw(body))


RUNNER_MESSAGES: list[AnyRunnerMessage] = [
    RegisterMessage(runner_id="r1", name="box", seq_no=7, active_sessions=["s1"]),
    EventsMessage(events=[link_event(8)]),
    BackfillMessage(events=[link_event(n, "long " * 20) for n in range(1, 101)]),
    ViewMessage(snapshot=True, sessions=[msgspec.Raw(b'{"session_id":"s1"}')]),
    RunnerPing(),
]
HUB_MESSAGES: list[AnyHubMessage] = [
    RegisteredMessage(last_seq_no=7, epoch=3, at=1.5),
    EventAck(last_seq_no=8),
    RemoteCommand(id="c", expires_at=1.5, epoch=3, actor="Ada", scope="approve", name="decide", args={"a": 1}),
    RulesMessage(rules=[HubRule(rule_id="h1", effect="deny", pattern="Bash", created_at=1.0, created_by="Ada")]),
    RefusalMessage(kind="busy", message="later", retry_after=5.0),
    HubPing(),
]


@pytest.mark.parametrize("message", RUNNER_MESSAGES, ids=lambda m: type(m).__name__)
def test_a_runner_message_is_read_again(message: AnyRunnerMessage) -> None:
    again = read_runner_frame(write_frame(message))
    assert msgspec.json.encode(again) == msgspec.json.encode(message)
    assert type(again) is type(message)


@pytest.mark.parametrize("message", HUB_MESSAGES, ids=lambda m: type(m).__name__)
def test_a_hub_message_is_read_again(message: AnyHubMessage) -> None:
    assert read_hub_frame(write_frame(message)) == message


def test_only_a_large_message_is_compressed() -> None:
    small, large = write_frame(RUNNER_MESSAGES[1]), write_frame(RUNNER_MESSAGES[2])
    assert isinstance(small, str)
    assert len(small) <= COMPRESS_FROM
    assert isinstance(large, bytes)


BOMB = zlib.compress(b" " * (MAX_BYTES + 1))
FOREIGN: list[str | bytes] = [
    "",
    "null",
    "[]",
    '{"type":"hello"}',
    '{"type":"event"}',
    '{"type":"event","events":[{"seq_no":"one"}]}',
    "[" * 100_000,
    "\ud800",
    b"",
    b"plain",
    zlib.compress(b'{"type":"ping"}')[:-3],
    zlib.compress(b'{"type":"ping"}') + b"more",
    BOMB,
    " " * (MAX_BYTES + 1),
]


@pytest.mark.parametrize("frame", FOREIGN, ids=range(len(FOREIGN)))
def test_a_frame_that_is_no_message_is_refused_by_name(frame: str | bytes) -> None:
    with pytest.raises(BadMessage):
        read_runner_frame(frame)
    with pytest.raises(BadMessage):
        read_hub_frame(frame)


@given(st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(frame: bytes) -> None:
    for content in (frame, zlib.compress(frame), frame.decode("latin-1")):
        with pytest.raises(BadMessage):
            read_hub_frame(content)
