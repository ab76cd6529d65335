"""A look at 1,000 git projects against `git status` over the same, eight at a time; and a second look."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.common import Figure, main, percentile
from quarterdeck.projects.catalog import THREADS, ProjectCatalog

PROJECTS = 1000
FILES = 20
ROUNDS = 3
WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")


def repositories(folder: Path) -> list[str]:
    """Copies of one repository of a few files, each with its index up to date."""
    seed = folder / "seed"
    seed.mkdir()
    for n in range(FILES):
        (seed / f"f{n}.txt").write_text("line\n" * n * 20)
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "one")):
        subprocess.run(["git", "-C", seed, *WHO, *words], check=True)
    subprocess.run(["git", "-C", seed, "remote", "add", "origin", "https://example.org/seed.git"], check=True)
    made = [folder / "code" / f"p{n:04}" for n in range(PROJECTS)]
    for path in made:
        shutil.copytree(seed, path)
    return [str(path) for path in made]


def git_status(folders: list[str]) -> float:
    """Seconds of `git status` in every folder, eight at a time."""
    command = ["xargs", "-0", f"-P{THREADS}", "-I{}", "git", "-C", "{}", "status", "--porcelain"]
    started = time.perf_counter()
    subprocess.run(command, input=b"\0".join(map(os.fsencode, folders)), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


async def looks(root: str) -> tuple[float, float]:
    """Seconds of a first and of a second look."""
    projects = ProjectCatalog([root], ["node_modules", ".git"])
    taken = []
    for _ in range(2):
        started = time.perf_counter()
        scan = await projects.scan(600)
        taken.append(time.perf_counter() - started)
        assert (scan.state, scan.done) == ("done", PROJECTS)
    assert all(one.git and one.git.branch == "main" for one in projects.all())
    await projects.close()
    return taken[0], taken[1]


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folders = repositories(Path(name).resolve())
        git_status(folders)
        bare: list[float] = []
        first: list[float] = []
        second: list[float] = []
        for _ in range(ROUNDS):
            bare.append(git_status(folders))
            one, two = asyncio.run(looks(str(Path(folders[0]).parent)))
            first.append(one)
            second.append(two)
    whole = percentile(first, 50) / percentile(bare, 50)
    again = percentile(second, 50) / percentile(first, 50)
    return [
        Figure(
            name=f"look at {PROJECTS:,} git projects",
            value=round(whole, 2),
            unit="×",
            against=f"git status, {THREADS} at a time, {percentile(bare, 50):.2f} s",
            goal="≤ 3",
            ok=whole <= 3,
        ),
        Figure(
            name=f"second look at {PROJECTS:,} git projects",
            value=round(again, 3),
            unit="×",
            against=f"the first, {percentile(first, 50):.2f} s",
            goal="≤ 0.2",
            ok=again <= 0.2,
        ),
    ]


if __name__ == "__main__":
    main(figures)
