"""What a host remembers of its agent's conversation, for the next daemon."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.drivers.claude.sdk_host.relay import Relay
from quarterdeck.drivers.claude.sdk_host.sdk_frames import LINE, SENT
from tests.support.examples import examples

RESULT = {"type": "result", "subtype": "success"}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def asks(name: str) -> dict[str, Any]:
    return {"type": "control_request", "request_id": name, "request": {"subtype": "can_use_tool"}}


def answer(name: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "control_response", "response": {"subtype": "success", "request_id": name, "response": body or {}}}


def initialize(name: str) -> dict[str, Any]:
    return {"type": "control_request", "request_id": name, "request": {"subtype": "initialize"}}


class Host:
    """A relay, the lines that the daemon got since the last look, and the agent's."""

    def __init__(self) -> None:
        self.relay = Relay(wait_seconds=10.0, denial="nobody answered")

    def agent(self, message: dict[str, Any], now: float = 0.0) -> None:
        self.relay.from_agent(line(message), now)

    def daemon(self, message: dict[str, Any]) -> None:
        self.relay.from_client(line(message))

    def restart(self) -> None:
        self.relay.detach()
        self.relay.attach()

    def seen(self) -> list[dict[str, Any]]:
        found = [json.loads(body) for letter, _, body in self.relay.to_client if letter == LINE]
        self.relay.to_client.clear()
        return found

    def written(self) -> list[dict[str, Any]]:
        found = [json.loads(one) for one in self.relay.to_agent]
        self.relay.to_agent.clear()
        return found


@pytest.fixture
def host() -> Host:
    host = Host()
    host.relay.attach()
    return host


@pytest.mark.law("S1")
def test_initialize_is_sent_once_and_answered_for_every_daemon(host: Host) -> None:
    host.daemon(initialize("i1"))
    assert host.written() == [initialize("i1")]
    host.agent(answer("i1", {"commands": []}))
    assert host.seen() == [answer("i1", {"commands": []})]
    host.restart()
    host.daemon(initialize("i2"))
    assert host.written() == []
    assert host.seen() == [answer("i2", {"commands": []})]


def test_a_daemon_that_asks_while_the_first_answer_is_on_its_way_gets_it_under_its_own_id(host: Host) -> None:
    host.daemon(initialize("i1"))
    host.restart()
    host.daemon(initialize("i2"))
    host.agent(answer("i1"))
    assert host.written() == [initialize("i1")]
    assert host.seen() == [answer("i2")]


@pytest.mark.law("D11")
def test_a_request_without_an_answer_is_sent_to_the_next_daemon(host: Host) -> None:
    host.agent(asks("c1"))
    host.agent(asks("c2"))
    host.daemon(answer("c2"))
    assert host.seen() == [asks("c1"), asks("c2")]
    host.restart()
    assert host.seen() == [asks("c1")]
    host.daemon(answer("c1"))
    assert host.written() == [answer("c2"), answer("c1")]
    host.restart()
    assert host.seen() == []


def test_a_cancelled_request_is_neither_sent_again_nor_answered(host: Host) -> None:
    host.agent(asks("c1"))
    host.relay.detach()
    host.agent({"type": "control_cancel_request", "request_id": "c1"})
    host.relay.attach()
    host.daemon(answer("c1"))
    assert (host.seen(), host.written()) == ([], [])


@pytest.mark.law("D2")
def test_a_request_that_no_daemon_answers_is_denied_at_its_deadline(host: Host) -> None:
    host.agent(asks("c1"), now=1.0)
    host.relay.detach()
    host.relay.deny_expired(10.9)
    assert host.written() == []
    assert host.relay.next_deadline() == 11.0
    host.relay.deny_expired(11.0)
    assert host.written() == [answer("c1", {"behavior": "deny", "message": "nobody answered"})]
    host.relay.attach()
    host.daemon(answer("c1", {"behavior": "allow"}))
    assert (host.seen(), host.written(), host.relay.next_deadline()) == ([], [], None)


def test_prompts_wait_for_the_turn_before_them_also_without_a_daemon(host: Host) -> None:
    host.relay.prompt("m1", b'{"n":1}')
    host.relay.prompt("m2", b'{"n":2}')
    assert host.written() == [{"n": 1}]
    assert host.relay.state()["queued"] == ["m2"]
    host.relay.detach()
    host.agent(RESULT)
    assert host.written() == [{"n": 2}]
    host.relay.attach()
    assert [(letter, position) for letter, position, _ in host.relay.to_client] == [(SENT, 1), (LINE, 2), (SENT, 3)]
    host.agent(RESULT)
    assert not host.relay.is_busy


def test_prompts_that_were_cleared_are_not_sent(host: Host) -> None:
    host.relay.prompt("m1", b"{}")
    host.relay.prompt("m2", b"{}")
    host.relay.clear()
    host.agent(RESULT)
    assert len(host.written()) == 1


def test_live_text_is_not_kept_for_a_daemon_that_is_away(host: Host) -> None:
    host.agent({"type": "stream_event"})
    assert host.seen() == [{"type": "stream_event"}]
    host.relay.detach()
    host.agent({"type": "stream_event"})
    host.relay.attach()
    assert host.seen() == []


def test_what_is_not_json_is_no_message(host: Host) -> None:
    host.relay.from_agent(b"[debug] hello", 0.0)
    host.relay.from_agent(b'{"cut off', 0.0)
    assert [body for _, _, body in host.relay.to_client] == [b'{"cut off']


def test_a_long_request_is_a_request_and_a_long_message_is_passed_on_unread(host: Host) -> None:
    long = "x" * 100_000
    host.agent({**asks("c1"), "input": long})
    host.agent({"type": "assistant", "text": long, "then": "control_request"})
    assert host.relay.state()["waiting"] == ["c1"]
    assert [message["type"] for message in host.seen()] == ["control_request", "assistant"]


@given(st.lists(st.sampled_from(["line", "restart", "take", "away"]), max_size=30))
@examples(2)
@pytest.mark.law("S1")
def test_every_line_comes_to_a_daemon_and_is_forgotten_only_when_it_is_on_record(steps: list[str]) -> None:
    host = Host()
    written, recorded, seen = 0, 0, list[int]()
    for step in steps:
        if step == "line":
            written += 1
            host.agent({"type": "assistant", "n": written})
        elif step == "restart":
            host.restart()
            seen = list(range(1, recorded + 1))
        elif step == "away":
            host.relay.detach()
        elif host.relay.is_attached:
            recorded = max(recorded, len(seen))
            host.relay.taken(recorded)
        seen += [message["n"] for message in host.seen()]
        assert seen == list(range(1, len(seen) + 1))
        assert len(host.relay.untaken) == written - recorded
    host.restart()
    assert [message["n"] for message in host.seen()] == list(range(recorded + 1, written + 1))
