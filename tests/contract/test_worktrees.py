"""Worktrees of real repositories, friendly and hostile."""

from __future__ import annotations

import contextlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.workspace.worktree_output import FileChange
from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.errors import Refused
from quarterdeck.projects.git_write import GitWriter
from quarterdeck.projects.worktrees import Worktrees
from tests.support.daemon import Daemon, until
from tests.support.repositories import WHO, commit, git, hostile, repository, runs_when_written

SESSION = "5bcc959a-1f0c-4c55-9c5f-3a2b1c0d9e8f"
MANY_FILES = 10_000
"""So many take a moment to remove."""


@pytest.fixture(autouse=True)
def _who(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own, where git has an author for commits."""
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "code" / "shop")


@pytest.fixture
def worktrees(tmp_path: Path) -> Worktrees:
    return Worktrees(tmp_path / "worktrees")


def work(made: Worktree, name: str, content: str) -> None:
    (Path(made.path) / name).write_text(content)
    commit(Path(made.path))


async def listed(worktrees: Worktrees, shop: Path) -> tuple[bool | None, int | None, int | None]:
    (one,) = await worktrees.for_project(str(shop))
    assert (one.branch, one.base, one.session_id) == ("quarterdeck/5bcc959a", "main", SESSION)
    return one.is_dirty, one.ahead, one.behind


async def test_work_in_a_worktree_is_merged_into_its_base(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    assert Path(made.path).name == "shop-5bcc959a"
    assert (Path(made.path) / "a.txt").read_text() == "one\n"
    assert await listed(worktrees, shop) == (False, 0, 0)
    work(made, "b.txt", "new\n")
    (Path(made.path) / "a.txt").write_text("one\ntwo\n")
    (Path(made.path) / "c.txt").write_text("unknown to git\n")
    assert await listed(worktrees, shop) == (True, 1, 0)
    with pytest.raises(Refused, match="not committed"):
        await worktrees.merge(made)
    found = await worktrees.diff(made)
    assert found.files == (FileChange(path="a.txt", added=1, removed=0), FileChange(path="b.txt", added=1, removed=0))
    assert found.untracked == ("c.txt",)
    assert "+two" in found.text
    assert not found.is_cut
    commit(Path(made.path))
    await worktrees.merge(made)
    assert (shop / "b.txt").read_text() == "new\n"
    assert await listed(worktrees, shop) == (False, 0, 0)
    await worktrees.discard(made)
    assert await worktrees.for_project(str(shop)) == []
    assert not Path(made.path).exists()
    assert git(shop, "branch", "--list", "quarterdeck/*") == ""
    assert "quarterdeck" not in (shop / ".git" / "config").read_text()


async def test_a_base_with_new_commits_gets_a_merge_commit(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION, "main")
    work(made, "b.txt", "new\n")
    (shop / "c.txt").write_text("meanwhile\n")
    commit(shop)
    (shop / "untracked").write_text("stays\n")
    assert await listed(worktrees, shop) == (False, 1, 1)
    assert [file.path for file in (await worktrees.diff(made)).files] == ["b.txt"]
    await worktrees.merge(made)
    assert git(shop, "log", "-1", "--format=%s").strip() == "Merge quarterdeck/5bcc959a"
    assert git(shop, "status", "--porcelain") == "?? untracked\n"


async def test_a_conflict_is_undone_and_names_its_files(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    work(made, "a.txt", "theirs\n")
    (shop / "a.txt").write_text("mine\n")
    commit(shop)
    before = git(shop, "rev-parse", "HEAD")
    with pytest.raises(Refused, match=r"both changed a\.txt; merge them by hand"):
        await worktrees.merge(made)
    assert (git(shop, "rev-parse", "HEAD"), git(shop, "status", "--porcelain")) == (before, "")
    assert (shop / "a.txt").read_text() == "mine\n"


async def test_a_base_with_changes_or_not_checked_out_is_not_merged_into(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    work(made, "b.txt", "new\n")
    (shop / "a.txt").write_text("being written\n")
    with pytest.raises(Refused, match=r"shop: has changes"):
        await worktrees.merge(made)
    git(shop, "checkout", "-q", "a.txt")
    (shop / "b.txt").write_text("in the way\n")
    with pytest.raises(Refused, match="overwritten"):
        await worktrees.merge(made)
    (shop / "b.txt").unlink()
    git(shop, "checkout", "-q", "-b", "other")
    with pytest.raises(Refused, match="not checked out anywhere"):
        await worktrees.merge(made)
    assert not (shop / "b.txt").exists()


async def test_work_that_exists_nowhere_else_is_discarded_only_with_force(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    (Path(made.path) / "draft").write_text("half\n")
    with pytest.raises(Refused, match="not committed"):
        await worktrees.discard(made)
    commit(Path(made.path))
    with pytest.raises(Refused, match="1 commits are not in main"):
        await worktrees.discard(made)
    assert (Path(made.path) / "draft").exists()
    await worktrees.discard(made, force=True)
    assert not Path(made.path).exists()


async def test_other_worktrees_are_left_alone(worktrees: Worktrees, shop: Path, tmp_path: Path) -> None:
    git(shop, "worktree", "add", "-q", "-b", "quarterdeck/x", str(tmp_path / "elsewhere"))
    assert await worktrees.for_project(str(shop)) == []
    outside = Worktree(
        project=str(shop), path=str(tmp_path / "elsewhere"), branch="quarterdeck/x", base="main", session_id="s"
    )
    with pytest.raises(Refused, match="not a worktree of Quarterdeck"):
        await worktrees.discard(outside, force=True)
    made = await worktrees.create(str(shop), SESSION)
    with pytest.raises(Refused, match="not a worktree of Quarterdeck"):
        await worktrees.discard(replace(made, branch="main"), force=True)
    another = repository(tmp_path / "code" / "another")
    with pytest.raises(Refused, match="not a worktree of"):
        await worktrees.discard(replace(made, project=str(another)), force=True)
    assert Path(made.path, "a.txt").exists()


@pytest.mark.parametrize("base", ["nowhere", "main^", "--help", "main..main", ""])
async def test_only_a_branch_is_a_base(worktrees: Worktrees, shop: Path, base: str) -> None:
    git(shop, "checkout", "-q", "--detach")
    with pytest.raises(Refused, match=r"name the base|not a branch of"):
        await worktrees.create(str(shop), SESSION, base)
    assert await worktrees.for_project(str(shop)) == []


async def test_a_failed_create_leaves_nothing(worktrees: Worktrees, shop: Path, tmp_path: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    with pytest.raises(Refused, match="discard that worktree first"):
        await worktrees.create(str(shop), SESSION)
    await worktrees.discard(made)
    git(shop, "branch", "quarterdeck/5bcc959a")
    with pytest.raises(Refused, match="already exists"):
        await worktrees.create(str(shop), SESSION)
    assert not list((tmp_path / "worktrees").iterdir())
    (tmp_path / "plain").mkdir()
    with pytest.raises(Refused, match="not a git repository"):
        await worktrees.create(str(tmp_path / "plain"), SESSION)
    with pytest.raises(Refused, match="could not be run"):
        await Worktrees(tmp_path / "w", GitWriter("/no/git")).for_project(str(shop))


async def test_a_long_diff_is_cut(worktrees: Worktrees, shop: Path) -> None:
    made = await worktrees.create(str(shop), SESSION)
    work(made, "long.txt", "line\n" * 100_000)
    found = await worktrees.diff(made, limit=10_000)
    assert found.is_cut
    assert len(found.text) <= 10_000


@pytest.mark.law("S9")
async def test_no_repository_runs_anything(worktrees: Worktrees, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    quiet = [
        folder for folder in runs_when_written(tmp_path / "plain", marker) if not runs_in_plain_git(folder, marker)
    ]
    assert quiet == []
    for folder in [*hostile(tmp_path / "read", marker), *runs_when_written(tmp_path / "written", marker)]:
        await do_everything(worktrees, folder, marker)
        assert not marker.exists(), folder.name


def both_change(folder: Path, worktree: Path, marker: Path) -> None:
    """Make conflicting commits on both sides, with plain git, so that the repository's programs have run already."""
    for place in (folder, worktree):
        (place / "a.txt").write_text(f"of {place}\n")
        (place / f"{place.name}.new").write_text("new\n")
        with contextlib.suppress(subprocess.CalledProcessError):
            git(place, "add", "-A")
            git(place, "commit", "-q", "--no-gpg-sign", "-m", "more")
    marker.unlink(missing_ok=True)


def runs_in_plain_git(folder: Path, marker: Path) -> bool:
    """True if plain git commands run a program of the repository."""
    worktree = folder.with_name(f"{folder.name}-tree")
    marker.unlink(missing_ok=True)
    git(folder, "worktree", "add", "-q", "-b", "quarterdeck/x", str(worktree))
    ran = marker.exists()
    both_change(folder, worktree, marker)
    for words in (["diff", "main"], ["merge", "--no-edit", "-X", "ours", "main"]):
        subprocess.run(["git", *words], cwd=worktree, env=os.environ | WHO, capture_output=True, timeout=20)
    ran = ran or marker.exists()
    marker.unlink(missing_ok=True)
    return ran


async def do_everything(worktrees: Worktrees, folder: Path, marker: Path) -> None:
    """Create, compare, merge and discard a worktree, as far as that is possible there."""
    marker.unlink(missing_ok=True)
    try:
        made = await worktrees.create(str(folder), folder.name)
    except Refused:
        return
    assert not marker.exists(), folder.name
    both_change(folder, Path(made.path), marker)
    for step in (worktrees.for_project(str(folder)), worktrees.diff(made), worktrees.merge(made)):
        with contextlib.suppress(Refused):
            await step
    assert not marker.exists(), folder.name
    with contextlib.suppress(subprocess.CalledProcessError):
        git(folder, "reset", "-q", "--hard", "HEAD~")
        (folder / "beside.new").write_text("goes together\n")
        git(folder, "add", "beside.new")
        git(folder, "commit", "-q", "--no-gpg-sign", "-m", "beside")
    marker.unlink(missing_ok=True)
    for step in (worktrees.merge(made), worktrees.discard(made, force=True)):
        with contextlib.suppress(Refused):
            await step


@pytest.mark.law("S4")
def test_a_worktree_is_discarded_or_its_session_runs_again_and_never_both(tmp_path: Path, shop: Path) -> None:
    shell = {"mode": "pty", "shell": True}
    env = {"HOME": str(tmp_path), "SHELL": "/bin/sh"}
    with Daemon(tmp_path / "qd", env=env) as daemon, ThreadPoolExecutor() as pool:
        daemon.api("POST", "/projects/trust", {"path": str(shop)})
        status, session = daemon.api("POST", "/sessions", {"cwd": str(shop), "worktree": True, **shell})
        assert status == 201, session
        folder, path = Path(session["cwd"]), f"/worktrees/{session['session_id']}?force=true"
        again = {"cwd": str(folder), "resume": session["session_id"], **shell}
        status, refused = daemon.api("DELETE", path)
        assert (status, "still runs there; first: qd end" in refused["error"]["message"]) == (409, True)
        end(daemon, session["session_id"])
        assert daemon.api("POST", "/sessions", again)[0] == 201
        assert (daemon.api("DELETE", path)[0], folder.is_dir()) == (409, True)
        end(daemon, session["session_id"])
        for number in range(MANY_FILES):
            (folder / str(number)).touch()
        discarded = pool.submit(daemon.api, "DELETE", path)
        until(lambda: len(list(folder.glob("*"))) < MANY_FILES, what="the removal", every=0.001)
        status, refused = daemon.api("POST", "/sessions", again)
        assert (status, refused["error"]["field"]) == (422, "cwd")
        assert (discarded.result()[0], folder.exists()) == (200, False)


def end(daemon: Daemon, session_id: str) -> None:
    assert daemon.api("POST", f"/sessions/{session_id}/end")[0] == 202
    until(lambda: daemon.api("GET", f"/sessions/{session_id}")[1]["ended_at"], what="the end")
