"""Two real daemons joined to a real hub: their logs arrive whole, and a request is decided here, there and by both."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from quarterdeck.daemon.setup.joined_hub import join
from tests.contract.test_cli import qd
from tests.support.daemon import Daemon, HeldHook, Json, decision_in, permission, prompt, until
from tests.support.hub import HubProcess

FAST = {"QUARTERDECK_HUB_RECONNECT_INITIAL_SECONDS": "0.05", "QUARTERDECK_HUB_RECONNECT_MAX_SECONDS": "0.2"}


class Fleet:
    """A hub and the daemons that have joined it."""

    def __init__(self, folder: Path, exits: ExitStack) -> None:
        self._folder, self._exits = folder, exits
        self.hub = exits.enter_context(HubProcess(folder / "hub"))

    def daemon(self, name: str, **env: str) -> Daemon:
        """A daemon that has joined the hub."""
        home = self._folder / name
        home.mkdir(mode=0o700)
        join(home, self.hub.url, self.hub.enroll(name)["token"])
        daemon = self._exits.enter_context(Daemon(home, env={**FAST, **env}))
        until(lambda: self.state(daemon) == "ready", what=f"{name} connected")
        return daemon

    def state(self, daemon: Daemon) -> str:
        known = {one["runner_id"]: one for one in self.hub.api("GET", "/runners")[1]["runners"]}
        return str(known.get(runner_id(daemon), {}).get("state"))

    def until_same(self, daemon: Daemon) -> None:
        """The hub has the log of this daemon: every event once, in its order."""
        where = f"&runner_id={runner_id(daemon)}"
        until(lambda: len(self.hub.feed(where)) >= len(daemon.events()), every=0.1, what="the whole log at the hub")
        assert [one["event_id"] for one in self.hub.feed(where)] == [one["event_id"] for one in daemon.events()]

    def until_pending(self, count: int = 1) -> list[Json]:
        until(lambda: len(self.hub.pending_views()) == count, every=0.02, what=f"{count} pending requests at the hub")
        return self.hub.pending_views()

    def decide(self, request: Json, decision: str) -> tuple[int, Json]:
        body = {"decision": decision, "digest": request["digest"]}
        status, answer = self.hub.api("POST", f"/requests/{request['request_id']}/decision", body)
        return status, answer


def runner_id(daemon: Daemon) -> str:
    return str(daemon.note()["runner_id"])


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as exits:
        yield Fleet(tmp_path, exits)


@pytest.mark.law("H1")
@pytest.mark.law("H4")
def test_the_logs_of_two_machines_survive_kills_of_the_hub(fleet: Fleet) -> None:
    one, two = fleet.daemon("one"), fleet.daemon("two")
    for round_number in range(3):
        for n in range(20):
            for daemon in (one, two):
                assert daemon.hook(prompt(f"round {round_number} step {n}", f"s-{daemon.home.name}"))[0] < 300
        fleet.hub.kill9()
        for daemon in (one, two):
            daemon.hook(prompt(f"while the hub is away {round_number}", f"s-{daemon.home.name}"))
        fleet.hub.restart()
    for daemon in (one, two):
        fleet.until_same(daemon)
    places = [event["place"] for event in fleet.hub.feed()]
    assert places == sorted(set(places))
    until(lambda: len(fleet.hub.api("GET", "/sessions")[1]["sessions"]) == 2)
    sessions = fleet.hub.api("GET", "/sessions")[1]["sessions"]
    assert {session["runner_id"] for session in sessions} == {runner_id(one), runner_id(two)}


@pytest.mark.law("H15")
@pytest.mark.law("H8")
def test_a_request_is_decided_at_the_hub_in_the_name_of_the_person(fleet: Fleet) -> None:
    daemon = fleet.daemon("one")
    held = daemon.hold(permission("git push"))
    (request,) = fleet.until_pending()
    status, card = fleet.hub.api("GET", f"/requests/{request['request_id']}")
    assert (status, card["tool_input"]) == (200, {"command": "git push"})
    wrong = {**request, "digest": "0" * 64}
    assert fleet.decide(wrong, "allow")[1]["error"]["kind"] == "digest_mismatch"
    status, decision = fleet.decide(request, "allow")
    assert (status, decision["decision"]) == (200, "allow")
    assert decision_in(held.answer()[1]) == "allow"
    recorded = daemon.events("permission.decision")[0]["data"]["by"]
    assert "owner" in recorded
    assert "through the hub" in recorded
    fleet.until_pending(0)
    entries = fleet.hub.api("GET", "/audit?kind=hub.command&kind=permission.decision")[1]["audit"]
    commands = [one for one in entries if one["kind"] == "hub.command"]
    assert [one["what"]["outcome"] for one in commands] == ["digest_mismatch", "done"]
    assert {one["who"] for one in commands} == {"owner"}
    assert fleet.decide(request, "deny")[1]["error"]["kind"] == "already_decided"


@pytest.mark.law("H15")
def test_decided_at_the_machine_and_at_both_at_once_the_log_of_the_machine_decides(fleet: Fleet) -> None:
    daemon = fleet.daemon("one")
    for round_number in range(5):
        held = daemon.hold(permission(f"make {round_number}"))
        (request,) = fleet.until_pending()
        results: dict[str, tuple[int, Json]] = {}
        threads = [
            threading.Thread(target=lambda: results.update(hub=fleet.decide(request, "deny"))),  # noqa: B023
            threading.Thread(target=lambda: results.update(here=daemon.decide(request, "allow"))),  # noqa: B023
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = [name for name, (status, _) in results.items() if status == 200]
        assert len(won) == 1
        assert sorted(status for status, _ in results.values()) == [200, 409]
        assert decision_in(held.answer()[1]) == {"hub": "deny", "here": "allow"}[won[0]]
        fleet.until_pending(0)
    assert len(daemon.events("permission.decision")) == 5 + len([e for e in daemon.events() if _is_late(e)])
    fleet.until_same(daemon)


def _is_late(event: Json) -> bool:
    return event["kind"] == "permission.decision" and bool(event["data"].get("late"))


@pytest.mark.law("H10")
def test_a_machine_that_grants_nothing_decides_for_itself(fleet: Fleet) -> None:
    daemon = fleet.daemon("one", QUARTERDECK_HUB_MAY="observe")
    held: HeldHook = daemon.hold(permission("git push"))
    (request,) = fleet.until_pending()
    status, answer = fleet.decide(request, "allow")
    assert (status, answer["error"]["kind"]) == (403, "not_granted")
    rule = {"effect": "allow", "pattern": "Bash(git push)", "scope": "user"}
    assert fleet.hub.api("POST", "/rules", rule)[0] == 403
    assert daemon.events("rule.add") == []
    assert daemon.decide(request, "deny")[0] == 200
    assert decision_in(held.answer()[1]) == "deny"


@pytest.mark.law("H9")
def test_a_machine_that_is_away_takes_no_decision_and_gets_none_later(fleet: Fleet) -> None:
    daemon = fleet.daemon("one")
    daemon.hold(permission("git push"))
    (request,) = fleet.until_pending()
    daemon.kill9()
    until(lambda: fleet.state(daemon) == "away")
    assert fleet.hub.pending_views()[0]["decisions"] == []
    status, answer = fleet.decide(request, "allow")
    assert (status, answer["error"]["kind"]) == (503, "undeliverable")
    daemon.restart()
    until(lambda: fleet.state(daemon) == "ready")
    fleet.until_same(daemon)
    assert [one for one in daemon.events("permission.decision") if one["data"].get("decision_type") == "allow"] == []


def test_questions_only_a_machine_can_answer_go_there(fleet: Fleet) -> None:
    one, two = fleet.daemon("one"), fleet.daemon("two")
    status, body = fleet.hub.api("GET", "/rules")
    assert (status, body["rules"], body["missing"]) == (200, [], [])
    where = f"?runner_id={runner_id(two)}"
    rule = {"effect": "deny", "pattern": "Bash(rm *)"}
    status, simulated = fleet.hub.api("POST", f"/rules/simulate{where}", rule | {"scope": "user"})
    assert (status, json.dumps(simulated)[:1]) == (200, "{")
    status, stats = fleet.hub.api("GET", f"/stats{where}")
    assert (status, stats["runner_id"]) == (200, runner_id(two))
    assert fleet.hub.api("GET", "/stats")[1]["runner_id"] not in (runner_id(one), runner_id(two))


def at_hub(fleet: Fleet, folder: Path, *words: str) -> str:
    """What a command prints that a person runs at the hub."""
    named = "--url", fleet.hub.url, "--token-file", str(fleet.hub.home / "token")
    result = qd(folder / "person", *named, *words)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.law("H10")
def test_a_rule_of_the_hub_decides_on_every_machine_also_without_the_hub(fleet: Fleet, tmp_path: Path) -> None:
    one, away = fleet.daemon("one"), fleet.daemon("two", QUARTERDECK_HUB_MAY="observe")
    away.kill9()
    until(lambda: fleet.state(away) == "away")
    assert "deny" in at_hub(fleet, tmp_path, "rules", "add", "Bash(rm:*)", "--effect", "deny", "--scope", "hub")
    until(lambda: one.events("rule.add"), what="the rule on a connected machine")
    away.restart()
    until(lambda: away.events("rule.add"), what="the rule on a machine that was away")
    for daemon in (one, away):
        assert decision_in(daemon.hook(permission("rm -rf build"))[1]) == "deny"
    until(lambda: fleet.hub.api("GET", "/rules")[1]["rules"][0]["hits"] == 2, what="the hits of both machines")
    [rule] = fleet.hub.api("GET", "/rules")[1]["rules"]
    assert (rule["scope"], rule["runner_id"]) == ("hub", fleet.hub.note()["hub_id"])
    assert rule["rule_id"] in at_hub(fleet, tmp_path, "rules", "list")
    [entry] = [
        e for e in fleet.hub.api("GET", "/audit?kind=rule.add")[1]["audit"] if e["runner_id"] == rule["runner_id"]
    ]
    assert (entry["who"], entry["about"]) == ("owner", "deny Bash(rm:*)")
    fleet.hub.kill9()
    for daemon in (one, away):
        [kept] = daemon.api("GET", "/rules")[1]["rules"]
        assert (kept["rule_id"], "at the hub" in kept["created_by"]) == (rule["rule_id"], True)
        assert decision_in(daemon.hook(permission("rm -rf build"))[1]) == "deny"
    fleet.hub.restart()
    assert [one["rule_id"] for one in fleet.hub.api("GET", "/rules")[1]["rules"]][:1] == [rule["rule_id"]]
    until(lambda: fleet.state(one) == fleet.state(away) == "ready")
    assert len(one.events("rule.add")) == 1
    at_hub(fleet, tmp_path, "rules", "remove", rule["rule_id"])
    for daemon in (one, away):
        until(lambda: daemon.api("GET", "/rules")[1]["rules"] == [], what="no rule of the hub")  # noqa: B023
    assert fleet.hub.api("GET", "/rules")[1]["rules"] == []


@pytest.mark.law("H10")
def test_an_allow_rule_of_the_hub_holds_only_where_it_is_granted(fleet: Fleet) -> None:
    granted = fleet.daemon("one", QUARTERDECK_HUB_MAY="observe,approve,rules")
    careful = fleet.daemon("two")
    rule = {"effect": "allow", "pattern": "Bash(make:*)", "scope": "hub"}
    assert fleet.hub.api("POST", "/rules", rule)[0] == 201
    until(lambda: granted.events("rule.add"), what="the rule where it is granted")
    assert decision_in(granted.hook(permission("make all"))[1]) == "allow"
    until(lambda: careful.api("GET", "/stats")[1]["hub"]["rules_refused"] == 1, what="the rule that is not taken")
    held = careful.hold(permission("make all"))
    [request] = careful.until_pending(1)
    assert careful.events("rule.add") == []
    careful.decide(request, "deny")
    held.answer()
    status, refused = careful.api("POST", "/rules", rule)
    assert (status, refused["error"]["field"]) == (422, "scope")


def test_a_rule_of_another_scope_is_made_on_the_machine_that_is_named(fleet: Fleet) -> None:
    one, two = (fleet.daemon(name, QUARTERDECK_HUB_MAY="observe,rules") for name in ("one", "two"))
    rule = {"effect": "deny", "pattern": "Bash(mv:*)", "scope": "user"}
    assert fleet.hub.api("POST", "/rules", rule)[0] == 422
    status, made = fleet.hub.api("POST", f"/rules?runner_id={runner_id(two)}", rule)
    assert (status, made["scope"]) == (201, "user")
    assert [len(daemon.api("GET", "/rules")[1]["rules"]) for daemon in (one, two)] == [0, 1]
