"""Events with their causes and raw payloads, and the runs and actors of a session, of a real daemon."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from quarterdeck.store.log import RAW_LIMIT
from tests.support.daemon import Daemon, until

BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("history") / "home") as running:
        send(running, "UserPromptSubmit", prompt="build it", unheard_of={"of": [1, None]})
        send(running, "PreToolUse", **BASH)
        held = running.hold({"session_id": "s1", "hook_event_name": "PermissionRequest", "cwd": "/w/app", **BASH})
        [request] = running.until_pending(1)
        assert running.decide(request, "allow")[0] == 200
        held.answer()
        send(running, "SubagentStart", agent_id="a1", agent_type="Explore")
        send(running, "PostToolUse", **BASH, tool_response={"stdout": "made"}, unheard_of="x" * RAW_LIMIT)
        send(running, "UserPromptSubmit", session_id="s2", cwd="/w/other", prompt="elsewhere")
        yield running


def send(daemon: Daemon, hook: str, **payload: Any) -> None:
    assert daemon.hook({"session_id": "s1", "cwd": "/w/app", "hook_event_name": hook, **payload})[0] in (200, 204)


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    return subprocess.run([sys.executable, "-m", "quarterdeck", *words], env=env, capture_output=True, text=True)


def test_an_event_has_its_causes_its_effects_and_the_payload_as_it_was_sent(daemon: Daemon) -> None:
    [call] = daemon.events("tool.pre")
    [request] = daemon.events("permission.request")
    status, shown = daemon.api("GET", f"/events/{request['event_id']}")
    assert (status, shown["seq_no"], shown["title"]) == (200, request["seq_no"], "⚠ Permission: Bash(make)")
    assert [one["event_id"] for one in shown["causes"]] == [call["event_id"]]
    assert "permission.decision" in [one["kind"] for one in shown["effects"]]
    assert daemon.api("GET", f"/events/{request['seq_no']}")[1]["event_id"] == request["event_id"]
    [start] = [e for e in daemon.events("run.start") if e["session_id"] == "s1"]
    payload = daemon.api("GET", f"/events/{start['event_id']}")[1]["payload"]
    assert (payload["hook_event_name"], payload["prompt"]) == ("UserPromptSubmit", "build it")
    assert payload["unheard_of"] == {"of": [1, None]}


def test_a_payload_that_was_not_kept_says_why(daemon: Daemon) -> None:
    [result] = daemon.events("tool.post")
    shown = daemon.api("GET", f"/events/{result['event_id']}")[1]
    assert (shown["payload"], shown["payload_status"]) == (None, "too_large")
    [decision] = daemon.events("permission.decision")
    assert daemon.api("GET", f"/events/{decision['event_id']}")[1]["payload_status"] == "none"


@pytest.mark.parametrize("name", ["s1:R1:E99", "s2:R1:E1:R1:E1", "s1", "0", "99999999999999999999", "..%2F..%2Fetc"])
def test_an_event_that_does_not_exist_is_a_named_error(daemon: Daemon, name: str) -> None:
    status, answer = daemon.api("GET", f"/events/{name}")
    assert (status, answer["error"]["kind"]) == (404, "not_found")


def test_a_session_has_its_runs_and_its_actors(daemon: Daemon) -> None:
    status, answer = daemon.api("GET", "/sessions/s1/runs")
    [run] = answer["runs"]
    assert (status, answer["next"], run["status"], run["prompt"]) == (200, None, "running", "build it")
    assert run["actors"] == ["agent:root", "subagent:a1"]
    assert run["counters"]["permission_requests"] == 1
    assert run["runner_id"]
    actors = {one["actor_id"]: one for one in daemon.api("GET", "/sessions/s1/actors")[1]["actors"]}
    assert (actors["agent:root"]["tool_uses"], actors["user"]["kind"]) == (1, "user")
    assert daemon.api("GET", "/sessions/nobody/runs")[0] == daemon.api("GET", "/sessions/nobody/actors")[0] == 404
    assert daemon.api("GET", "/sessions/s1/runs?after=0&before=9")[0] == 422


def test_filters_of_the_feed_find_the_same_before_and_after_they_are_indexed(daemon: Daemon) -> None:
    wanted = {
        "level=warn&level=error&kind=permission.request": ["permission.request"],
        "level=error": [],
        "run_id=s2:R1": ["run.start", "user.prompt"],
        "tool=Bash&kind=tool.pre": ["tool.pre"],
        "actor_id=subagent:none": [],
        "since=99999999999": [],
    }
    for query, kinds in wanted.items():
        page = daemon.api("GET", f"/feed?{query}")[1]
        assert ([e["kind"] for e in page["events"]], page["partial"]) == (kinds, False), query
    for wrong in ("level=loud", "since=yesterday", "since=null", "until=1e400", "after=-1", "run_id=a&run_id=b"):
        assert daemon.api("GET", f"/feed?{wrong}")[0] in (400, 422), wrong


def test_the_command_line_reads_raw_payloads_projects_and_times(daemon: Daemon) -> None:
    [call] = daemon.events("tool.pre")
    raw = json.loads(qd(daemon, "feed", "--raw", str(call["seq_no"])).stdout)
    assert raw["payload"]["tool_input"] == {"command": "make"}
    until(lambda: "elsewhere" in qd(daemon, "feed", "--project", "/w/other").stdout, what="the other project")
    other = qd(daemon, "feed", "--project", "/w/other").stdout
    assert "build it" not in other
    assert " other " in other
    assert qd(daemon, "feed", "--since", "nonsense").returncode == 2
    assert "--level: must be" in qd(daemon, "feed", "--level", "loud").stderr
    assert "no such event" in qd(daemon, "feed", "--raw", "12345").stderr


def test_the_audit_and_an_export_are_cut_to_a_time_and_a_project(daemon: Daemon) -> None:
    rows = list(csv.DictReader(io.StringIO(qd(daemon, "audit", "--csv", "--kind", "permission.decision").stdout)))
    assert [(row["kind"], row["source"]) for row in rows] == [("permission.decision", "user")]
    assert qd(daemon, "audit", "--csv", "--until", "1h").stdout.count("\n") == 1
    assert json.loads(qd(daemon, "audit", "--json", "--project", "/w/other").stdout)["audit"] == []
    exported = qd(daemon, "export", "--project", "other").stdout.splitlines()
    assert {json.loads(line)["session_id"] for line in exported} == {"s2"}
    assert qd(daemon, "export", "--until", "2020-01-01").stdout == ""


def test_the_settings_in_force_are_those_that_the_command_line_shows(daemon: Daemon) -> None:
    status, answer = daemon.api("GET", "/settings")
    shown = json.loads(qd(daemon, "config", "show", "--json").stdout)["settings"]
    assert (status, [one["key"] for one in answer["settings"]]) == (200, [one["key"] for one in shown])
    [durability] = [one for one in answer["settings"] if one["key"] == "store.durability"]
    assert (durability["value"], durability["source"], durability["line"]) == ("full", "default", None)
