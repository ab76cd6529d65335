"""Plugins and MCP servers of a real daemon, with a program in Claude Code's place that records its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json, until

SPY = """#!{python}
import json, os, sys
seen = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}}
with open({log!r}, "a") as log:
    log.write(json.dumps(seen) + "\\n")
if "refuse" in sys.argv[-1]:
    sys.exit("first\\n✘ Failed to add: it says hunter2-secret")
print("[]" if "list" in sys.argv else "Doing…✔ Done")
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("extensions")
    program = folder / "claude-spy"
    program.write_text(SPY.format(python=sys.executable, log=str(folder / "seen")))
    program.chmod(0o755)
    with Daemon(folder / "home", env={"QUARTERDECK_CLAUDE_PATH": str(program), "SOME_TOKEN": "secret"}) as running:
        yield running


@pytest.fixture
def daemon(served: Daemon) -> Daemon:
    """The daemon with an empty record of the program's calls."""
    (served.home.parent / "seen").unlink(missing_ok=True)
    return served


def folder(daemon: Daemon, name: str) -> Path:
    made = daemon.home.parent / name
    made.mkdir(exist_ok=True)
    return made


def seen(daemon: Daemon) -> list[Json]:
    file = daemon.home.parent / "seen"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def words(daemon: Daemon) -> list[list[str]]:
    return [one["argv"] for one in seen(daemon)]


@pytest.mark.law("I9")
def test_each_action_runs_one_command_with_plain_arguments(daemon: Daemon) -> None:
    for action in ("install", "enable", "disable", "update", "uninstall"):
        assert daemon.api("POST", f"/plugins/{action}", {"name": "demo@lab"}) == (200, {"said": "Done", "ok": True})
    daemon.api("POST", "/plugins/marketplaces", {"source": "/m;touch$IFS/x"})
    daemon.api("POST", "/plugins/marketplaces/update", {})
    daemon.api("DELETE", "/plugins/marketplaces/lab")
    made = {"name": "s", "command": "cat", "args": ["--settings=x", "$(id)"], "env": {"A": "b"}}
    assert daemon.api("POST", "/mcp", made)[0] == 201
    daemon.api("DELETE", "/mcp/s")
    calls = words(daemon)
    assert calls[0] == ["plugin", "install", "--scope", "user", "--", "demo@lab"]
    assert calls[5:8] == [
        ["plugin", "marketplace", "add", "--", "/m;touch$IFS/x"],
        ["plugin", "marketplace", "update"],
        ["plugin", "marketplace", "remove", "--", "lab"],
    ]
    assert calls[8][-6:] == ["--env", "A=b", "--", "cat", "--settings=x", "$(id)"]
    assert calls[9] == ["mcp", "remove", "--scope", "user", "--", "s"]
    assert {one["cwd"] for one in seen(daemon)} == {"/"}
    assert not any("TOKEN" in name or name.startswith("QUARTERDECK") for one in seen(daemon) for name in one["env"])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/plugins/install", {"name": "--settings=x"}),
        ("/plugins/install", {"name": "demo@-x"}),
        ("/plugins/install", {"name": "demo", "scope": "local"}),
        ("/plugins/install", {"name": "demo", "project": "/tmp"}),
        ("/plugins/marketplaces", {"source": "--help"}),
        ("/plugins/marketplaces", {"source": "https://ann:hunter2@example.org/m.git"}),
        ("/mcp", {"name": "-x", "command": "cat"}),
        ("/mcp", {"name": "x"}),
        ("/mcp", {"name": "x", "transport": "http", "url": "--header"}),
        ("/mcp", {"name": "x", "command": "cat", "headers": {"A": "b"}}),
        ("/mcp", {"name": "x", "command": "cat", "env": {"A B": "c"}}),
        ("/mcp", {"name": "x", "transport": "http", "url": "http://h", "headers": {"A": "b\r\nC: d"}}),
    ],
)
def test_a_value_that_could_be_an_option_or_is_invalid_is_refused(daemon: Daemon, path: str, body: Json) -> None:
    status, error = daemon.api("POST", path, body)
    assert (status, error["error"]["kind"]) == (422, "invalid")
    assert words(daemon) == []


@pytest.mark.law("S9")
def test_nothing_is_done_in_a_project_that_is_not_trusted(daemon: Daemon) -> None:
    project = str(folder(daemon, "untrusted"))
    asks = [
        ("POST", "/plugins/install", {"name": "demo", "scope": "local", "project": project}),
        ("POST", "/mcp", {"name": "x", "command": "cat", "scope": "project", "project": project}),
        ("POST", "/mcp/check", {"project": project}),
        ("DELETE", f"/mcp/x?scope=local&project={project}", None),
    ]
    assert daemon.api("DELETE", "/mcp/db?scope=project&project=%00")[0] == 403
    assert {daemon.api(*ask)[1]["error"]["kind"] for ask in asks} == {"untrusted_project"}
    assert words(daemon) == []
    daemon.api("POST", "/projects/trust", {"path": project})
    assert [daemon.api(*ask)[0] for ask in asks] == [200, 201, 200, 200]
    assert {one["cwd"] for one in seen(daemon)} == {project}


def kinds_in(daemon: Daemon, project: Path) -> list[str]:
    """What becomes of a plug-in, a server, a check of servers and a session in this folder."""
    asks: list[tuple[str, Json]] = [
        ("/plugins/install", {"name": "demo", "scope": "local", "project": str(project)}),
        ("/mcp", {"name": "x", "command": "cat", "scope": "project", "project": str(project)}),
        ("/mcp/check", {"project": str(project)}),
        ("/sessions", {"cwd": str(project), "mode": "sdk"}),
    ]
    answers = [daemon.api("POST", *ask)[1] for ask in asks]
    return [answer["error"]["kind"] if "error" in answer else "done" for answer in answers]


@pytest.mark.law("S9")
def test_plugins_servers_and_sessions_agree_about_folders_of_a_trusted_project(daemon: Daemon) -> None:
    project, elsewhere = folder(daemon, "outer"), folder(daemon, "elsewhere")
    below, vendor = project / "src", project / "vendor"
    for one in (below, vendor / "lib"):
        one.mkdir(parents=True)
    (project / "out").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(below)
    daemon.api("POST", "/projects/trust", {"path": str(project)})
    daemon.api("POST", "/projects/untrust", {"path": str(vendor)})
    done = ["done", "done", "done", "failed"]  # the program is no agent, so its session fails
    assert [kinds_in(daemon, one) for one in (project, below, elsewhere / "back")] == [done] * 3
    refused = ["untrusted_project"] * 4
    assert [kinds_in(daemon, one) for one in (vendor, vendor / "lib", elsewhere, project / "out")] == [refused] * 4
    shown = {path: daemon.api("GET", f"/projects/brings?path={path}")[1]["trusted"] for path in (below, vendor / "lib")}
    assert shown == {below: True, vendor / "lib": False}


@pytest.mark.law("A12")
def test_a_refusal_shows_claudes_message_without_the_secret(daemon: Daemon) -> None:
    made = {"name": "x", "command": "refuse", "env": {"KEY": "hunter2-secret"}}
    status, error = daemon.api("POST", "/mcp", made)
    assert (status, error["error"]["kind"]) == (409, "claude_refused")
    assert error["error"]["message"].endswith("claude-spy mcp add: Failed to add: it says …")


@pytest.mark.law("A11")
def test_every_change_is_audited_with_its_actor_and_outcome(daemon: Daemon) -> None:
    after = daemon.api("GET", "/feed?limit=1000")[1]["events"][-1]["seq_no"]
    daemon.api("POST", "/plugins/install", {"name": "demo@lab"})
    daemon.api("POST", "/plugins/uninstall", {"name": "refuse"})
    daemon.api("POST", "/plugins/marketplaces", {"source": "https://h.example/m.git?token=hunter2-secret"})
    daemon.api("POST", "/plugins/marketplaces/update", {})
    daemon.api("POST", "/mcp", {"name": "web", "transport": "http", "url": "https://h/?k=hunter2-secret"})
    daemon.api("POST", "/mcp", {"name": "x", "command": "refuse", "args": ["hunter2-secret", "refuse"]})
    daemon.api("DELETE", "/mcp/web")
    rows = daemon.api("GET", f"/audit?after={after}")[1]["audit"]
    assert [(r["kind"], r["what"]["action"], r["what"]["name"], r["what"]["outcome"]) for r in rows] == [
        ("plugin.change", "install", "demo@lab", "done"),
        ("plugin.change", "uninstall", "refuse", "failed"),
        ("plugin.change", "add_marketplace", "https://h.example/m.git?•••", "done"),
        ("plugin.change", "update_marketplace", "all", "done"),
        ("mcp.change", "add", "web", "done"),
        ("mcp.change", "add", "x", "failed"),
        ("mcp.change", "remove", "web", "done"),
    ]
    assert {row["who"] for row in rows} == {"owner"}
    assert rows[4]["what"]["transport"] == "http"
    assert rows[5]["what"]["error"].endswith("mcp add: Failed to add: it says •••")


@pytest.mark.law("A12")
def test_no_value_of_a_variable_or_header_is_on_record(daemon: Daemon) -> None:
    after = daemon.api("GET", "/feed?limit=1000")[1]["events"][-1]["seq_no"]
    daemon.api("POST", "/mcp", {"name": "a", "command": "cat", "env": {"KEY": "hunter2-secret"}})
    daemon.api("POST", "/mcp", {"name": "b", "transport": "sse", "url": "http://h", "headers": {"K": "hunter2-secret"}})
    daemon.api("POST", "/mcp", {"name": "c", "command": "refuse", "env": {"KEY": "hunter2-secret"}})
    feed = json.dumps(daemon.api("GET", f"/feed?after={after}")[1])
    assert feed.count('"mcp.change"') == 3
    assert "hunter2" not in feed


def test_a_list_is_read_again_only_when_something_changed(daemon: Daemon) -> None:
    for _ in range(3):
        assert daemon.api("GET", "/plugins") == (200, {"plugins": [], "next": None})
    assert len(words(daemon)) == 1
    daemon.api("POST", "/plugins/enable", {"name": "demo"})
    daemon.api("GET", "/plugins")
    (folder(daemon, "claude") / "settings.json").write_text("{}")
    daemon.api("GET", "/plugins")
    assert [one[1] for one in words(daemon)] == ["list", "enable", "list", "list"]


def test_servers_are_read_from_files_and_no_link_is_followed(daemon: Daemon) -> None:
    project, claude = folder(daemon, "project"), folder(daemon, "claude")
    servers = {"tools": {"command": "srv", "env": {"KEY": "hunter2-secret"}}}
    (claude / ".claude.json").write_text(json.dumps({"mcpServers": servers, "projects": {}}))
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": "http://h/mcp"}}}))
    daemon.api("POST", "/projects/trust", {"path": str(project)})
    _, found = daemon.api("GET", "/mcp")
    shown = [(s["name"], s["transport"], s["scope"], s["project"], s["status"]) for s in found["mcp"]]
    assert shown == [
        ("tools", "stdio", "user", None, "unchecked"),
        ("web", "http", "project", str(project), "unchecked"),
    ]
    assert found["mcp"][0]["config"] == {"command": "srv", "args": [], "env": {"KEY": "•••"}}
    assert daemon.api("GET", "/mcp/web")[1]["mcp"] == found["mcp"][1:]
    assert daemon.api("GET", "/mcp/nope")[0] == 404
    (project / ".mcp.json").unlink()
    (project / ".mcp.json").symlink_to(claude / ".claude.json")
    assert len(daemon.api("GET", "/mcp")[1]["mcp"]) == 1
    assert words(daemon) == []


def test_changes_need_the_control_scope(daemon: Daemon) -> None:
    _, made = daemon.api("POST", "/tokens", {"name": "reader", "scopes": ["observe"]})
    for path in ("/plugins/install", "/plugins/marketplaces", "/mcp", "/mcp/check", "/projects/scan"):
        status, _ = daemon._call("POST", f"/api/v1{path}", {}, made["token"], 10.0)
        assert status == 403
    assert daemon._call("GET", "/api/v1/mcp", None, made["token"], 10.0)[0] == 200


def test_without_claude_the_error_says_what_to_do(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_CLAUDE_PATH": str(tmp_path / "none")}) as daemon:
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "QUARTERDECK_HOME": str(daemon.home)}
        command = [sys.executable, "-m", "quarterdeck", "plugins", "list"]
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "claude.path" in ended.stderr


@pytest.mark.law("S5")
def test_a_daemon_that_stops_leaves_no_program_behind(tmp_path: Path) -> None:
    program = tmp_path / "claude-slow"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path / 'pid'}\nsleep 50 & sleep 50\n")
    program.chmod(0o755)
    with Daemon(tmp_path / "home", env={"QUARTERDECK_CLAUDE_PATH": str(program)}) as daemon:
        asking = threading.Thread(target=lambda: daemon.api("POST", "/plugins/install", {"name": "x"}, timeout=30))
        asking.start()
        group = int(until(lambda: _read(tmp_path / "pid"), what="the program"))
        daemon.stop(20)
        asking.join(20)
    until(lambda: not _alive_in(group), what="the end of all it started")


def _alive_in(group: int) -> list[str]:
    """The processes of a group that have not ended; a zombie has."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


def _read(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""
