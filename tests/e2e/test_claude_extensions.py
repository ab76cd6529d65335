"""Plugins and MCP servers added and removed by the CLI, with the daemon and the real Claude Code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import real_mcp_server
from tests.support.claude import ClaudeHome, require
from tests.support.daemon import Daemon, Json
from tests.support.market import NAME, PLUGIN, marketplace
from tests.support.pilot import run_tui

pytestmark = pytest.mark.e2e
WAIT = 90.0


@pytest.fixture(params=["2.1.325", "2.1.197"])
def claude(request: pytest.FixtureRequest, tmp_path: Path) -> ClaudeHome:
    return ClaudeHome(tmp_path, cli=require(request.param), model_url="http://127.0.0.1:9")


@pytest.fixture
def daemon(claude: ClaudeHome, tmp_path: Path) -> Iterator[Daemon]:
    env = {"HOME": str(claude.path), "CLAUDE_CONFIG_DIR": "", "QUARTERDECK_CLAUDE_PATH": str(claude.cli)}
    with Daemon(tmp_path / "qd", env=env) as running:
        yield running


def qd(daemon: Daemon, *words: str, code: int = 0) -> Any:
    environ = {"PATH": os.environ["PATH"], "HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=WAIT)
    assert ended.returncode == code, ended.stderr
    return json.loads(ended.stdout) if "--json" in words else ended.stdout + ended.stderr


def post(daemon: Daemon, path: str, body: Json, status: int = 200) -> Any:
    response = daemon.api("POST", path, body, timeout=WAIT)
    assert response[0] == status, response
    return response[1]


def test_a_plugin_is_installed_switched_and_removed(daemon: Daemon, tmp_path: Path) -> None:
    market = marketplace(tmp_path / "market")
    assert "lab-market" in qd(daemon, "plugins", "marketplaces", "add", str(market))
    found = daemon.api("GET", "/plugins/marketplaces", timeout=WAIT)[1]["marketplaces"]
    assert [(one["name"], one["location"]) for one in found] == [(NAME, str(market))]
    [offer] = daemon.api("GET", "/plugins/available", timeout=WAIT)[1]["available"]
    assert (offer["plugin_id"], offer["description"]) == (PLUGIN, "A demo")
    post(daemon, "/plugins/install", {"name": PLUGIN})
    [plugin] = qd(daemon, "plugins", "list", "--json")["plugins"]
    shown = {key: plugin[key] for key in ("name", "version", "enabled", "scope", "capabilities", "errors")}
    expected = {"name": "demo", "version": "0.1.0", "enabled": True, "scope": "user", "errors": []}
    assert shown == expected | {"capabilities": ["commands"]}
    post(daemon, "/plugins/disable", {"name": PLUGIN})
    [plugin] = daemon.api("GET", "/plugins", timeout=WAIT)[1]["plugins"]
    assert plugin["enabled"] is False
    again = qd(daemon, "plugins", "disable", PLUGIN, code=1)
    assert "is already disabled" in again
    post(daemon, "/plugins/enable", {"name": PLUGIN})
    assert "latest version" in post(daemon, "/plugins/update", {"name": PLUGIN})["said"]
    post(daemon, "/plugins/marketplaces/update", {"name": NAME})
    post(daemon, "/plugins/uninstall", {"name": PLUGIN})
    assert daemon.api("GET", "/plugins", timeout=WAIT)[1]["plugins"] == []
    status, error = daemon.api("POST", "/plugins/install", {"name": "nope@lab-market"}, timeout=WAIT)
    assert status == 409
    assert 'Plugin "nope" not found' in error["error"]["message"]
    assert daemon.api("DELETE", f"/plugins/marketplaces/{NAME}", timeout=WAIT)[0] == 200
    assert daemon.api("GET", "/plugins/marketplaces", timeout=WAIT)[1]["marketplaces"] == []


async def test_a_marketplace_is_added_and_removed_in_the_terminal_ui(daemon: Daemon, tmp_path: Path) -> None:
    market = marketplace(tmp_path / "market")
    async with run_tui(daemon.home, (120, 30)) as tui:
        await tui.runs_command("plugins")
        await tui.sees("None installed")
        await tui.press("m")
        await tui.sees("None yet: + adds one")
        await tui.press("plus")
        await tui.types(str(market))
        await tui.press("ctrl+s")
        await tui.shows_message("added marketplace")
        await tui.press("escape")
        await tui.sees("None installed")
        await tui.press("o")
        await tui.sees("A demo")
        await tui.press("m")
        await tui.sees(str(market))
        await tui.press("minus", "y")
        await tui.sees("None yet: + adds one")
    assert daemon.api("GET", "/plugins/marketplaces", timeout=WAIT)[1]["marketplaces"] == []


def test_a_real_mcp_server_is_added_tested_and_removed(daemon: Daemon, claude: ClaudeHome) -> None:
    project = str(claude.project)
    post(daemon, "/projects/trust", {"path": project})
    program = [sys.executable, str(Path(real_mcp_server.__file__))]
    env = {"LAB_KEY": "hunter2-secret"}
    made = {"name": "lab", "command": program[0], "args": program[1:], "env": env}
    post(daemon, "/mcp", made | {"scope": "local", "project": project}, 201)
    post(daemon, "/mcp", {"name": "web", "transport": "http", "url": "http://127.0.0.1:9/mcp"}, 201)
    qd(daemon, "mcp", "add", "shared", "--scope", "project", "--project", project, "--", "cat", "--flag")
    found = daemon.api("GET", f"/mcp?project={project}")[1]["mcp"]
    assert [(one["name"], one["scope"], one["status"]) for one in found] == [
        ("lab", "local", "unchecked"),
        ("shared", "project", "unchecked"),
        ("web", "user", "unchecked"),
    ]
    assert (found[1]["config"]["args"], found[0]["config"]["env"]) == (["--flag"], {"LAB_KEY": "•••"})
    checked = post(daemon, "/mcp/check", {"project": project})["mcp"]
    assert [one["status"] for one in checked] == ["connected", "pending", "failed"]
    shown = qd(daemon, "mcp", "list", "--project", project)
    assert "✓ connected" in shown
    assert "hunter2" not in shown
    twice = daemon.api("POST", "/mcp", {"name": "web", "command": "cat"}, timeout=WAIT)
    assert twice[0] == 409
    assert "already exists" in twice[1]["error"]["message"]
    assert daemon.api("DELETE", f"/mcp/lab?scope=local&project={project}", timeout=WAIT)[0] == 200
    assert daemon.api("DELETE", "/mcp/web", timeout=WAIT)[0] == 200
    assert [one["name"] for one in daemon.api("GET", "/mcp")[1]["mcp"]] == ["shared"]
