"""Projects are watched: a change is noticed within seconds, at no cost while nothing happens."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator
from pathlib import Path

from watchfiles import Change

from quarterdeck.core.workspace.projects import Project
from quarterdeck.projects.catalog import ProjectCatalog
from quarterdeck.projects.watcher import Watcher
from tests.contract.test_projects import qd, serving
from tests.support.daemon import until
from tests.support.repositories import git, repository

SEEN_SECONDS = 60.0
"""On an idle machine it takes two seconds."""


async def sees(projects: ProjectCatalog, check: Callable[[dict[str, Project]], bool]) -> None:
    async with asyncio.timeout(SEEN_SECONDS):
        while not check({Path(one.path).name: one for one in projects.all()}):
            await asyncio.sleep(0.02)


async def until_watched(projects: ProjectCatalog, how: str = "live") -> None:
    async with asyncio.timeout(SEEN_SECONDS):
        while projects.progress.watch != how:
            await asyncio.sleep(0.02)


def test_a_daemon_sees_branches_new_projects_and_claude_folders_without_a_scan(tmp_path: Path) -> None:
    shop = repository(tmp_path / "code" / "shop")
    with serving(tmp_path) as daemon:

        def found() -> dict[str, dict[str, object]]:
            answer = daemon.api("GET", "/projects")[1]
            return {one["name"]: one for one in answer["projects"]}

        assert found()["shop"]["git_branch"] == "main"
        scanned_at = daemon.api("GET", "/projects/scan")[1]["started_at"]
        until(lambda: daemon.api("GET", "/projects/scan")[1]["watch"] == "live", SEEN_SECONDS, what="the watch")
        git(shop, "checkout", "-q", "-b", "next")
        until(lambda: found()["shop"]["git_branch"] == "next", SEEN_SECONDS, what="the branch")
        (shop / ".claude").mkdir()
        until(lambda: found()["shop"]["has_claude_config"] is True, SEEN_SECONDS, what="the .claude folder")
        repository(tmp_path / "code" / "group" / "fresh", "trunk")
        until(lambda: found().get("fresh", {}).get("git_branch") == "trunk", SEEN_SECONDS, what="the new project")
        git(tmp_path / "code" / "group" / "fresh", "checkout", "-q", "-b", "later")
        until(lambda: found()["fresh"]["git_branch"] == "later", SEEN_SECONDS, what="a branch of the new project")
        assert daemon.api("GET", "/projects/scan")[1]["started_at"] == scanned_at


async def test_a_project_that_is_removed_leaves_the_list(tmp_path: Path) -> None:
    repository(tmp_path / "shop")
    (tmp_path / "plain").mkdir()
    projects = ProjectCatalog([str(tmp_path)], [".git"])
    await projects.scan(30)
    await until_watched(projects)
    (tmp_path / "plain").rmdir()
    await sees(projects, lambda found: set(found) == {"shop"})
    await projects.close()


async def test_folders_that_the_kernel_cannot_watch_are_polled_with_a_note(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        repository(tmp_path / name)
    projects = ProjectCatalog([str(tmp_path)], [".git"], watcher=Watcher(most=2, slow_seconds=0.5))
    await projects.scan(30)
    await until_watched(projects, "partly")
    assert "only 2 of 7 folders are watched" in projects.progress.notes[-1]
    git(tmp_path / "c", "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["c"].git and found["c"].git.branch == "next"))
    await projects.close()


def full(*folders: str, **how: object) -> Iterator[set[tuple[Change, str]]]:
    """Fail like the kernel when it has no watch left."""
    raise OSError(errno.ENOSPC, "OS file watch limit reached")


async def test_without_a_kernel_watch_all_folders_are_polled_with_a_note(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    projects = ProjectCatalog([str(tmp_path)], [".git"], watcher=Watcher(slow_seconds=0.5, wait=full))
    await projects.scan(30)
    await until_watched(projects, "slow")
    assert "raise fs.inotify.max_user_watches" in projects.progress.notes[-1]
    git(shop, "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["shop"].git and found["shop"].git.branch == "next"))
    await projects.close()


async def test_an_update_asks_git_only_where_it_did_something(tmp_path: Path) -> None:
    for name in ("a", "b"):
        repository(tmp_path / name)
    projects = ProjectCatalog([str(tmp_path)], [".git"])
    await projects.scan(30)
    await until_watched(projects)
    before = {one.path: one.checked_at for one in projects.all()}
    git(tmp_path / "b", "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["b"].git and found["b"].git.branch == "next"))
    (tmp_path / "c").mkdir()
    await sees(projects, lambda found: "c" in found)
    after = {one.path: one.checked_at for one in projects.all()}
    assert after[str(tmp_path / "a")] == before[str(tmp_path / "a")]
    assert after[str(tmp_path / "b")] > before[str(tmp_path / "b")]
    await projects.close()


def test_doctor_shows_how_changes_of_projects_are_noticed(tmp_path: Path) -> None:
    repository(tmp_path / "code" / "shop")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("claude:\n  path: /bin/true\n")
    with serving(tmp_path) as daemon:
        assert "projects:" not in qd(daemon, "doctor").stdout
        assert qd(daemon, "projects").returncode == 0
        until(lambda: daemon.api("GET", "/projects/scan")[1]["watch"] == "live", SEEN_SECONDS, what="the watch")
        assert "projects: changes are noticed as they happen" in qd(daemon, "doctor").stdout


async def test_a_list_waits_for_a_scan_while_folders_but_no_project_are_known(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    known: dict[str, float] = {}
    projects = ProjectCatalog([], [".git"], lambda: known)
    await projects.refresh(20.0)
    assert projects.all() == []
    known[str(shop)] = 1.0
    await projects.refresh(20.0)
    assert [project.path for project in projects.all()] == [str(shop)]
    await projects.close()
