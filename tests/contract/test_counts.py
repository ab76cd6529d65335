"""Counts over time of a real daemon: what it counted, after a kill too, and errors that name the field."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon, Json, permission, prompt, until

YEAR = 365 * 86400


def work(daemon: Daemon, session: str, folder: str, tools: int) -> None:
    daemon.hook(prompt("go", session) | {"cwd": folder})
    for n in range(tools):
        call: Json = {"session_id": session, "cwd": folder, "tool_name": "Bash", "tool_input": {"command": "make"}}
        daemon.hook(call | {"hook_event_name": "PreToolUse", "tool_use_id": f"t{n}"})
        daemon.hook(call | {"hook_event_name": "PostToolUse", "tool_use_id": f"t{n}", "tool_response": {}})


def until_counted(daemon: Daemon) -> None:
    last = daemon.events()[-1]["seq_no"]
    until(lambda: series(daemon, "tools")["seq_no"] >= last, what="the counts of all events")


def series(daemon: Daemon, metric: str, query: str = "") -> Json:
    status, answer = daemon.api("GET", f"/stats/series?metric={metric}{query}")
    assert status == 200, answer
    found: Json = answer
    return found


def totals(daemon: Daemon, metric: str, group: str) -> dict[str, float]:
    return {one["label"]: one["total"] for one in series(daemon, metric, f"&group={group}")["series"]}


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    return subprocess.run([sys.executable, "-m", "quarterdeck", *words], env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("counts") / "home") as running:
        work(running, "s1", "/w/shop", 3)
        work(running, "s2", "/w/docs", 1)
        held = running.hold(permission("ls", "s1") | {"cwd": "/w/shop"})
        [request] = running.until_pending(1)
        running.decide(request, "allow")
        held.answer()
        until_counted(running)
        yield running


def test_everything_is_counted_by_its_groups(daemon: Daemon) -> None:
    assert totals(daemon, "tools", "tool") == {"Bash": 4}
    assert totals(daemon, "tools", "outcome") == {"ok": 4}
    assert totals(daemon, "tools", "project") == {"/w/shop": 3, "/w/docs": 1}
    assert totals(daemon, "prompts", "agent") == {"claude": 2}
    assert totals(daemon, "requests", "outcome") == {"allow": 1}
    assert totals(daemon, "requests", "source") == {"user": 1}
    assert totals(daemon, "requests", "wait") == {"up to 10 s": 1}


def test_one_project_is_counted_alone(daemon: Daemon) -> None:
    [shop] = {s["project_id"] for s in daemon.api("GET", "/sessions")[1]["sessions"] if s["cwd"] == "/w/shop"}
    [one] = series(daemon, "tools", f"&project_id={shop}")["series"]
    assert one["total"] == 3
    assert series(daemon, "tools", "&project_id=p_0000000000000000")["series"] == []


def test_a_month_by_the_day_and_a_day_by_the_hour_are_the_default(daemon: Daemon) -> None:
    days, hours = series(daemon, "prompts"), series(daemon, "prompts", "&by=hour")
    assert (len(days["times"]), len(hours["times"])) in ((31, 25), (30, 24), (31, 24), (30, 25))
    for found in (days, hours):
        assert found["times"][-1] <= time.time() < found["until"]
        assert sum(found["series"][0]["values"]) == 2


def test_hook_calls_are_counted_as_they_are_answered(daemon: Daemon) -> None:
    until(lambda: series(daemon, "hook_calls")["series"], what="the hook calls")
    assert series(daemon, "hook_seconds")["series"][0]["total"] > 0


def test_the_command_shows_rows_with_bars_and_a_total(daemon: Daemon) -> None:
    lines = qd(daemon, "usage", "--by", "project").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["project", "docs", "shop", "total"]
    assert lines[-1].split()[1:] == ["–", "–", "2", "4", "2"]


def test_the_command_prints_every_day_as_json(daemon: Daemon) -> None:
    found = json.loads(qd(daemon, "usage", "--since", "2d", "--json").stdout)
    assert (found["by"], found["total"]["tools"], len(found["usage"])) == ("day", 4, 3)
    assert sum(row["prompts"] for row in found["usage"]) == 2
    assert found["since"] < time.time() < found["until"]


def test_the_command_for_one_project(daemon: Daemon) -> None:
    assert qd(daemon, "usage", "--project", "/w/docs").stdout.splitlines()[-1].split()[1:] == ["–", "–", "1", "1", "1"]
    nothing = qd(daemon, "usage", "--since", "3d", "--until", "2d")
    assert (nothing.returncode, nothing.stdout) == (0, "Nothing was used in this time.\n")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("--since", "9999d"), 1, "9,999 points by the day are too many"),
        (("--since", "1d", "--until", "2d"), 1, "since: must be before until"),
        (("--since", "soon"), 2, "neither a duration"),
        (("--by", "year"), 2, "must be day, project, model or agent"),
    ],
)
def test_the_command_refuses_times_that_make_no_sense(
    daemon: Daemon, words: tuple[str, ...], code: int, error: str
) -> None:
    refused = qd(daemon, "usage", *words)
    assert refused.returncode == code
    assert error in refused.stderr


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("", "metric", "metric: is required"),
        ("metric=coffee", "metric", "must be sessions, prompts, tools"),
        ("metric=tools&by=year", "by", "by"),
        ("metric=tools&group=model", "group", "must be one of tool, outcome, project, agent"),
        (f"metric=tools&by=hour&since=0&until={YEAR}", "since", "8,760 points by the hour are too many"),
        ("metric=tools&since=0", "since", "points by the day are too many"),
        ("metric=tools&since=9&until=9", "since", "must be before until"),
        ("metric=tools&since=99999999999", "since", "must be before until"),
        ("metric=tools&since=yesterday", "since", "since"),
        ("metric=tools&since=-1", "since", "since"),
        ("metric=tools&since=nan", "since", "since"),
        ("metric=tools&until=inf", "until", "until"),
        ("metric=tools&until=1e300", "until", "until"),
        ("metric=tools&since=null", "since", "leave it out"),
        ("metric=tools&since=1&since=2", "since", "only once"),
        ("metric=hook_calls&project_id=p_1", "project_id", "not counted by project"),
    ],
)
def test_a_query_that_makes_no_sense_names_the_field(daemon: Daemon, query: str, field: str, words: str) -> None:
    status, answer = daemon.api("GET", f"/stats/series?{query}")
    assert (status, answer["error"]["kind"], answer["error"].get("field")) == (422, "invalid", field)
    assert words in answer["error"]["message"]


def test_counts_go_on_after_a_kill_and_are_made_again_when_they_are_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Daemon(home) as running:
        work(running, "s1", "/w/shop", 2)
        running.kill9()
    with Daemon(home) as running:
        work(running, "s1", "/w/shop", 2)
        until_counted(running)
        before: dict[str, Any] = {name: totals(running, name, "agent") for name in ("sessions", "prompts", "tools")}
        assert before == {"sessions": {"claude": 1}, "prompts": {"claude": 2}, "tools": {"claude": 4}}
    (home / "counts.db").unlink()
    with Daemon(home) as running:
        until_counted(running)
        assert {name: totals(running, name, "agent") for name in before} == before


def test_counts_that_cannot_be_read_are_a_named_error(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Daemon(home) as running:
        running.hook(prompt("go", "s1"))
        until_counted(running)
        with sqlite3.connect(home / "counts.db") as db:
            db.execute("DROP TABLE label_sets")
        status, answer = running.api("GET", "/stats/series?metric=tools")
        assert (status, answer["error"]["kind"]) == (503, "no_counts")
        assert "counts.db: the counts cannot be read" in answer["error"]["message"]
