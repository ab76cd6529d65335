"""A waiting connection gets its own answer and no other; a closed one is not waited for."""

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json, Ndjson, decision_in, permission, prompt, soon, until
from tests.support.failpoints import ForkServer

pytestmark = pytest.mark.faults

LONGER_AND_LONGER = (1.5, 10.0, 40.0)
"""Waits to try: on a busy machine a short one is over before the clock has been set."""


def http_waiter(daemon: Daemon) -> socket.socket:
    return daemon.hold(permission("ls")).socket


def ndjson_waiter(daemon: Daemon) -> socket.socket:
    client = daemon.ndjson()
    client.send("n1", permission("ls"))
    return client.socket


def forwarder(daemon: Daemon) -> socket.socket:
    client = daemon.ndjson()
    body = json.dumps(permission("ls")).encode()
    client.send_raw(b"QDHOOK/1 %d assist cli 1234 -\n%s" % (len(body), body))
    return client.socket


def half_closed(daemon: Daemon) -> socket.socket:
    client = daemon.ndjson()
    client.send("n1", permission("ls"))
    client.half_close()
    return client.socket


def with_an_unread_reply(daemon: Daemon) -> socket.socket:
    client = daemon.ndjson()
    client.send("n0", prompt("hello"))
    client.send("n1", permission("ls"))
    return client.socket


@pytest.mark.law("D8")
@pytest.mark.parametrize("waiter", [http_waiter, ndjson_waiter, forwarder, half_closed, with_an_unread_reply])
def test_the_request_of_a_connection_that_closes_is_withdrawn_at_once(
    daemon: Daemon, waiter: Callable[[Daemon], socket.socket]
) -> None:
    connection = waiter(daemon)
    [request] = daemon.until_pending(1)
    connection.close()
    soon(lambda: not daemon.pending(), what="no pending request")
    status, answer = daemon.decide(request, "allow")
    assert (status, answer["error"]["kind"]) == (409, "withdrawn")
    late = daemon.events("permission.decision")[-1]["data"]
    assert (late["decision_type"], late["late"]) == ("allow", True)


@pytest.mark.law("D8")
def test_a_client_that_dies_while_one_of_its_requests_is_answered_leaves_none_behind(daemon: Daemon) -> None:
    client = daemon.ndjson()
    client.send("n1", permission("one"))
    client.send("n2", permission("two"))
    first = daemon.until_pending(2)[0]
    client.half_close()
    client.close()
    daemon.decide(first, "allow")
    soon(lambda: not daemon.pending(), what="no pending request")


@pytest.mark.law("D5")
@pytest.mark.law("E3")
def test_an_envelope_with_the_id_of_another_request_never_takes_its_answer(daemon: Daemon) -> None:
    held = daemon.hold(permission("rm -rf build"))
    [request] = daemon.until_pending(1)
    with daemon.ndjson() as client:
        reply = client.ask(request["request_id"], permission("ls"))
        assert reply is not None
        assert "error" in reply
        assert daemon.pending() == [request]
        daemon.decide({**request, "digest": daemon.pending()[0]["digest"]}, "deny")
        assert decision_in(held.answer()[1]) == "deny"


@pytest.mark.law("D11")
def test_two_connections_with_one_envelope_are_both_answered(daemon: Daemon) -> None:
    first, second = resend_at_once(daemon)
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="no")[0] == 200
    replies = [client.read() for client in (first, second)]
    assert [r["payload"]["action"] for r in replies if r] == ["json_output"] * 2


@pytest.mark.law("D11")
def test_a_second_connection_goes_on_waiting_when_the_first_closes(daemon: Daemon) -> None:
    first, second = resend_at_once(daemon)
    daemon.until_pending(1)
    first.close()
    with daemon.ndjson() as other:
        other.ask("later", prompt("time passes"))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="no")[0] == 200
    reply = second.read()
    assert reply is not None
    assert reply["payload"]["action"] == "json_output"


def resend_at_once(daemon: Daemon) -> tuple[Ndjson, Ndjson]:
    """The same envelope on two connections, read by the daemon in one batch."""
    first, second = daemon.ndjson(), daemon.ndjson()
    first.ask("warm-1", prompt("a"))
    second.ask("warm-2", prompt("b"))
    with daemon.paused():
        first.send("same", permission("ls"))
        second.send("same", permission("ls"))
    return first, second


@pytest.mark.law("D3")
@pytest.mark.law("D6")
def test_a_decision_that_meets_the_end_of_the_session_is_late_and_not_lost(daemon: Daemon) -> None:
    """A decision, the session's end and another decision are read in one batch."""
    deciders = [Decider(daemon) for _ in range(8)]
    for n in range(10):
        held = daemon.hold(permission("ls", f"s{n}"))
        ending = daemon.hold(prompt("hello", f"s{n}"))
        [request] = daemon.until_pending(1)
        assert ending.answer(close=False)[0] == 204
        with daemon.paused():
            for decider in deciders[:4]:
                decider.send(request)
            ending.send({"hook_event_name": "SessionEnd", "session_id": f"s{n}", "reason": "other"})
            for decider in deciders[4:]:
                decider.send(request)
        outcomes = [decider.outcome() for decider in deciders]
        assert ending.answer()[0] == 204
        assert held.answer()[0] in (200, 204)
        assert set(outcomes) <= {(200, None), (409, "already_decided"), (409, "withdrawn")}
        decisions = [e["data"] for e in daemon.events("permission.decision")]
        assert sum(d["request_id"] == request["request_id"] for d in decisions) == len(deciders) + (
            (200, None) not in outcomes
        )


class Decider:
    """A person with a connection that is already open."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._connection = daemon.hold(prompt("warm", "warm"))
        assert self._connection.answer(close=False)[0] == 204

    def send(self, request: Json) -> None:
        body = {"decision": "allow", "digest": request["digest"]}
        path = f"/api/v1/requests/{request['request_id']}/decision"
        self._connection.send(body, path=path, token=self._daemon.token)

    def outcome(self) -> tuple[int, str | None]:
        status, body = self._connection.answer(close=False)
        return status, json.loads(body).get("error", {}).get("kind")


@pytest.mark.law("D13")
@pytest.mark.law("E9")
def test_a_client_that_never_reads_does_not_keep_the_daemon_from_stopping(daemon: Daemon) -> None:
    stalled = daemon.ndjson()
    for n in range(10_000):
        stalled.send(f"n{n}", prompt("hello"))
    held = daemon.hold(permission("ls"))
    daemon.until_pending(1)
    daemon.terminate()
    assert held.answer() == (204, b"")
    assert daemon.ended() == 0


@pytest.mark.law("D11")
@pytest.mark.law("D12")
def test_after_a_kill_a_repeated_envelope_gets_the_decision_or_waits_again(daemon: Daemon) -> None:
    clients = [daemon.ndjson() for _ in range(2)]
    clients[0].send("decided", permission("make one"))
    clients[1].send("open", permission("make two"))
    requests = {r["request_id"]: r for r in daemon.until_pending(2)}
    http_waiter = daemon.hold(permission("make three", "over-http"))
    daemon.until_pending(3)
    assert daemon.decide(requests["decided"], "deny", message="not on main")[0] == 200
    daemon.kill9()
    assert http_waiter.answer()[0] == 0
    daemon.restart()
    assert daemon.pending() == []
    assert daemon.api("GET", "/sessions/over-http")[1]["agent_state"] == "waiting_permission"
    with daemon.ndjson() as again:
        reply = again.ask("decided", permission("make one"))
        assert reply is not None
        decision = reply["payload"]["stdout_json"]["hookSpecificOutput"]["decision"]
        assert decision == {"behavior": "deny", "message": "not on main"}
        again.send("open", permission("make two"))
        [request] = daemon.until_pending(1)
        assert request["digest"] == requests["open"]["digest"]
        assert daemon.decide(request, "allow")[0] == 200
        reply = again.read()
        assert reply is not None
        assert reply["payload"]["stdout_json"]["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


@pytest.mark.law("D9")
@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
@pytest.mark.parametrize(
    ("settings", "tool", "answer", "by"),
    [
        ({"DECIDE_WAIT_SECONDS": "{}"}, "ls", (204, ""), ("deadline", "timeout", "expired")),
        (
            {"UNATTENDED_HIGH": "deny", "UNATTENDED_AFTER_SECONDS": "{}"},
            "sudo ls",
            (200, "deny"),
            ("unattended.high", "timeout", None),
        ),
    ],
    ids=["a deadline", "a policy"],
)
def test_it_comes_in_its_own_time_whatever_the_clock_says(
    tmp_path: Path,
    fork_server: ForkServer,
    settings: dict[str, str],
    tool: str,
    answer: tuple[int, str],
    by: tuple[str | None, ...],
    jump: float,
) -> None:
    def comes_after(seconds: float) -> bool:
        """Whether the clock was set while the request waited, and its wait did not end by that."""
        home, jumped = tmp_path / f"home-{seconds}", tmp_path / f"jump-{seconds}"
        env = {f"QUARTERDECK_{name}": value.format(seconds) for name, value in settings.items()}
        launch = fork_server.launch("--clock-jump", str(jump), "--jump-when", str(jumped))
        with Daemon(home, env=env, launch=launch) as daemon:
            started = time.monotonic()
            held = daemon.hold(permission(tool))
            until(lambda: daemon.events("permission.request"), what="the request")
            jumped.touch()
            still_waits = daemon.pending() != []
            status, body = held.answer()
            assert time.monotonic() - started > seconds - 0.1
            assert (status, decision_in(body) if body else "") == answer
            [decision] = daemon.events("permission.decision")
            assert tuple(decision["data"].get(name) for name in ("by", "source", "status")) == by
            return still_waits and abs(decision["at"] - time.time() - jump) < 3600

    assert any(comes_after(seconds) for seconds in LONGER_AND_LONGER)
