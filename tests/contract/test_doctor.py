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
from tests.support.daemon import Daemon, prompt

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


def test_a_daemon_that_is_well_gives_nothing_to_do(daemon: Daemon) -> None:
    daemon.hook(prompt("hello"))
    troubles = ("queue", "space", "log", "index", "refused", "recording", "overhead", "clock")
    [found] = examined(daemon.home, "daemon", *troubles)
    assert (found["name"], found["ok"]) == ("daemon", True)


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


def test_a_port_that_is_taken_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        [found] = examined(tmp_path / "home", "port", QUARTERDECK_PORT=port)
    assert (found["ok"], port in found["says"], "QUARTERDECK_PORT" in found["fix"]) == (False, True, True)


def test_a_session_that_runs_and_is_not_heard_is_found(daemon: Daemon) -> None:
    sessions = daemon.home.with_name("claude") / "sessions"
    assert qd(daemon.home, "install", "--transport", "http").returncode == 0
    with running_elsewhere(sessions, "silent-one", "idle"):
        [found] = examined(daemon.home, "sessions")
        assert (found["ok"], "silent-one" in found["says"]) == (False, True)
        daemon.hook(prompt("here I am", "silent-one"))
        assert examined(daemon.home, "sessions") == []


def test_the_gate_is_installed_on_wish_shown_and_taken_away_again(daemon: Daemon) -> None:
    install = ("install", "--transport", "http")
    shown = qd(daemon.home, *install, "--enforce", "--dry-run").stdout
    assert "--enforce || exit 2" in shown
    assert examined(daemon.home, "enforce") == []
    qd(daemon.home, *install)
    assert "not enforced" in examined(daemon.home, "enforce")[0]["says"]
    said = qd(daemon.home, *install, "--enforce")
    assert (said.returncode, "no tool runs while Quarterdeck cannot be asked" in said.stdout) == (0, True)
    assert "rules are enforced" in examined(daemon.home, "enforce")[0]["says"]
    settings = daemon.home.with_name("claude") / "settings.json"
    settings.write_text(settings.read_text().replace("--wait 86410", "--wait 5"))
    wrong = [check["fix"] for check in examined(daemon.home, "hooks") if not check["ok"]]
    assert wrong == ["qd install --enforce"]
    qd(daemon.home, *install)
    assert "--enforce" not in settings.read_text()
    assert "not enforced" in examined(daemon.home, "enforce")[0]["says"]


def test_hooks_that_nobody_used_yet_are_no_trouble(daemon: Daemon) -> None:
    assert qd(daemon.home, "install", "--transport", "http").returncode == 0
    [found] = examined(daemon.home, "sessions")
    assert (found["ok"], found["fix"]) == (True, "start claude, and say something")


def test_status_shows_the_main_figures(daemon: Daemon) -> None:
    daemon.hook(prompt("hello"))
    lines = qd(daemon.home, "status").stdout.splitlines()
    assert len(lines) == 4
    assert "in all · log " in lines[2]
    assert "hook answers within " in lines[3]
    assert json.loads(qd(daemon.home, "status", "--json").stdout)["stats"]["events"]["recorded"] > 0
