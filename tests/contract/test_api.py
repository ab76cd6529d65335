"""The API of a real daemon: credentials, shapes, errors, decisions."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.api.operations import OPERATIONS
from quarterdeck.drivers.removed_hooks import keep_removed
from tests.support.daemon import Daemon, permission, prompt, until

OF_THE_AGENT = frozenset({"list_plugins", "list_offers", "list_marketplaces", "list_servers"})
"""Lists that the agent's own program is asked for."""

BASH = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("api") / "home") as running:
        yield running


def payload(session: str, hook: str, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": hook, "cwd": "/w/app", **more}


def call(daemon: Daemon, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in {**headers, "Content-Length": str(len(body or b""))}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, json.loads(content) if content else None


ROUTES = [
    ("GET", "/api/v1/sessions"),
    ("GET", "/api/v1/sessions/x"),
    ("GET", "/api/v1/feed"),
    ("GET", "/api/v1/requests"),
    ("POST", "/api/v1/requests/x/decision"),
    ("POST", "/api/v1/requests/decisions"),
    ("DELETE", "/api/v1/feed"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/nowhere"),
    ("POST", "/hook"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_served_without_a_valid_token(daemon: Daemon, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {daemon.token}"}):
        status, answer = call(daemon, method, path, headers)
        assert (status, answer["error"]["kind"]) == (401, "unauthorized")


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_foreign_host_or_origin_is_refused_even_with_a_token(daemon: Daemon, method: str, path: str) -> None:
    own = {"Authorization": f"Bearer {daemon.token}"}
    for host in ("evil.example", f"127.0.0.1.evil.com:{daemon.port}", "127.0.0.1", ""):
        assert call(daemon, method, path, {**own, "Host": host})[0] == 421
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"http://localhost.evil:{daemon.port}"):
        assert call(daemon, method, path, {**own, "Origin": origin})[0] == 403


def test_the_hook_token_only_posts_hooks(daemon: Daemon) -> None:
    hook = {"Authorization": f"Bearer {daemon.hook_token}"}
    assert call(daemon, "GET", "/api/v1/sessions", hook)[0] == 403
    assert call(daemon, "POST", "/hook", hook, b'{"hook_event_name":"Stop"}') == (204, None)
    assert call(daemon, "GET", "/hook", hook)[0] == 405


def test_health_needs_no_token_and_reveals_nothing(daemon: Daemon) -> None:
    assert call(daemon, "GET", "/healthz", {}) == (200, {"status": "ok"})


def test_a_session_is_shown_with_everything_the_contract_names(daemon: Daemon) -> None:
    daemon.hook(payload("shown", "SessionStart", source="startup", model="m"))
    daemon.hook(payload("shown", "UserPromptSubmit", prompt="fix it"))
    status, session = daemon.api("GET", "/sessions/shown")
    assert status == 200
    named = "session_id agent_state state_source mode cwd project_id title started_at last_event_at ended_at pending"
    assert set(f"{named} counters usage runner_id".split()) <= set(session)
    assert (session["agent_state"], session["mode"], session["title"]) == ("running", "observed", "fix it")
    _, listed = daemon.api("GET", f"/sessions?project_id={session['project_id']}&state=running")
    assert [s["session_id"] for s in listed["sessions"]] == ["shown"]
    assert daemon.api("GET", "/sessions/nobody")[0] == 404


def test_the_feed_is_read_in_pages_without_a_gap(daemon: Daemon) -> None:
    for n in range(30):
        daemon.hook(payload("paged", "Notification", message=f"n{n}"))
    seen: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        _, page = daemon.api("GET", f"/feed?session_id=paged&limit=7&after={after}")
        seen += page["events"]
        after = page["next"]
    assert [e["data"]["message"] for e in seen] == [f"n{n}" for n in range(30)]
    named = [
        "seq_no",
        "event_id",
        "seq",
        "run_id",
        "session_id",
        "runner_id",
        "at",
        "kind",
        "level",
        "actor_id",
        "cause",
        "data",
        "title",
        "ui",
    ]
    assert all(set(named) <= set(e) for e in seen)
    _, last = daemon.api("GET", "/feed?session_id=paged&before=9007199254740991&limit=3")
    assert [e["data"]["message"] for e in last["events"]] == ["n27", "n28", "n29"]
    _, by_kind = daemon.api("GET", "/feed?kind=session.start&kind=user.prompt&limit=1000")
    assert {e["kind"] for e in by_kind["events"]} <= {"session.start", "user.prompt"}
    _, found = daemon.api("GET", "/feed?q=N29&session_id=paged")
    assert [e["data"]["message"] for e in found["events"]] == ["n29"]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=-1", "after=x", "before=1.5"])
def test_a_wrong_parameter_is_named(daemon: Daemon, query: str) -> None:
    status, answer = daemon.api("GET", f"/feed?{query}")
    assert (status, answer["error"]["kind"], answer["error"]["field"]) == (422, "invalid", query.partition("=")[0])


def test_a_second_decision_learns_who_decided_first(daemon: Daemon) -> None:
    held = daemon.hold(payload("asks", "PermissionRequest", **BASH))
    request = daemon.until_pending(1)[0]
    named = [
        "request_id",
        "kind",
        "session_id",
        "tool_name",
        "tool_input",
        "digest",
        "risk",
        "suggestions",
        "opened_at",
        "expires_at",
        "status",
    ]
    assert set(named) <= set(request)
    assert len(request["digest"]) == 64
    status, answer = daemon.decide(request, "allow", digest="0" * 64)
    assert (status, answer["error"]["kind"]) == (409, "digest_mismatch")
    status, decision = daemon.decide(request, "allow", note="fine")
    assert (status, decision["decision"], decision["source"], decision["delivery"]) == (200, "allow", "user", "sent")
    assert held.answer()[0] == 200
    status, answer = daemon.decide(request, "deny")
    assert (status, answer["error"]["kind"], answer["error"]["decision"]["decision"]) == (
        409,
        "already_decided",
        "allow",
    )
    _, shown = daemon.api("GET", f"/requests/{request['request_id']}")
    assert (shown["status"], shown["decision"]["note"]) == ("decided", "fine")
    _, listed = daemon.api("GET", "/requests?status=decided&limit=1000")
    assert request["request_id"] in {r["request_id"] for r in listed["requests"]}
    assert daemon.api("GET", "/requests/none")[0] == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"decision": "maybe", "digest": "x"}, "decision"),
        ({"decision": "allow"}, "digest"),
        ({"decision": "allow", "digest": 7}, "digest"),
        ({"decision": "allow", "digest": "x", "message": "hi"}, "message"),
        ({"decision": "deny", "digest": "x", "updated_input": {"a": 1}}, "updated_input"),
        ({"decision": "deny", "digest": "x", "message": "m" * 70000}, "message"),
        ({"decision": "allow", "digest": "x", "surprise": 1}, "surprise"),
        ({"decision": "block", "digest": "x"}, "digest"),
    ],
)
@pytest.mark.law("D1")
def test_a_decision_that_makes_no_sense_is_refused_with_its_field(
    daemon: Daemon, body: dict[str, Any], field: str
) -> None:
    held = daemon.hold(payload("nonsense", "PermissionRequest", **BASH))
    request = daemon.until_pending(1)[0]
    status, answer = daemon.api("POST", f"/requests/{request['request_id']}/decision", body)
    assert status in (409, 422)
    assert field in answer["error"]["message"] or status == 409
    assert daemon.until_pending(1) == [request]
    assert daemon.decide(request, "pass")[0] == 200
    assert held.answer()[0] == 204


@pytest.mark.law("D17")
def test_many_requests_are_decided_each_by_its_own_id_and_digest(daemon: Daemon) -> None:
    helds = [daemon.hold(payload(f"many{n}", "PermissionRequest", **BASH)) for n in range(3)]
    requests = daemon.until_pending(3)
    bodies = [{"request_id": r["request_id"], "decision": "deny", "digest": r["digest"]} for r in requests]
    bodies[1]["digest"] = "0" * 64
    status, answer = daemon.api("POST", "/requests/decisions", {"decisions": bodies})
    assert (status, [d["ok"] for d in answer["decisions"]]) == (200, [True, False, True])
    assert daemon.decide(requests[1], "deny")[0] == 200
    assert {held.answer()[0] for held in helds} == {200}


def test_the_api_is_described(daemon: Daemon) -> None:
    status, described = daemon.api("GET", "/openapi.json")
    assert status == 200
    assert "/api/v1/requests/{request_id}/decision" in described["paths"]


def test_a_rotated_hook_token_works_and_the_old_one_does_not(daemon: Daemon) -> None:
    old = daemon.hook_token
    (daemon.home / "hook-token").write_text("n" * 43)
    until(lambda: daemon.hook(payload("rotated", "Stop"))[0] == 204, what="the new token")
    refused = call(daemon, "POST", "/hook", {"Authorization": f"Bearer {old}"}, b"{}")[0]
    assert refused in (401, 429)


def test_calls_with_a_hook_token_that_an_uninstall_removed_are_counted_and_not_recorded(daemon: Daemon) -> None:
    old = daemon.hook_token
    keep_removed(daemon.home, old, time.time())
    (daemon.home / "hook-token").write_text("u" * 43)
    until(lambda: daemon.hook(payload("rotated", "Stop"))[0] == 204, what="the new token")
    late = json.dumps(payload("late", "Stop")).encode()
    for authorization in (f"Bearer {old}", f"bearer {old}"):
        status, body = call(daemon, "POST", "/hook", {"Authorization": authorization}, late)[:2]
        assert (status, body) == (204, None)
    assert call(daemon, "GET", "/api/v1/me", {"Authorization": f"Bearer {old}"}, b"")[0] in (401, 429)
    assert daemon.api("GET", "/stats")[1]["inputs"]["refused"]["after_uninstall"] == 2
    assert "late" not in {event["session_id"] for event in daemon.events()}


def test_a_home_of_its_own_with_the_right_modes(daemon: Daemon, tmp_path: Path) -> None:
    modes = {
        name: (daemon.home / name).stat().st_mode & 0o777
        for name in ("token", "hook-token", "events.db", "run/hook.sock")
    }
    assert set(modes.values()) == {0o600}
    assert (daemon.home.stat().st_mode & 0o777, (daemon.home / "run").stat().st_mode & 0o777) == (0o700, 0o700)


@pytest.mark.law("I3")
def test_a_list_shortens_a_large_input_and_the_request_itself_does_not(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_DECIDE_HOLD": "always"}) as daemon:
        command = "echo " + "x" * 200_000
        held = daemon.hold(payload("s9", "PermissionRequest", tool_name="Bash", tool_input={"command": command}))
        [listed] = daemon.until_pending(1)
        cut = listed["truncated"]
        assert listed["tool_input"] == {}
        assert cut["bytes"] > 200_000
        assert cut["begins"].startswith('{"command":"echo xxx')
        whole = daemon.api("GET", f"/requests/{listed['request_id']}")[1]
        assert whole["tool_input"] == {"command": command}
        assert daemon.decide(listed, "deny")[0] == 200
        assert held.answer()[0] == 200


def test_the_last_use_of_a_token_survives_a_restart(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        made = daemon.api("POST", "/tokens", {"name": "deck", "scopes": ["observe"]})[1]
        assert call(daemon, "GET", "/api/v1/me", {"Authorization": f"Bearer {made['token']}"})[0] == 200
        daemon.stop()
        daemon.start()
        [token] = daemon.api("GET", "/tokens")[1]["tokens"]
        assert token["last_used_at"] > token["created_at"] - 1


def test_every_list_names_the_machine_of_its_items_and_can_be_narrowed_to_one(daemon: Daemon) -> None:
    runner_id = daemon.api("GET", "/runners")[1]["runners"][0]["runner_id"]
    daemon.hook(payload("of-lists", "UserPromptSubmit", prompt="go"))
    lists = [row.path for row in OPERATIONS.values() if row.is_list and row.name not in OF_THE_AGENT]
    for path in (one.format(session_id="of-lists") for one in lists):
        status, answer = daemon.api("GET", path)
        name = path.rpartition("/")[2].replace("feed", "events")
        assert status == 200, (path, answer)
        assert {item["runner_id"] for item in answer[name]} <= {runner_id}, path
        assert daemon.api("GET", f"{path}?runner_id={runner_id}")[1].keys() == answer.keys()
        other = daemon.api("GET", f"{path}?runner_id=elsewhere")
        assert (other[0], other[1][name], other[1]["next"]) == (200, [], None), path


def test_a_call_that_names_another_machine_is_refused_and_changes_nothing(daemon: Daemon) -> None:
    runner_id = daemon.api("GET", "/runners")[1]["runners"][0]["runner_id"]
    daemon.hook(prompt("begin", "named"))
    held = daemon.hold(permission("make it", "named"))
    [waiting] = daemon.until_pending(1)
    path, decision = f"/requests/{waiting['request_id']}", {"decision": "allow", "digest": waiting["digest"]}
    calls: list[tuple[str, str, Any]] = [
        ("GET", "/sessions/named", None),
        ("GET", path, None),
        ("POST", f"{path}/decision", decision),
        ("POST", "/rules", {"effect": "deny", "pattern": "Bash(x)"}),
        ("POST", "/sessions", {"cwd": "/"}),
    ]
    for method, where, body in calls:
        status, answer = daemon.api(method, f"{where}?runner_id=elsewhere", body)
        assert (status, answer["error"]["message"]) == (404, "no such machine: elsewhere; see: GET /api/v1/runners")
    many = [{"request_id": waiting["request_id"], "runner_id": name, **decision} for name in ("elsewhere", runner_id)]
    results = daemon.api("POST", "/requests/decisions", {"decisions": many})[1]["decisions"]
    assert [result["ok"] for result in results] == [False, True]
    assert daemon.api("GET", f"/sessions/named?runner_id={runner_id}")[0] == 200
    held.close()


@pytest.mark.parametrize("path", ["/feed", "/requests", "/sessions", "/audit"])
@pytest.mark.parametrize("cursor", ["hub-1:17", "-1", "1.5", "abc"])
def test_a_cursor_of_another_machine_is_named(daemon: Daemon, path: str, cursor: str) -> None:
    status, answer = daemon.api("GET", f"{path}?after={cursor}")
    assert (status, answer["error"]["field"]) == (422, "after")
    assert answer["error"]["message"] == "after: is no cursor of this machine; pass the next of a list back unchanged"
