"""`qd doctor` and `qd status` against a real daemon whose home, port, inputs and sessions are not as they should be."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import running_elsewhere
from tests.support.claude import require
from tests.support.daemon import Daemon, prompt, until

Checks = list[dict[str, Any]]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def qd(home: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "QUARTERDECK_HOME": str(home), "NO_COLOR": "1"}
    environ |= {"QUARTERDECK_PORT": "0", "CLAUDE_CONFIG_DIR": str(home.with_name("claude")), **env}
    return subprocess.run(
        [sys.executable, "-m", "quarterdeck", *words], env=environ, capture_output=True, text=True, timeout=60
    )


def examined(home: Path, *names: str, **env: str) -> Checks:
    done = qd(home, "doctor", "--json", **env)
    found: Checks = json.loads(done.stdout)["checks"]
    assert done.returncode == (0 if all(c["ok"] for c in found) else 1)
    return [c for c in found if c["name"] in names]


def test_a_healthy_daemon_needs_no_fix(daemon: Daemon) -> None:
    daemon.hook(prompt("hello"))
    troubles = ("queue", "space", "log", "index", "refused", "recording", "overhead", "clock")
    [found] = examined(daemon.home, "daemon", *troubles)
    assert (found["name"], found["ok"]) == ("daemon", True)


def test_the_api_says_of_the_daemon_what_the_doctor_says(daemon: Daemon) -> None:
    found = daemon.api("GET", "/health")[1]
    assert (found["status"], [one["level"] for one in found["health"]]) == ("ok", ["good"])
    assert found["health"][0]["says"] == f"running at {daemon.note()['url']}"
    daemon.hook(b"{")
    (found,) = until(lambda: daemon.api("GET", "/health")[1]["health"][1:], what="a finding")
    assert (found["name"], found["level"], found["ok"]) == ("refused", "advice", True)
    assert found["runner_id"] == daemon.note()["runner_id"]
    listed = daemon.api("GET", "/health")[1]["health"]
    shown = examined(daemon.home, "daemon", "refused")
    assert [{**one, "runner_id": found["runner_id"]} for one in shown] == listed


def test_advice_is_marked_apart_from_problems(daemon: Daemon) -> None:
    daemon.hook(b"{")
    lines = qd(daemon.home, "doctor").stdout.splitlines()
    assert "i refused: 1 since the start: not_json" in lines
    assert any(line.startswith("✓ daemon: ") for line in lines)
    assert any(line.startswith("✗ hooks: ") for line in lines)
    assert [check["level"] for check in examined(daemon.home, "refused", "hooks")] == ["advice", "problem"]


def test_refused_inputs_are_explained(daemon: Daemon) -> None:
    daemon.hook(b"{")
    [found] = examined(daemon.home, "refused")
    assert (found["ok"], found["says"]) == (True, "1 since the start: not_json")
    assert "not JSON" in found["fix"]


def test_a_token_that_others_can_read_is_found(daemon: Daemon) -> None:
    (daemon.home / "events.db").chmod(0o644)
    [_, found] = examined(daemon.home, "home")
    assert (found["ok"], found["fix"]) == (False, f"chmod 600 {daemon.home / 'events.db'}")


def test_a_port_that_is_not_the_configured_one_is_found(daemon: Daemon) -> None:
    [found] = examined(daemon.home, "daemon", QUARTERDECK_PORT="4999")
    assert (found["ok"], "4999" in found["says"]) == (False, True)
    assert f"set runner.port: {daemon.port} in config.yaml" in found["fix"]


def test_hooks_at_another_port_name_both_and_leave_the_advice_to_the_daemon(daemon: Daemon) -> None:
    settings = daemon.home.with_name("claude") / "settings.json"
    assert qd(daemon.home, "install", "--transport", "http").returncode == 0
    settings.write_text(settings.read_text().replace(f":{daemon.port}/hook", ":4999/hook"))
    [moved] = examined(daemon.home, "hooks")
    assert moved["says"].endswith(f":4999/hook, not to http://127.0.0.1:{daemon.port}/hook")
    assert moved["fix"] == "qd install"
    [moved] = examined(daemon.home, "hooks", QUARTERDECK_PORT="4999")
    assert moved["fix"] == "fix the daemon first"


def test_a_port_that_is_taken_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        [found] = examined(tmp_path / "home", "port", QUARTERDECK_PORT=port)
    assert (found["ok"], port in found["says"], "runner.port in config.yaml" in found["fix"]) == (False, True, True)


def test_a_running_session_that_never_reported_is_found(daemon: Daemon) -> None:
    sessions = daemon.home.with_name("claude") / "sessions"
    assert qd(daemon.home, "install", "--transport", "http").returncode == 0
    with running_elsewhere(sessions, "silent-one", "idle"):
        [found] = examined(daemon.home, "sessions")
        assert (found["level"], "silent-one" in found["says"]) == ("advice", True)  # soon after the start
        daemon.hook(prompt("here I am", "silent-one"))
        assert examined(daemon.home, "sessions") == []


def test_the_enforce_gate_is_installed_shown_and_removed(daemon: Daemon) -> None:
    install = ("install", "--transport", "http")
    shown = qd(daemon.home, *install, "--enforce", "--dry-run").stdout
    assert "--enforce || {" in shown
    assert examined(daemon.home, "enforce") == []
    qd(daemon.home, *install)
    assert "Claude Code asks" in examined(daemon.home, "enforce")[0]["says"]
    done = qd(daemon.home, *install, "--enforce")
    assert (done.returncode, "No tool runs while Quarterdeck cannot be reached" in done.stdout) == (0, True)
    assert "no tool runs" in examined(daemon.home, "enforce")[0]["says"]
    settings = daemon.home.with_name("claude") / "settings.json"
    settings.write_text(settings.read_text().replace("--wait 86410", "--wait 5"))
    wrong = [check["fix"] for check in examined(daemon.home, "hooks") if not check["ok"]]
    assert wrong == ["qd install --enforce"]
    qd(daemon.home, *install)
    assert "--enforce" not in settings.read_text()
    assert "Claude Code asks" in examined(daemon.home, "enforce")[0]["says"]


def test_a_claude_that_is_newer_than_tested_or_only_the_sdks_own_is_named(tmp_path: Path) -> None:
    program = tmp_path / "claude-new"
    program.write_text("#!/bin/sh\necho 9.9.9\n")
    program.chmod(0o700)
    [newer] = examined(tmp_path / "home", "claude", QUARTERDECK_CLAUDE_PATH=str(program))
    assert (newer["ok"], "newer than the tested versions" in newer["fix"]) == (True, True)
    bundled = require("2.1.325")
    [own] = examined(tmp_path / "home", "claude", PATH="/usr/bin:/bin")
    assert (own["ok"], str(bundled) in own["says"], "no claude on PATH" in own["fix"]) == (True, True, True)
    [named] = examined(tmp_path / "home", "claude", QUARTERDECK_CLAUDE_PATH=str(bundled))
    assert (named["ok"], named["fix"]) == (True, "")


def test_unused_hooks_are_not_a_problem(daemon: Daemon) -> None:
    assert qd(daemon.home, "install", "--transport", "http").returncode == 0
    [found] = examined(daemon.home, "sessions")
    assert (found["ok"], found["fix"]) == (True, "start claude and send it a prompt")


def test_status_shows_the_main_numbers(daemon: Daemon) -> None:
    daemon.hook(prompt("hello"))
    lines = qd(daemon.home, "status").stdout.splitlines()
    assert len(lines) == 4
    assert "in total · log " in lines[2]
    assert "hook answers within " in lines[3]
    assert json.loads(qd(daemon.home, "status", "--json").stdout)["stats"]["events"]["recorded"] > 0
