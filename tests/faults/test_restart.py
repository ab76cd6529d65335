"""A request that waits outlives its daemon: killed, stopped by a signal, or hung."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import quarterdeck.hook
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json, permission, soon, until
from tests.support.failpoints import ForkServer

pytestmark = pytest.mark.faults

HOOK = str(Path(quarterdeck.hook.__file__).resolve())
HEADLESS = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
"""An agent without a dialog, which `decide.hold: auto` holds only while a person watches."""


def kill(daemon: Daemon) -> None:
    daemon.kill9()


def terminate(daemon: Daemon) -> None:
    daemon.terminate()
    assert daemon.ended() == 0


ENDS = pytest.mark.parametrize("end", [kill, terminate])


class Agent:
    """A hook call of an agent, held by the real forwarder."""

    def __init__(self, daemon: Daemon, command: str, *args: str, **env: str) -> None:
        argv = [sys.executable, "-I", "-S", HOOK, "--socket", str(daemon.socket_path), *args]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(permission(command)).encode())
        self._process.stdin.close()
        self._process.stdin = None

    def answer(self) -> tuple[int, str]:
        """The exit code and the decision it has printed; `pass` for none."""
        out, _ = self._process.communicate(timeout=PATIENCE_SECONDS)
        decision = json.loads(out)["hookSpecificOutput"]["decision"]["behavior"] if out else "pass"
        return self._process.returncode, decision

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def agent(daemon: Daemon, command: str, *args: str, **env: str) -> Iterator[Agent]:
    waits = Agent(daemon, command, *args, **env)
    try:
        yield waits
    finally:
        waits.close()


def returned(daemon: Daemon, request: Json) -> Json:
    """The request once its agent is back."""

    def connected() -> Json | None:
        return next((r for r in daemon.pending() if r["holder"] == "connected"), None)

    found = until(connected, every=0.02, what=f"a connected {request['request_id']}") or {}
    assert {**found, "risk": None} == {**request, "risk": None}
    return found


@pytest.mark.law("D11")
@ENDS
def test_a_held_request_survives_a_restart_and_is_decided(daemon: Daemon, end: Callable[[Daemon], None]) -> None:
    with agent(daemon, "make one") as waits:
        [request] = daemon.until_pending(1)
        assert request["holder"] == "connected"
        for _ in range(2):
            end(daemon)
            daemon.restart()
            started = time.monotonic()
            found = returned(daemon, request)
            assert time.monotonic() - started < PATIENCE_SECONDS
        assert daemon.decide(found, "deny", message="not now")[0] == 200
        assert waits.answer() == (0, "deny")
    assert len(daemon.events("permission.request")) == 1
    assert ["status" in e["data"] for e in daemon.events("permission.decision")] == [False]


@pytest.mark.law("D11")
def test_a_headless_request_stays_held_although_nobody_is_seen_after_the_restart(tmp_path: Path) -> None:
    env = {"QUARTERDECK_DECIDE_HOLD": "auto"}
    with Daemon(tmp_path / "home", env=env) as daemon:
        daemon.pending()  # a person is there
        with agent(daemon, "make headless", **HEADLESS) as waits:
            [request] = daemon.until_pending(1)
            daemon.kill9()
            daemon.restart()
            time.sleep(1.0)  # the daemon looks every 0.25 s whether someone is there
            assert daemon.decide(returned(daemon, request), "allow")[0] == 200
            assert waits.answer() == (0, "allow")


@pytest.mark.law("D11")
def test_a_decision_while_the_agent_is_away_is_refused(daemon: Daemon) -> None:
    connection = daemon.forwarder(permission("make away"))
    [request] = daemon.until_pending(1)
    daemon.kill9()
    assert connection.read_all() == b"ack\n"
    daemon.restart()
    [away] = daemon.pending()
    assert away == {**request, "holder": "reconnecting", "risk": away["risk"]}
    status, refused = daemon.decide(request, "allow")
    assert (status, refused["error"]["kind"]) == (409, "holder_away")
    assert daemon.pending() == [away]
    again = daemon.forwarder(permission("make away"))
    assert daemon.decide(returned(daemon, request), "deny", message="no")[0] == 200
    assert again.read_all().startswith(b"ack\n1 ")
    [decided] = daemon.api("GET", "/requests?status=decided")[1]["requests"]
    assert decided["holder"] == "gone"


@pytest.mark.law("D11")
@pytest.mark.law("D12")
def test_a_decision_that_was_committed_reaches_the_agent_that_comes_back(daemon: Daemon) -> None:
    daemon.forwarder(permission("make committed"))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="not on main")[0] == 200
    daemon.kill9()
    daemon.restart()
    answer = daemon.forwarder(permission("make committed")).read_all()
    assert b"not on main" in answer
    assert daemon.pending() == []


@pytest.mark.law("D11")
def test_a_client_with_ack_keeps_its_request_and_one_without_gets_it_again(daemon: Daemon) -> None:
    with daemon.ndjson() as acked, daemon.ndjson() as plain:
        acked.send("acked", permission("make one"), ack=True)
        reply = acked.read()
        assert reply is not None
        assert (reply["request_id"], reply["ack"]) == ("acked", True)
        plain.send("plain", permission("make two"))
        requests = {r["request_id"]: r for r in daemon.until_pending(2)}
        daemon.kill9()
    daemon.restart()
    assert [r["request_id"] for r in daemon.pending()] == ["acked"]
    with daemon.ndjson() as again:
        again.send("acked", permission("make one"), ack=True)
        assert (again.read() or {})["ack"] is True
        found = returned(daemon, requests["acked"])
        assert daemon.decide(found, "allow")[0] == 200
        assert (again.read() or {})["payload"]["action"] == "json_output"


@pytest.mark.law("D8")
def test_a_request_that_came_back_is_withdrawn_when_its_connection_closes(daemon: Daemon) -> None:
    daemon.forwarder(permission("make gone"))
    [request] = daemon.until_pending(1)
    daemon.kill9()
    daemon.restart()
    again = daemon.forwarder(permission("make gone"))
    returned(daemon, request)
    again.close()
    soon(lambda: not daemon.pending(), what="no pending request")


@pytest.mark.law("D13")
def test_sigterm_leaves_what_comes_back_and_releases_the_rest(daemon: Daemon) -> None:
    returning = [daemon.forwarder(permission(f"make {n}", f"s{n}"), f"c{n}") for n in range(200)]
    http = daemon.hold(permission("make http", "http"))
    older = daemon.ndjson()
    older.send("old", permission("make old", "old"))
    daemon.until_pending(202)
    terminate(daemon)
    assert http.answer() == (204, b"")
    assert ((older.read() or {})["payload"]) == {"action": "passthrough"}
    assert {one.read_all() for one in returning} == {b"ack\n"}
    daemon.restart()
    assert {r["holder"] for r in daemon.until_pending(200)} == {"reconnecting"}
    again = [daemon.forwarder(permission(f"make {n}", f"s{n}"), f"c{n}") for n in range(200)]
    until(lambda: {r["holder"] for r in daemon.pending()} == {"connected"}, what="200 agents")
    for request in daemon.pending():
        assert daemon.decide(request, "allow")[0] == 200
    assert all(b'"allow"' in one.read_all() for one in again)
    assert len(daemon.events("permission.request")) == 202


@pytest.mark.law("D13")
@pytest.mark.parametrize("gate", [(), ("--enforce",)], ids=["assist", "enforce"])
def test_an_interrupt_releases_every_agent_for_good(daemon: Daemon, gate: tuple[str, ...]) -> None:
    with agent(daemon, "make released", *gate) as waits:
        daemon.until_pending(1)
        daemon.interrupt()
        assert waits.answer() == (0, "pass")
    assert daemon.ended() == 0
    assert [e["data"]["status"] for e in daemon.events("permission.decision")] == ["withdrawn"]


@pytest.mark.law("E3")
def test_a_call_with_the_id_of_another_is_refused(daemon: Daemon) -> None:
    first = daemon.forwarder(permission("make one"))
    [request] = daemon.until_pending(1)
    assert daemon.forwarder(permission("make two")).read_all() == b"0 0\n"
    assert daemon.forwarder(permission("make two"), gate="enforce").read_all().startswith(b"2 ")
    assert daemon.pending() == [request]
    daemon.decide(request, "allow")
    assert b'"allow"' in first.read_all()


@pytest.mark.parametrize("call_id", ["", "a b", "x" * 129, "../up", "a\u00e9"])
def test_a_call_without_a_proper_id_is_refused(daemon: Daemon, call_id: str) -> None:
    assert daemon.forwarder(permission("make one"), call_id, gate="enforce").read_all().startswith(b"2 ")
    assert daemon.pending() == []


@pytest.mark.law("E15")
@pytest.mark.parametrize("gate", [(), ("--enforce",)], ids=["assist", "enforce"])
def test_a_hung_daemon_is_given_up_on(daemon: Daemon, gate: tuple[str, ...]) -> None:
    with daemon.paused(), agent(daemon, "make hung", *gate) as waits:
        assert waits.answer() == ((2, "pass") if gate else (0, "pass"))
    soon(lambda: not daemon.pending(), what="no pending request")


def test_an_older_forwarder_is_served_as_before(daemon: Daemon) -> None:
    client = daemon.ndjson()
    body = json.dumps(permission("make old")).encode()
    client.send_raw(b"QDHOOK/1 %d assist cli - -\n%s" % (len(body), body))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "allow")[0] == 200
    assert client.read_all().startswith(b"1 ")
    other = daemon.ndjson()
    other.send_raw(b"QDHOOK/1 %d assist cli - -\n%s" % (len(body), body))
    daemon.until_pending(1)
    daemon.kill9()
    daemon.restart()
    assert daemon.pending() == []


def test_a_large_call_is_acknowledged_before_it_is_read(daemon: Daemon, fork_server: ForkServer) -> None:
    client = daemon.forwarder(permission("make " + "x" * 600_000))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "allow")[0] == 200
    assert client.read_all().startswith(b"ack\nack\n1 ")
