"""Worktrees of real repositories, kind and hostile."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.workspace.worktree_output import FileChange
from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.errors import Refused
from quarterdeck.projects.git_write import GitWork
from quarterdeck.projects.worktrees import Worktrees
from tests.support.repositories import WHO, commit, git, hostile, repository, runs_when_written

SESSION = "5bcc959a-1f0c-4c55-9c5f-3a2b1c0d9e8f"


@pytest.fixture(autouse=True)
def _who(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of nobody's, whose git knows who commits."""
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "code" / "shop")


@pytest.fixture
def ours(tmp_path: Path) -> Worktrees:
    return Worktrees(tmp_path / "worktrees")


def work(made: Worktree, name: str, content: str) -> None:
    (Path(made.path) / name).write_text(content)
    commit(Path(made.path))


async def listed(ours: Worktrees, shop: Path) -> tuple[bool | None, int | None, int | None]:
    (one,) = await ours.of(str(shop))
    assert (one.branch, one.base, one.session_id) == ("quarterdeck/5bcc959a", "main", SESSION)
    return one.is_dirty, one.ahead, one.behind


async def test_work_goes_from_a_branch_of_its_own_into_its_base(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    assert Path(made.path).name == "shop-5bcc959a"
    assert (Path(made.path) / "a.txt").read_text() == "one\n"
    assert await listed(ours, shop) == (False, 0, 0)
    work(made, "b.txt", "new\n")
    (Path(made.path) / "a.txt").write_text("one\ntwo\n")
    (Path(made.path) / "c.txt").write_text("unknown to git\n")
    assert await listed(ours, shop) == (True, 1, 0)
    with pytest.raises(Refused, match="not committed"):
        await ours.merge(made)
    found = await ours.diff(made)
    assert found.files == (FileChange(path="a.txt", added=1, removed=0), FileChange(path="b.txt", added=1, removed=0))
    assert found.untracked == ("c.txt",)
    assert "+two" in found.text
    assert not found.is_cut
    commit(Path(made.path))
    await ours.merge(made)
    assert (shop / "b.txt").read_text() == "new\n"
    assert await listed(ours, shop) == (False, 0, 0)
    await ours.discard(made)
    assert await ours.of(str(shop)) == []
    assert not Path(made.path).exists()
    assert git(shop, "branch", "--list", "quarterdeck/*") == ""
    assert "quarterdeck" not in (shop / ".git" / "config").read_text()


async def test_a_base_that_went_on_gets_a_merge_commit(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION, "main")
    work(made, "b.txt", "new\n")
    (shop / "c.txt").write_text("meanwhile\n")
    commit(shop)
    (shop / "untracked").write_text("stays\n")
    assert await listed(ours, shop) == (False, 1, 1)
    assert [file.path for file in (await ours.diff(made)).files] == ["b.txt"]
    await ours.merge(made)
    assert git(shop, "log", "-1", "--format=%s").strip() == "Merge quarterdeck/5bcc959a"
    assert git(shop, "status", "--porcelain") == "?? untracked\n"


async def test_a_conflict_is_taken_back_and_names_its_files(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    work(made, "a.txt", "theirs\n")
    (shop / "a.txt").write_text("mine\n")
    commit(shop)
    before = git(shop, "rev-parse", "HEAD")
    with pytest.raises(Refused, match=r"both changed a\.txt; merge them by hand"):
        await ours.merge(made)
    assert (git(shop, "rev-parse", "HEAD"), git(shop, "status", "--porcelain")) == (before, "")
    assert (shop / "a.txt").read_text() == "mine\n"


async def test_a_base_with_changes_or_elsewhere_is_not_merged_into(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    work(made, "b.txt", "new\n")
    (shop / "a.txt").write_text("being written\n")
    with pytest.raises(Refused, match=r"shop: has changes"):
        await ours.merge(made)
    git(shop, "checkout", "-q", "a.txt")
    (shop / "b.txt").write_text("in the way\n")
    with pytest.raises(Refused, match="overwritten"):
        await ours.merge(made)
    (shop / "b.txt").unlink()
    git(shop, "checkout", "-q", "-b", "other")
    with pytest.raises(Refused, match="checked out nowhere"):
        await ours.merge(made)
    assert not (shop / "b.txt").exists()


async def test_work_that_is_nowhere_else_is_thrown_away_only_when_forced(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    (Path(made.path) / "draft").write_text("half\n")
    with pytest.raises(Refused, match="not committed"):
        await ours.discard(made)
    commit(Path(made.path))
    with pytest.raises(Refused, match="1 commits are not in main"):
        await ours.discard(made)
    assert (Path(made.path) / "draft").exists()
    await ours.discard(made, force=True)
    assert not Path(made.path).exists()


async def test_what_is_not_ours_is_left_alone(ours: Worktrees, shop: Path, tmp_path: Path) -> None:
    git(shop, "worktree", "add", "-q", "-b", "quarterdeck/x", str(tmp_path / "elsewhere"))
    assert await ours.of(str(shop)) == []
    outside = Worktree(
        project=str(shop), path=str(tmp_path / "elsewhere"), branch="quarterdeck/x", base="main", session_id="s"
    )
    with pytest.raises(Refused, match="no worktree of ours"):
        await ours.discard(outside, force=True)
    made = await ours.create(str(shop), SESSION)
    with pytest.raises(Refused, match="no worktree of ours"):
        await ours.discard(replace(made, branch="main"), force=True)
    another = repository(tmp_path / "code" / "another")
    with pytest.raises(Refused, match="no worktree of"):
        await ours.discard(replace(made, project=str(another)), force=True)
    assert Path(made.path, "a.txt").exists()


@pytest.mark.parametrize("base", ["nowhere", "main^", "--help", "main..main", ""])
async def test_only_a_branch_is_a_base(ours: Worktrees, shop: Path, base: str) -> None:
    git(shop, "checkout", "-q", "--detach")
    with pytest.raises(Refused, match=r"name the base|no branch of"):
        await ours.create(str(shop), SESSION, base)
    assert await ours.of(str(shop)) == []


async def test_what_cannot_be_made_leaves_nothing(ours: Worktrees, shop: Path, tmp_path: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    with pytest.raises(Refused, match="discard that worktree first"):
        await ours.create(str(shop), SESSION)
    await ours.discard(made)
    git(shop, "branch", "quarterdeck/5bcc959a")
    with pytest.raises(Refused, match="already exists"):
        await ours.create(str(shop), SESSION)
    assert not list((tmp_path / "worktrees").iterdir())
    (tmp_path / "plain").mkdir()
    with pytest.raises(Refused, match="no git repository"):
        await ours.create(str(tmp_path / "plain"), SESSION)
    with pytest.raises(Refused, match="could not be run"):
        await Worktrees(tmp_path / "w", GitWork("/no/git")).of(str(shop))


async def test_a_long_difference_is_cut(ours: Worktrees, shop: Path) -> None:
    made = await ours.create(str(shop), SESSION)
    work(made, "long.txt", "line\n" * 100_000)
    found = await ours.diff(made, limit=10_000)
    assert found.is_cut
    assert len(found.text) <= 10_000


@pytest.mark.law("S9")
async def test_no_repository_runs_anything(ours: Worktrees, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    quiet = [folder for folder in runs_when_written(tmp_path / "plain", marker) if not runs_plainly(folder, marker)]
    assert quiet == []
    for folder in [*hostile(tmp_path / "read", marker), *runs_when_written(tmp_path / "written", marker)]:
        await do_everything(ours, folder, marker)
        assert not marker.exists(), folder.name


def both_change(folder: Path, worktree: Path, marker: Path) -> None:
    """Commits on both sides, that do not go together; made carelessly, so that what the repository runs has run."""
    for place in (folder, worktree):
        (place / "a.txt").write_text(f"of {place}\n")
        (place / f"{place.name}.new").write_text("new\n")
        with contextlib.suppress(subprocess.CalledProcessError):
            git(place, "add", "-A")
            git(place, "commit", "-q", "--no-gpg-sign", "-m", "more")
    marker.unlink(missing_ok=True)


def runs_plainly(folder: Path, marker: Path) -> bool:
    """Whether plain git commands would have run something."""
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


async def do_everything(ours: Worktrees, folder: Path, marker: Path) -> None:
    """As far as it can be done there."""
    marker.unlink(missing_ok=True)
    try:
        made = await ours.create(str(folder), folder.name)
    except Refused:
        return
    assert not marker.exists(), folder.name
    both_change(folder, Path(made.path), marker)
    for step in (ours.of(str(folder)), ours.diff(made), ours.merge(made)):
        with contextlib.suppress(Refused):
            await step
    assert not marker.exists(), folder.name
    with contextlib.suppress(subprocess.CalledProcessError):
        git(folder, "reset", "-q", "--hard", "HEAD~")
        (folder / "beside.new").write_text("goes together\n")
        git(folder, "add", "beside.new")
        git(folder, "commit", "-q", "--no-gpg-sign", "-m", "beside")
    marker.unlink(missing_ok=True)
    for step in (ours.merge(made), ours.discard(made, force=True)):
        with contextlib.suppress(Refused):
            await step
