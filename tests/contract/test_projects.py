"""The projects of a real daemon: found, read through git without running their programs, and listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.projects.git_read import GitReader, Repository, repository_at
from tests.support.daemon import Daemon, Json, prompt, until
from tests.support.repositories import commit, git, hostile, repository


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


def serving(tmp_path: Path, **env: str) -> Daemon:
    roots = {"QUARTERDECK_PROJECTS_ROOTS": str(tmp_path / "code"), "HOME": str(tmp_path)}
    return Daemon(tmp_path / "home", env=roots | env)


def listed(daemon: Daemon, *, refresh: bool = True) -> dict[str, Json]:
    status, scan = daemon.api("POST", f"/projects/scan?anew={str(refresh).lower()}", timeout=60)
    assert (status, scan["state"], scan["done"]) == (200, "done", scan["total"])
    status, found = daemon.api("GET", "/projects")
    assert status == 200
    return {one["name"]: one for one in found["projects"]}


def runs_in_plain_status(folder: Path, marker: Path) -> bool:
    """True if a plain `git status` runs a program of the repository."""
    subprocess.run(["git", "status"], cwd=folder, capture_output=True, timeout=20)
    ran = marker.exists()
    marker.unlink(missing_ok=True)
    return ran


@pytest.mark.law("S9")
def test_a_scan_runs_no_program_of_any_repository(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    made = hostile(tmp_path / "code", marker)
    marker.unlink(missing_ok=True)
    with serving(tmp_path) as daemon:
        found = listed(daemon)
    assert not marker.exists()
    assert {folder.name for folder in made} <= found.keys()
    trouble = {name: one["git_trouble"] for name, one in found.items() if one["git_trouble"]}
    assert list(trouble) == ["partial"]
    assert [folder.name for folder in made if not runs_in_plain_status(folder, marker)] == []


def test_branch_changes_and_distance_are_shown(tmp_path: Path) -> None:
    code = tmp_path / "code"
    origin = repository(tmp_path / "origin")
    git(tmp_path, "clone", "-q", str(origin), str(code / "shop"))
    shop = code / "shop"
    commit_in(shop, "b.txt")
    commit_in(shop, "c.txt")
    commit_in(origin, "d.txt")
    git(shop, "fetch", "-q")
    git(shop, "remote", "set-url", "origin", "https://ann:t0ken@example.org/shop.git")
    (repository(code / "changed", "feature/x") / "new.txt").touch()
    git(repository(code / "detached"), "checkout", "-q", "--detach")
    git(shop, "worktree", "add", "-q", str(code / "tree"), "-b", "side")
    (code / "plain" / ".claude").mkdir(parents=True)
    (code / "fresh").mkdir()
    git(code / "fresh", "init", "-q", "-b", "trunk")
    with serving(tmp_path) as daemon:
        found = listed(daemon)
        assert daemon.events("%") == [event for event in daemon.events("%") if "t0ken" not in str(event)]
        shown = qd(daemon, "projects")
    facts = {
        name: tuple(one[key] for key in ("git_branch", "is_dirty", "ahead", "behind")) for name, one in found.items()
    }
    assert facts == {
        "shop": ("main", False, 2, 1),
        "changed": ("feature/x", True, None, None),
        "detached": (None, False, None, None),
        "tree": ("side", False, None, None),
        "plain": (None, None, None, None),
        "fresh": ("trunk", False, None, None),
    }
    assert found["shop"]["git_remote"] == "https://example.org/shop.git"
    assert found["shop"]["project_id"] == project_id_of(str(shop))
    assert found["tree"]["worktree_of"] == str(shop)
    assert [name for name, one in found.items() if one["has_claude_config"]] == ["plain"]
    assert "t0ken" not in shown.stdout
    assert "↑2 ↓1" in shown.stdout


def commit_in(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    commit(folder)


def test_a_change_by_git_or_by_an_agent_is_seen_without_asking_git_again(tmp_path: Path) -> None:
    shop = repository(tmp_path / "code" / "shop")
    (shop / "src").mkdir()
    commit_in(shop, "src/b.txt")
    with serving(tmp_path) as daemon:
        first = listed(daemon, refresh=False)["shop"]
        assert listed(daemon, refresh=False)["shop"]["checked_at"] == first["checked_at"]
        git(shop, "checkout", "-q", "-b", "next")
        assert listed(daemon, refresh=False)["shop"]["git_branch"] == "next"
        (shop / "src" / "b.txt").write_text("changed")
        daemon.hook(prompt("go") | {"cwd": str(shop / "src")})
        found = listed(daemon, refresh=False)
        assert found["shop"]["is_dirty"] is True
        assert (found["src"]["git_branch"], found["src"]["live_sessions"]) == ("next", 1)


def test_a_scan_from_the_command_line_asks_git_again_only_with_refresh(tmp_path: Path) -> None:
    repository(tmp_path / "code" / "shop")
    with serving(tmp_path) as daemon:

        def checked_at(*options: str) -> float:
            scanned = qd(daemon, "projects", "scan", "--json", *options)
            assert scanned.returncode == 0, scanned.stderr
            (shop,) = json.loads(scanned.stdout)["projects"]
            return float(shop["checked_at"])

        first = checked_at()
        assert checked_at() == first
        refreshed = checked_at("--refresh")
        assert refreshed > first
        assert checked_at("--anew") > refreshed
        usage = qd(daemon, "projects", "scan", "--help").stdout
        assert ("--refresh" in usage, "--anew" in usage) == (True, False)


def test_sessions_from_before_and_trust_are_shown(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    folder = tmp_path / "claude" / "projects" / "-any-name"
    folder.mkdir(parents=True)
    record: Json = {"type": "user", "cwd": str(shop), "timestamp": "2026-11-01T10:00:00Z", "uuid": "u1"}
    record["message"] = {"role": "user", "content": "make it work"}
    session_id = "0c7d1f52-7e0e-4b0c-a1f8-3b7a7d0b6c11"
    (folder / f"{session_id}.jsonl").write_text(json.dumps(record | {"sessionId": session_id}) + "\n")
    with serving(tmp_path) as daemon:
        [found] = listed(daemon).values()
        assert (found["path"], found["trusted"], found["trust"]) == (str(shop), False, "none")
        [past] = found["prior_sessions"]
        assert past["agent"] == "claude"
        assert (past["session_id"], past["title"]) == (session_id, "make it work")
        daemon.api("POST", "/projects/trust", {"path": str(shop)})
        assert daemon.api("GET", "/projects")[1]["projects"][0]["trusted"] is True
        daemon.api("POST", "/projects/untrust", {"path": str(shop)})
        assert json.loads(qd(daemon, "projects", "scan", "--json").stdout)["projects"][0]["trusted"] is False
    with serving(tmp_path, QUARTERDECK_PROJECTS_SCAN_CLAUDE="false") as daemon:
        assert listed(daemon) == {}


def test_the_first_list_waits_for_a_scan_and_names_a_missing_root(tmp_path: Path) -> None:
    with serving(tmp_path) as daemon:
        assert daemon.api("GET", "/projects/scan")[1]["state"] == "never"
        _, found = daemon.api("GET", "/projects")
        assert (found["projects"], found["scan"]["state"]) == ([], "done")
        assert found["scan"]["notes"] == [f"projects.roots: {tmp_path / 'code'} is not a folder"]
        shown = qd(daemon, "projects")
        assert shown.stdout.startswith("No projects.")
        assert "is not a folder" in shown.stdout


def test_a_scan_that_is_still_running_is_reported(tmp_path: Path) -> None:
    for n in range(12):
        repository(tmp_path / "code" / f"p{n}")
    with serving(tmp_path) as daemon:
        status, scan = daemon.api("POST", "/projects/scan?wait=0")
        assert (status, scan["state"]) == (202, "running")
        until(lambda: daemon.api("GET", "/projects/scan")[1]["state"] == "done", what="the end of the scan")
        assert daemon.api("GET", "/projects/scan")[1]["total"] == 12


def test_hostile_names_are_only_names(tmp_path: Path) -> None:
    names = ["-rf", "a\nb", "$(touch pwned)", "x'; touch pwned", "\x1b[2J", "bad\udcff"]
    for name in names:
        repository(tmp_path / "code" / name)
    with serving(tmp_path) as daemon:
        found = listed(daemon)
        shown = qd(daemon, "projects")
    assert len(found) == len(names)
    assert {one["git_branch"] for one in found.values()} == {"main"}
    assert not list(tmp_path.rglob("pwned"))
    assert "\x1b" not in shown.stdout


def at(folder: Path) -> Repository | str | None:
    return repository_at(str(folder))


def test_a_git_that_hangs_is_ended(tmp_path: Path) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    found = at(repository(tmp_path / "shop"))
    assert isinstance(found, Repository)
    facts = GitReader(str(slow), seconds=0.2).facts(found)
    assert facts.trouble == "git took more than 0 s"
    assert GitReader(str(tmp_path / "none")).facts(found).trouble == "git could not be run: No such file or directory"


@pytest.mark.law("I8")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda place, real: place.symlink_to(real / ".git"), "is a link"),
        (lambda place, real: os.mkfifo(place), "neither a folder nor a file"),
        (lambda place, real: place.write_text("gitdir: /no/such"), "does not exist"),
        (lambda place, real: place.write_text("nonsense"), "does not exist"),
        (lambda place, real: place.write_text("gitdir: /etc/passwd"), "no repository"),
    ],
)
def test_an_invalid_git_folder_is_not_read(tmp_path: Path, make: Callable[[Path, Path], object], reason: str) -> None:
    real = repository(tmp_path / "real")
    (tmp_path / "odd").mkdir()
    make(tmp_path / "odd" / ".git", real)
    found = at(tmp_path / "odd")
    assert isinstance(found, str)
    assert reason in found


def project_with_config(folder: Path) -> Path:
    """A project with a hook, a server and a variable."""
    (folder / ".claude").mkdir(parents=True)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks, "env": {"ODD": "value"}}))
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"files": {"command": "serve-files"}}}))
    return folder


@pytest.mark.law("S9")
def test_a_projects_config_is_shown_before_it_is_trusted(tmp_path: Path) -> None:
    folder = project_with_config(tmp_path / "code" / "shop")
    with serving(tmp_path) as daemon:
        status, found = daemon.api("GET", f"/projects/brings?path={folder}")
        assert (status, found["path"], found["trusted"]) == (200, str(folder), False)
        assert [(hook["event"], hook["runs"]) for hook in found["hooks"]] == [("Stop", "touch ran")]
        assert [server["runs"] for server in found["servers"]] == ["serve-files"]
        assert [(one["name"], one["says"]) for one in found["variables"]] == [("ODD", "")]
        done = qd(daemon, "projects", "trust", str(folder))
        assert done.returncode == 0, done.stderr
        assert "Stop: touch ran  (.claude/settings.json)" in done.stdout
        assert f"Trusted: {folder}" in done.stdout
        assert daemon.api("GET", f"/projects/brings?path={folder}/.claude")[1]["trusted"]
        assert daemon.api("GET", f"/projects/brings?path={folder}/gone")[0] == 404
        assert daemon.api("GET", "/projects/brings?path=shop")[0] == 422
    assert not (folder / "ran").exists()
