"""A real hub: events of runners stored once and in order, identities, machines that are away, commands and queries."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from websockets.exceptions import InvalidStatus

from quarterdeck.link.messages import (
    REFUSED,
    CommandResultMessage,
    QueryResultMessage,
    RefusalMessage,
    RegisteredMessage,
    RemoteCommand,
    RemoteQuery,
)
from tests.support.daemon import Json, until
from tests.support.hub import HubProcess, SimulatedRunner, link_event, request_view, session_view


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubProcess]:
    with HubProcess(tmp_path / "hub") as process:
        yield process


def numbers(events: list[Json], runner_id: str) -> list[int]:
    return [one["seq_no"] for one in events if one["runner_id"] == runner_id]


def away(hub: HubProcess, runner_id: str) -> None:
    until(lambda: hub.runner(runner_id)["state"] == "away", what="a machine that is away")


def send_events(runner: SimulatedRunner, first: int, last: int) -> None:
    """Send these events, and wait until the last one is acknowledged."""
    runner.backfill(*(link_event(runner.runner_id, n) for n in range(first, last + 1)))
    acknowledged(runner, last)


def acknowledged(runner: SimulatedRunner, last: int) -> None:
    """Wait until this event is acknowledged."""
    while runner.acknowledgement() < last:
        pass


@pytest.mark.law("H1")
@pytest.mark.law("H2")
def test_events_of_two_machines_are_served_once_in_the_order_of_arrival(hub: HubProcess) -> None:
    with (
        SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as a,
        SimulatedRunner(hub, hub.enroll("b")["token"], "b-1") as b,
    ):
        assert a.join(seq_no=3).last_seq_no == 0
        b.join(seq_no=2)
        send_events(a, 1, 2)
        send_events(b, 1, 2)
        a.backfill(link_event("a-1", 2), link_event("a-1", 3))
        acknowledged(a, 3)
    found = hub.feed()
    assert [(one["runner_id"], one["seq_no"]) for one in found] == [
        ("a-1", 1),
        ("a-1", 2),
        ("b-1", 1),
        ("b-1", 2),
        ("a-1", 3),
    ]
    assert [one["place"] for one in found] == sorted(one["place"] for one in found)
    assert numbers(hub.feed("&runner_id=b-1"), "b-1") == [1, 2]
    until(lambda: len(hub.feed("&q=words+2")) == 2)
    assert hub.api("GET", "/events/s1:R1:E1")[1]["error"]["kind"] == "ambiguous"
    status, event = hub.api("GET", "/events/s1:R1:E1?runner_id=b-1")
    assert (status, event["runner_id"], event["payload_status"]) == (200, "b-1", "elsewhere")


@pytest.mark.law("H1")
@pytest.mark.law("H2")
def test_a_hub_killed_and_restarted_has_lost_and_doubled_nothing(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    total, acked = 1000, 0
    for _ in range(4):
        with SimulatedRunner(hub, token, "a-1") as runner:
            last = runner.join(seq_no=total).last_seq_no
            assert last >= acked
            for first in range(last + 1, min(total, last + 150) + 1, 10):
                runner.backfill(*(link_event("a-1", n) for n in range(first, first + 10)))
            acked = runner.acknowledgement()
            hub.kill9()
        hub.restart()
    with SimulatedRunner(hub, token, "a-1") as runner:
        last = runner.join(seq_no=total).last_seq_no
        assert last >= acked
        for first in range(last + 1, total + 1, 10):
            runner.backfill(*(link_event("a-1", n) for n in range(first, min(first + 10, total + 1))))
        acknowledged(runner, total)
    assert numbers(hub.feed(), "a-1") == list(range(1, total + 1))


@pytest.mark.law("H1")
def test_a_hub_restored_from_an_older_backup_is_sent_the_rest_again(hub: HubProcess, tmp_path: Path) -> None:
    token = hub.enroll("a")["token"]
    with SimulatedRunner(hub, token, "a-1") as runner:
        runner.join(seq_no=9)
        send_events(runner, 1, 4)
    hub.stop()
    shutil.copy(hub.home / "hub.db", tmp_path / "backup.db")
    hub.restart()
    with SimulatedRunner(hub, token, "a-1") as runner:
        assert runner.join(seq_no=9).last_seq_no == 4
        send_events(runner, 5, 9)
    hub.stop()
    for name in ("hub.db-wal", "hub.db-shm"):
        (hub.home / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", hub.home / "hub.db")
    hub.restart()
    with SimulatedRunner(hub, token, "a-1") as runner:
        assert runner.join(seq_no=9).last_seq_no == 4
        send_events(runner, 5, 9)
    assert numbers(hub.feed(), "a-1") == list(range(1, 10))


@pytest.mark.law("H1")
def test_another_content_under_a_known_number_is_a_conflict_that_is_shown(hub: HubProcess) -> None:
    with SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as runner:
        runner.join(seq_no=3)
        send_events(runner, 1, 2)
        runner.backfill(link_event("a-1", 2, "another story"), link_event("a-1", 3))
        acknowledged(runner, 3)
        until(lambda: hub.runner("a-1")["conflicts"] == 1)
        assert hub.runner("a-1")["state"] == "conflict"
    assert [one["data"]["prompt"] for one in hub.feed()] == ["words 1", "words 2", "words 3"]
    entries = hub.api("GET", "/audit?kind=hub.conflict")[1]["audit"]
    assert "event 2" in entries[0]["about"]


@pytest.mark.law("H7")
def test_a_second_holder_of_an_identity_is_refused_and_both_are_shown(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    with SimulatedRunner(hub, token, "a-1", "first") as first:
        first.join()
        with SimulatedRunner(hub, token, "a-1", "second") as second:
            answer = second.register()
            assert isinstance(answer, RefusalMessage)
            assert answer.kind == "conflict"
            assert second.closed() == REFUSED
        entry = hub.runner("a-1")
        assert (entry["state"], len(entry["rivals"]), entry["address"]) == ("conflict", 1, "127.0.0.1")
        send_events(first, 1, 2)
        assert hub.api("DELETE", "/runners/a-1")[0] == 200
        assert first.closed() == REFUSED
    with SimulatedRunner(hub, token, "a-1", "second") as second:
        answer = second.read()
        assert isinstance(answer, RefusalMessage)
        assert answer.kind == "expelled"
    again_token = hub.enroll("again")["token"]
    with SimulatedRunner(hub, again_token, "a-1", "second") as second:
        assert second.join().last_seq_no == 2
        assert hub.runner("a-1")["state"] == "ready"


@pytest.mark.law("H6")
def test_the_same_runner_takes_its_own_place_with_a_higher_epoch(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    with SimulatedRunner(hub, token, "a-1") as first:
        epoch = first.join().epoch
        with SimulatedRunner(hub, token, "a-1") as second:
            assert second.join().epoch > epoch
            assert first.closed() is not None
            send_events(second, 1, 1)
            assert hub.runner("a-1")["state"] == "ready"


@pytest.mark.law("H5")
@pytest.mark.law("H16")
def test_a_credential_is_of_one_machine_and_reaches_nothing_else(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    with pytest.raises(InvalidStatus):
        SimulatedRunner(hub, "qdr_wrong", "a-1")
    with SimulatedRunner(hub, token, "a-1") as runner:
        runner.join()
    with SimulatedRunner(hub, token, "b-1") as other:
        answer = other.register()
        assert isinstance(answer, RefusalMessage)
        assert answer.kind == "unknown_runner"
    with SimulatedRunner(hub, token, "a-1") as runner:
        runner.join()
        runner.backfill(link_event("b-1", 1))
        assert runner.closed() is not None
    assert hub.feed() == []
    status, _ = hub._call("GET", "/api/v1/sessions", None, token, 10.0)
    assert status == 401


def answering(runner: SimulatedRunner, answers: dict[str, Any]) -> threading.Thread:
    """Answer every command and query of the hub by its name."""

    def answer() -> None:
        while answers:
            message = runner.read()
            if isinstance(message, RemoteCommand | RemoteQuery):
                status, body = answers.pop(message.name)
                seen.append(message)
                shape = CommandResultMessage if isinstance(message, RemoteCommand) else QueryResultMessage
                runner.send(shape(id=message.id, ok=status < 400, status=status, body=Raw(json.dumps(body).encode())))

    seen: list[RemoteCommand | RemoteQuery] = []
    thread = threading.Thread(target=answer, daemon=True)
    thread.seen = seen  # type: ignore[attr-defined]
    thread.start()
    return thread


@pytest.mark.law("H8")
@pytest.mark.law("H15")
def test_a_decision_goes_to_the_machine_and_its_answer_comes_back(hub: HubProcess) -> None:
    with SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as runner:
        runner.join()
        runner.view(snapshot=True, sessions=[session_view("a-1", "s1")], requests=[request_view("a-1", "q1")])
        until(lambda: len(hub.pending_views()) == 1)
        won = {"error": {"kind": "already_decided", "message": "the request is already allowed"}}
        thread = answering(runner, {"decide": (409, won), "get_request": (200, {"request_id": "q1", "whole": True})})
        body = {"decision": "allow", "digest": "d" * 64}
        assert hub.api("POST", "/requests/q1/decision", body) == (409, won)
        assert hub.api("GET", "/requests/q1")[1]["whole"] is True
        thread.join(10)
        command = thread.seen[0]  # type: ignore[attr-defined]
        assert command.args == {"request_id": "q1", **body}
        assert command.actor == "owner"
        assert "approve" in command.scope.split()
        assert command.epoch == 1
    entries = hub.api("GET", "/audit?kind=hub.command")[1]["audit"]
    assert [(one["who"], one["about"], one["what"]["outcome"]) for one in entries] == [
        ("owner", "decide q1", "already_decided")
    ]


@pytest.mark.law("H9")
def test_a_machine_that_is_away_is_shown_with_its_age_and_takes_no_decision(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    with SimulatedRunner(hub, token, "a-1") as runner:
        runner.join()
        runner.view(snapshot=True, sessions=[session_view("a-1", "s1")], requests=[request_view("a-1", "q1")])
        until(lambda: len(hub.pending_views()) == 1)
        assert hub.pending_views()[0]["decisions"] == ["allow", "deny"]
    away(hub, "a-1")
    shown = hub.pending_views()[0]
    assert shown["decisions"] == []
    assert shown["away_since"] >= shown["seen_at"] > 0
    session = hub.api("GET", "/sessions/s1")[1]
    assert session["actions"] == [{"name": "send", "possible": False, "reason": "its machine is away"}]
    body = {"decision": "allow", "digest": "d" * 64}
    status, refused = hub.api("POST", "/requests/q1/decision", body)
    assert (status, refused["error"]["kind"], refused["error"]["runner_id"]) == (503, "undeliverable", "a-1")
    status, refused = hub.api("GET", "/requests/q1")
    assert (status, refused["error"]["kind"]) == (503, "runner_away")
    assert refused["error"]["last_known"]["request_id"] == "q1"
    status, body = hub.api("GET", "/projects")
    assert (status, body["projects"], body["missing"][0]["kind"]) == (200, [], "runner_away")
    hub.stop()
    hub.restart()
    assert hub.pending_views()[0]["request_id"] == "q1"
    with SimulatedRunner(hub, token, "a-1") as runner:
        runner.join()
        thread = answering(runner, {"get_request": (200, {"request_id": "q1"})})
        assert hub.api("GET", "/requests/q1")[0] == 200
        assert [one.name for one in thread.seen] == ["get_request"]  # type: ignore[attr-defined]


def test_a_bare_id_of_two_machines_is_ambiguous(hub: HubProcess) -> None:
    with (
        SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as a,
        SimulatedRunner(hub, hub.enroll("b")["token"], "b-1") as b,
    ):
        for runner in (a, b):
            runner.join()
            runner.view(snapshot=True, sessions=[session_view(runner.runner_id, "s1")])
        until(lambda: len(hub.api("GET", "/sessions")[1]["sessions"]) == 2)
        status, body = hub.api("GET", "/sessions/s1")
        assert (status, body["error"]["kind"]) == (409, "ambiguous")
        assert sorted(body["error"]["runner_ids"]) == ["a-1", "b-1"]
        assert hub.api("GET", "/sessions/s1?runner_id=b-1")[1]["runner_id"] == "b-1"
        assert hub.api("GET", "/sessions/s9")[0] == 404
        assert hub.api("POST", "/rules", {"effect": "deny", "pattern": "Bash(x)", "scope": "user"})[0] == 422


def test_the_hub_says_what_is_wrong_with_itself(hub: HubProcess) -> None:
    status, found = hub.api("GET", "/health")
    assert (status, found["status"]) == (200, "ok")
    assert (found["health"][0]["level"], found["health"][0]["says"]) == ("good", "running")


def test_bad_runners_are_refused_and_others_go_on(hub: HubProcess) -> None:
    token = hub.enroll("a")["token"]
    with SimulatedRunner(hub, hub.enroll("b")["token"], "b-1") as good:
        good.join()
        for frame in ("nonsense", b"\x00\x01", '{"type":"ping"', '{"type":"event","events":[]}'):
            with SimulatedRunner(hub, token, "a-1") as bad:
                bad.connection.send(frame)
                assert bad.closed() is not None
        with SimulatedRunner(hub, token, "a-1") as bad:
            answer = bad.register(protocol=99)
            assert isinstance(answer, RefusalMessage)
        with SimulatedRunner(hub, token, "a-1") as bad:
            assert isinstance(bad.register(seq_no=5), RegisteredMessage)
            bad.backfill(link_event("a-1", 3))
            assert bad.closed() is not None
        send_events(good, 1, 3)
    assert hub.feed("&runner_id=a-1") == []


def test_the_page_of_a_hub_is_signed_in_by_a_link_of_the_hub(hub: HubProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=30)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert (answer.status, b"<title>" in answer.read()) == (200, True)
    link = hub.api("POST", "/login-codes", {})[1]["url"]
    connection.request("GET", link.partition(str(hub.port))[2])
    answer = connection.getresponse()
    answer.read()
    cookie = str(answer.getheader("set-cookie")).partition(";")[0]
    assert answer.status == 303
    connection.request("GET", "/api/v1/me", headers={"Cookie": cookie})
    me = json.loads(connection.getresponse().read())
    assert me["kind"] == "page"
    connection.request("GET", "/api/v1/runners", headers={"Cookie": cookie, "Origin": "https://evil.example"})
    refused = connection.getresponse()
    assert (refused.status, json.loads(refused.read())["error"]["kind"]) == (403, "foreign_origin")
    connection.close()
    assert [one["kind"] for one in hub.api("GET", "/devices")[1]["devices"]] == ["page"]
    hub.stop()
    hub.restart()
    assert [one["kind"] for one in hub.api("GET", "/devices")[1]["devices"]] == ["page"]
