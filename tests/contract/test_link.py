"""A real daemon and a small hub: events, views, commands, rules and what stays on the machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.daemon.setup.joined_hub import join, leave, set_share
from quarterdeck.link.codec import event_hash
from quarterdeck.link.messages import AttendingMessage, HubRule, LinkSettings, RulesMessage
from tests.support.daemon import Daemon, Json, decision_in, permission, prompt, until
from tests.support.link_hub import TOKEN, LinkHub

FAST = {"QUARTERDECK_HUB_RECONNECT_INITIAL_SECONDS": "0.05", "QUARTERDECK_HUB_RECONNECT_MAX_SECONDS": "0.2"}
GENEROUS = {**FAST, "QUARTERDECK_HUB_MAY": "observe,approve,edit,prompt,launch,terminals,rules"}


@pytest.fixture
def hub() -> Iterator[LinkHub]:
    with LinkHub() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, hub: LinkHub) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    join(home, hub.url, TOKEN)
    return home


def link_of(daemon: Daemon) -> Json:
    found: Json = daemon.api("GET", "/stats")[1]["hub"]
    return found


def rows(daemon: Daemon) -> list[tuple[int, bytes]]:
    with daemon.db() as db:
        found = db.execute("SELECT seq_no, CAST(body AS BLOB) FROM events ORDER BY seq_no").fetchall()
    return [(seq_no, body) for seq_no, body in found]


def until_same(hub: LinkHub, daemon: Daemon) -> None:
    """The hub has every event of the log, once and in order."""
    until(lambda: [e.seq_no for e in hub.stored] == [n for n, _ in rows(daemon)], what="every event at the hub")
    assert [event.hash for event in hub.stored] == [event_hash(body) for _, body in rows(daemon)]


@pytest.mark.law("H1")
@pytest.mark.law("H4")
def test_events_before_and_after_joining_arrive_once_and_in_order(home: Path, hub: LinkHub) -> None:
    leave(home)
    with Daemon(home, env=FAST) as daemon:
        for n in range(5):
            daemon.hook(prompt(f"before {n}"))
        assert link_of(daemon) is None
        join(home, hub.url, TOKEN)
        hub.until_connected()
        for n in range(5):
            daemon.hook(prompt(f"after {n}"))
        until_same(hub, daemon)
        assert hub.tokens[-1] == f"Bearer {TOKEN}"
        until(lambda: link_of(daemon)["state"] == "ready", what="a ready link")
        assert link_of(daemon)["behind"] == 0


@pytest.mark.law("H1")
@pytest.mark.law("H2")
def test_cuts_restarts_and_an_older_backup_lose_and_double_nothing(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        for n in range(12):
            daemon.hook(prompt(f"prompt {n}"))
            if n % 3 == 0:
                hub.cut()
            if n == 5:
                daemon.kill9()
                daemon.restart()
        until_same(hub, daemon)
        hub.close()
        del hub.stored[7:]
        daemon.hook(prompt("while the hub is away"))
        hub.open()
        until_same(hub, daemon)
        assert hub.conflicts == []


@pytest.mark.law("H2")
def test_only_an_ack_moves_the_cursor(home: Path, hub: LinkHub) -> None:
    hub.is_holding = True
    with Daemon(home, env=FAST) as daemon:
        daemon.hook(prompt("hello"))
        until(lambda: hub.stored, what="an event that is not acknowledged")
        assert link_of(daemon)["acknowledged"] == 0
        assert link_of(daemon)["state"] == "backfilling"
        hub.acknowledge()
        until(lambda: link_of(daemon)["behind"] == 0, what="an acknowledged log")


def test_the_views_are_those_of_the_api(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        daemon.hook(prompt("hello"))
        hub.until_connected()
        daemon.hold(permission("git push"))
        [request] = daemon.until_pending(1)
        until(lambda: request["request_id"] in hub.requests, what="the request at the hub")
        until(lambda: hub.sessions.get("s1", {}).get("pending") == 1, what="the session at the hub")
        shown = hub.requests[request["request_id"]]
        assert shown["digest"] == request["digest"]
        assert shown.keys() == request.keys()
        daemon.decide(request, "allow")
        until(lambda: hub.requests[request["request_id"]]["status"] == "decided", what="the decision at the hub")
        hub.assigned = ["s1", "long gone"]
        hub.cut()
        until(lambda: hub.gone == ["long gone"], what="the sessions that do not run")


@pytest.mark.law("H15")
def test_a_person_at_the_hub_decides_and_both_records_say_so(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        hub.until_connected()
        held = daemon.hold(permission("git push"))
        [request] = daemon.until_pending(1)
        named = {"request_id": request["request_id"], "decision": "allow"}
        assert hub.command("decide", **named, digest="0" * 64)[0] == 409
        status, decision = hub.command("decide", **named, digest=request["digest"])
        assert status == 200
        assert decision["by"] == "Ada through the hub"
        assert decision_in(held.answer()[1]) == "allow"
        status, error = hub.command("decide", **named, digest=request["digest"])
        assert (status, error["error"]["kind"]) == (409, "already_decided")
        until_same(hub, daemon)
        event, late = (event for event in hub.bodies() if event["kind"] == "permission.decision")
        assert late["data"]["late"]
        assert event["data"]["by"] == "Ada through the hub"


@pytest.mark.law("H8")
def test_a_command_that_comes_again_has_its_first_result(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=GENEROUS) as daemon:
        hub.until_connected()
        rule = {"effect": "deny", "pattern": "Bash(rm:*)", "scope": "user"}
        first = hub.command("add_rule", id="same", **rule)
        assert first[0] == 201
        assert hub.command("add_rule", id="same", **rule) == first
        daemon.kill9()
        daemon.restart()
        hub.until_connected()
        assert hub.command("add_rule", id="same", **rule) == first
        assert len(daemon.events("rule.add")) == 1


@pytest.mark.law("H9")
def test_a_late_a_fenced_and_an_unknown_command_are_refused_and_reported(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=GENEROUS) as daemon:
        hub.until_connected()
        rule = {"effect": "deny", "pattern": "Bash(rm:*)", "scope": "user"}
        answers = [
            hub.command("add_rule", expires_in=-1.0, **rule),
            hub.command("add_rule", epoch=hub.epoch - 1, **rule),
            hub.command("launch_missiles"),
            hub.query("decide"),
        ]
        assert [(status, body["error"]["kind"]) for status, body in answers] == [
            (409, "expired"),
            (409, "fenced"),
            (404, "not_found"),
            (404, "not_found"),
        ]
        assert daemon.events("rule.add") == []


@pytest.mark.law("H10")
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("send_message", {"session_id": "s1", "prompt": "hi"}),
        ("start_session", {"cwd": "/w", "mode": "sdk"}),
        ("add_rule", {"effect": "allow", "pattern": "Bash", "scope": "user"}),
        ("trust_project", {"path": "/w"}),
        ("create_token", {"name": "mine", "scopes": ["admin"]}),
        ("change_mode", {"session_id": "s1", "mode": "bypassPermissions"}),
        ("terminal_input", {"session_id": "s1", "data": ""}),
        ("decide", {"request_id": "r", "decision": "allow", "digest": "0", "remember": {"scope": "user"}}),
        ("decide", {"request_id": "r", "decision": "allow", "digest": "0", "updated_input": {"command": "x"}}),
    ],
)
def test_the_usual_grants_let_a_hub_see_and_decide_and_nothing_else(
    home: Path, hub: LinkHub, name: str, args: dict[str, Any]
) -> None:
    with Daemon(home, env=FAST):
        hub.until_connected()
        status, body = hub.command(name, granted="observe approve edit prompt control admin", **args)
        assert (status, body["error"]["kind"]) == (403, "not_granted")


@pytest.mark.law("H10")
def test_a_machine_that_grants_nothing_answers_nothing(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env={**FAST, "QUARTERDECK_HUB_MAY": "none"}) as daemon:
        hub.until_connected()
        daemon.hold(permission("git push"))
        [request] = daemon.until_pending(1)
        named = {"request_id": request["request_id"], "decision": "allow", "digest": request["digest"]}
        assert hub.command("decide", **named)[1]["error"]["kind"] == "not_granted"
        assert hub.query("get_health")[1]["error"]["kind"] == "not_granted"
        assert len(daemon.pending()) == 1


def test_a_query_has_the_answer_of_rest(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        daemon.hook(prompt("hello"))
        hub.until_connected()
        assert hub.query("list_rules") == daemon.api("GET", "/rules")
        assert hub.query("list_runs", session_id="s1") == daemon.api("GET", "/sessions/s1/runs")
        assert hub.query("get_feed", limit=2, kind=["user.prompt"]) == daemon.api(
            "GET", "/feed?limit=2&kind=user.prompt"
        )
        assert hub.query("get_session", session_id="none")[0] == 404
        assert hub.query("get_feed", limit="many")[0] == 422
        named: Json = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        assert hub.query("explain_verdict", **named)[0] == daemon.api("POST", "/rules/explain", named)[0] == 200
        assert hub.query("list_sessions", deadline=0.0)[1]["error"]["kind"] == "too_slow"


@pytest.mark.law("H10")
def test_rules_of_the_hub_hold_offline_and_an_allow_needs_a_grant(home: Path, hub: LinkHub) -> None:
    rules = [
        HubRule(rule_id="r1", effect="deny", pattern="Bash(rm:*)", created_at=1.0, created_by="Ada"),
        HubRule(rule_id="r2", effect="allow", pattern="Bash(ls:*)", created_at=1.0, created_by="Ada"),
    ]
    with Daemon(home, env=FAST) as daemon:
        hub.until_connected()
        hub.send(RulesMessage(rules=rules))
        until(lambda: daemon.events("rule.add"), what="a rule of the hub")
        until(lambda: link_of(daemon)["rules_refused"] == 1, what="a refused allow rule")
        [rule] = daemon.api("GET", "/rules")[1]["rules"]
        assert (rule["scope"], rule["effect"], rule["created_by"]) == ("hub", "deny", "Ada at the hub")
        hub.close()
        assert decision_in(daemon.hook(permission("rm -rf build"))[1]) == "deny"
        leave(home)
        until(lambda: daemon.api("GET", "/rules")[1]["rules"] == [], what="no rule of a hub that was left")
        assert link_of(daemon) is None


def test_a_pushed_allow_holds_where_it_is_granted_and_is_replaced(home: Path, hub: LinkHub) -> None:
    rule = HubRule(rule_id="r2", effect="allow", pattern="Bash(ls:*)", created_at=1.0, created_by="Ada")
    with Daemon(home, env=GENEROUS) as daemon:
        hub.until_connected()
        hub.send(RulesMessage(rules=[rule]))
        until(lambda: daemon.events("rule.add"), what="a rule of the hub")
        assert decision_in(daemon.hook(permission("ls -l"))[1]) == "allow"
        hub.send(RulesMessage(rules=[rule]))
        hub.send(RulesMessage(rules=[]))
        until(lambda: daemon.events("rule.remove"), what="no rule of the hub")
        assert len(daemon.events("rule.add")) == 1


def test_a_person_at_the_hub_counts_as_attending_while_the_link_is_up(home: Path, hub: LinkHub) -> None:
    headless = {**permission("git push"), "session_id": "headless"}
    with Daemon(home, env={**FAST, "QUARTERDECK_DECIDE_HOLD": "auto"}) as daemon:
        hub.until_connected()
        assert daemon.hook(headless)[1] == b""
        hub.send(AttendingMessage(people=1))
        until(lambda: link_of(daemon)["people"] == 1, what="a person at the hub")
        held = daemon.hold({**headless, "tool_input": {"command": "git push origin"}})
        [request] = daemon.until_pending(1)
        hub.close()
        until(lambda: link_of(daemon)["people"] == 0, what="nobody at a hub that is away")
        daemon.decide(request, "deny")
        held.answer()


SECRETS = ("hunter2-the-secret", "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx0123456789", "xK9mQ2vL8nR4tY7wP3sD6fG1hJ5kZ0cB")


@pytest.mark.law("H16")
@pytest.mark.parametrize("level", ["everything", "no_output", "titles", "nothing"])
def test_no_secret_leaves_at_any_level(home: Path, hub: LinkHub, level: str) -> None:
    command = f"curl -u ann:{SECRETS[0]} -H 'x-api-key: {SECRETS[1]}' https://example.org/{SECRETS[2]}"
    response = {"stdout": f"PASSWORD={SECRETS[0]}", "stderr": SECRETS[2]}
    env = {**FAST, "QUARTERDECK_HUB_SHARE": level, "MY_SERVICE_TOKEN": "a known s3cret"}
    with Daemon(home, env=env) as daemon:
        hub.until_connected()
        daemon.hook(prompt(f"use {SECRETS[1]} and a known s3cret"))
        daemon.hold(permission(command))
        [request] = daemon.until_pending(1)
        used = {"session_id": "s1", "cwd": "/w", "tool_name": "Bash", "tool_use_id": "t1"}
        daemon.hook(
            {"hook_event_name": "PostToolUse", **used, "tool_input": {"command": command}, "tool_response": response}
        )
        daemon.api("POST", "/tokens", {"name": "phone", "scopes": ["observe"]})
        until_same(hub, daemon)
        hub.query("get_request", request_id=request["request_id"])
        hub.query("list_requests")
        hub.query("get_feed")
        hub.query("list_tokens", granted="admin observe")
        received = bytes(hub.received).decode()
        assert not [secret for secret in (*SECRETS, "a known s3cret", daemon.token, TOKEN) if secret in received]
        assert "verifier" not in received
        assert ("redacted" in received) == (level != "nothing")


def test_levels_of_folders_hold_back_what_they_say(home: Path, hub: LinkHub) -> None:
    set_share(home, "/w/closed", "nothing")
    set_share(home, "/w/titles", "titles")
    with Daemon(home, env=FAST) as daemon:
        hub.until_connected()
        for folder in ("open", "titles", "closed"):
            daemon.hook({**prompt(f"the words in {folder}", folder), "cwd": f"/w/{folder}"})
            daemon.hold({**permission(f"cat {folder}.plan", folder), "cwd": f"/w/{folder}"})
        requests = {request["session_id"]: request for request in daemon.until_pending(3)}
        until_same(hub, daemon)
        until(lambda: requests["open"]["request_id"] in hub.requests, what="the view of the open request")
        until(lambda: requests["titles"]["request_id"] in hub.requests, what="the view with a title")
        assert "closed" not in hub.sessions
        assert requests["closed"]["request_id"] not in hub.requests
        assert hub.requests[requests["titles"]["request_id"]]["tool_input"] == {}
        text = bytes(hub.received).decode()
        assert "cat closed.plan" not in text
        assert "the words in closed" not in text
        assert "the words in open" in text
        named = {name: {"request_id": one["request_id"], "digest": one["digest"]} for name, one in requests.items()}
        refused = hub.command("decide", decision="allow", **named["titles"])
        assert refused[1]["error"]["kind"] == "not_shared"
        assert hub.query("get_request", request_id=named["closed"]["request_id"])[1]["error"]["kind"] == "not_shared"
        assert hub.query("list_sessions")[1]["error"]["kind"] == "not_shared"
        assert hub.command("decide", decision="deny", **named["titles"])[0] == 200


@pytest.mark.law("H7")
def test_a_second_runner_with_the_same_identity_is_refused_and_says_so(
    home: Path, hub: LinkHub, tmp_path: Path
) -> None:
    with Daemon(home, env=FAST) as first:
        daemon_events = first.hook(prompt("hello"))
        assert daemon_events[0] in (200, 204)
        until_same(hub, first)
        first.stop()
        other_home = tmp_path / "other"
        other_home.mkdir(mode=0o700)
        for name in ("events.db", "events.db-wal", "token", "hook-token", "hub-token", "hub.json"):
            if (home / name).exists():
                (other_home / name).write_bytes((home / name).read_bytes())
                (other_home / name).chmod(0o600)
        first.restart()
        hub.until_connected()
        with Daemon(other_home, env=FAST) as second:
            until(lambda: (link_of(second)["trouble_kind"] or "") == "conflict", what="a refused second machine")
            assert link_of(first)["state"] == "ready"


def test_a_foreign_log_is_a_conflict_that_the_machine_names(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        daemon.hook(prompt("hello"))
        until_same(hub, daemon)
        hub.close()
        hub.stored[-1] = hub.stored[-1].__class__(
            seq_no=hub.stored[-1].seq_no, hash="another", event=hub.stored[-1].event
        )
        hub.open()
        until(lambda: link_of(daemon)["trouble_kind"] == "conflict", what="a named conflict")
        until(lambda: hub.conflicts, what="a conflict at the hub")


def test_a_level_of_the_hub_only_withholds_more(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with LinkHub(LinkSettings(heartbeat_seconds=5.0, withhold="titles")) as hub, Daemon(home, env=FAST) as daemon:
        join(home, hub.url, TOKEN)
        daemon.hook(prompt("the words"))
        until_same(hub, daemon)
        [event] = [event for event in hub.bodies() if event["kind"] == "user.prompt"]
        assert "prompt" not in event["data"]
        assert json.dumps(event).count("the words") <= 1


def test_a_token_is_replaced_without_a_gap(home: Path, hub: LinkHub) -> None:
    with Daemon(home, env=FAST) as daemon:
        hub.until_connected()
        join(home, hub.url, TOKEN + "2")
        daemon.hook(prompt("hello"))
        until_same(hub, daemon)
        assert hub.registrations == 1
        hub.cut()
        until(lambda: hub.tokens[-1] == f"Bearer {TOKEN}2", what="the new token")
        hub.until_connected()
