"""Who waits for an answer gets that answer and no other's; who has left is not waited for."""

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, HeldHook, Json, Ndjson, decision_in, permission, prompt, until
from tests.support.faulty import Nursery

pytestmark = pytest.mark.faults


def http_holder(daemon: Daemon) -> socket.socket:
    return daemon.hold(permission("ls")).socket


def ndjson_holder(daemon: Daemon) -> socket.socket:
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
@pytest.mark.parametrize("holder", [http_holder, ndjson_holder, forwarder, half_closed, with_an_unread_reply])
def test_a_holder_that_leaves_is_withdrawn_within_a_second(
    daemon: Daemon, holder: Callable[[Daemon], socket.socket]
) -> None:
    connection = holder(daemon)
    [request] = daemon.until_pending(1)
    connection.close()
    daemon.until_pending(0, 1.0)
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
    daemon.until_pending(0, 1.5)


@pytest.mark.law("D5")
@pytest.mark.law("E3")
def test_an_envelope_with_the_id_of_another_request_never_takes_its_answer(daemon: Daemon) -> None:
    held = daemon.hold(permission("rm -rf build"))
    [request] = daemon.until_pending(1)
    with daemon.ndjson() as client:
        reply = client.ask(request["request_id"], permission("ls"), 2)
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
    replies = [client.read(2) for client in (first, second)]
    assert [r["payload"]["action"] for r in replies if r] == ["json_output"] * 2


@pytest.mark.law("D11")
def test_a_second_connection_goes_on_waiting_when_the_first_leaves(daemon: Daemon) -> None:
    first, second = resend_at_once(daemon)
    daemon.until_pending(1)
    first.close()
    with daemon.ndjson() as other:
        other.ask("later", prompt("time passes"))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="no")[0] == 200
    reply = second.read(2)
    assert reply is not None
    assert reply["payload"]["action"] == "json_output"


def resend_at_once(daemon: Daemon) -> tuple[Ndjson, Ndjson]:
    """The same envelope on two connections, found by the daemon in one look."""
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
    """A decision, the session's end and another decision are found in one look."""
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
    deaf = daemon.ndjson()
    for n in range(10_000):
        deaf.send(f"n{n}", prompt("hello"))
    held = daemon.hold(permission("ls"))
    daemon.until_pending(1)
    daemon.terminate()
    assert held.answer(2) == (204, b"")
    assert daemon.ended(6) == 0


@pytest.mark.law("D11")
@pytest.mark.law("D12")
def test_after_a_kill_a_resent_envelope_learns_the_decision_or_waits_again(daemon: Daemon) -> None:
    clients = [daemon.ndjson() for _ in range(2)]
    clients[0].send("decided", permission("make one"))
    clients[1].send("open", permission("make two"))
    requests = {r["request_id"]: r for r in daemon.until_pending(2)}
    http_holder = daemon.hold(permission("make three", "over-http"))
    daemon.until_pending(3)
    assert daemon.decide(requests["decided"], "deny", message="not on main")[0] == 200
    daemon.kill9()
    assert http_holder.answer()[0] == 0
    daemon.restart()
    assert daemon.pending() == []
    assert daemon.api("GET", "/sessions/over-http")[1]["agent_state"] == "waiting_permission"
    with daemon.ndjson() as again:
        reply = again.ask("decided", permission("make one"))
        assert reply is not None
        said = reply["payload"]["stdout_json"]["hookSpecificOutput"]["decision"]
        assert said == {"behavior": "deny", "message": "not on main"}
        again.send("open", permission("make two"))
        [request] = daemon.until_pending(1)
        assert request["digest"] == requests["open"]["digest"]
        assert daemon.decide(request, "allow")[0] == 200
        reply = again.read()
        assert reply is not None
        assert reply["payload"]["stdout_json"]["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


@pytest.mark.law("D9")
@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_deadline_comes_in_its_own_time_whatever_the_clock_says(
    tmp_path: Path, nursery: Nursery, jump: float
) -> None:
    wait = {"QUARTERDECK_DECIDE_WAIT_SECONDS": "1.5"}
    launch = nursery.launch("--clock-jump", str(jump), "--jump-after", "0.6")
    with Daemon(tmp_path / "home", env=wait, launch=launch) as daemon:
        started = time.monotonic()
        held: HeldHook = daemon.hold(permission("ls"))
        [request] = daemon.until_pending(1)
        until(lambda: time.monotonic() - started > 0.8, 2, what="the jump")
        assert daemon.pending() == [request]
        assert held.answer(5) == (204, b"")
        assert 1.4 < time.monotonic() - started < 4.0
        [decision] = daemon.events("permission.decision")
        assert (decision["data"]["status"], decision["data"]["source"]) == ("expired", "timeout")
        assert abs(decision["at"] - time.time() - jump) < 60


@pytest.mark.law("D9")
@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_policy_comes_in_its_own_time_whatever_the_clock_says(tmp_path: Path, nursery: Nursery, jump: float) -> None:
    policy = {"QUARTERDECK_UNATTENDED_HIGH": "deny", "QUARTERDECK_UNATTENDED_AFTER_SECONDS": "1.5"}
    launch = nursery.launch("--clock-jump", str(jump), "--jump-after", "0.6")
    with Daemon(tmp_path / "home", env=policy, launch=launch) as daemon:
        started = time.monotonic()
        held: HeldHook = daemon.hold(permission("sudo ls"))
        status, body = held.answer(5)
        assert 1.4 < time.monotonic() - started < 4.0
        assert (status, decision_in(body)) == (200, "deny")
        [decision] = daemon.events("permission.decision")
        assert (decision["data"]["by"], decision["data"]["source"]) == ("unattended.high", "timeout")
