"""Real git repositories: plain ones, and ones that run a program on a careless git command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, env=os.environ | WHO, check=True, capture_output=True, text=True).stdout


def repository(folder: Path, branch: str = "main") -> Path:
    """A repository with one commit of one file."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    (folder / "a.txt").write_text("one\n")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "-m", "more")


def hostile(root: Path, marker: Path) -> list[Path]:
    """Repositories that touch the marker, each in another way, on a plain `git status`, or could."""
    touch = f"touch {marker}"
    made = [_configured(root / "fsmonitor", "core.fsmonitor", f"{touch}; false")]
    made.append(_configured(root / "included", "include.path", "../evil"))
    (made[-1] / "evil").write_text(f"[core]\n\tfsmonitor = {touch}\n")
    made.append(_configured(root / "included-if", f"includeIf.gitdir:{root}/**.path", "../evil"))
    (made[-1] / "evil").write_text(f'[filter "x"]\n\tclean = {touch}\n\trequired = true\n')
    (made[-1] / ".gitattributes").write_text("* filter=x\n")
    for name in ("x", "a=b.c"):
        made.append(_configured(root / f"filter {name}", f"filter.{name}.clean", touch))
        (made[-1] / ".git" / "config").write_text(f'[core]\n\tbare = false\n[filter "{name}"]\n\tclean = {touch}\n')
        (made[-1] / ".gitattributes").write_text(f"* filter={name}\n")
    made.append(_configured(root / "process", "filter.x.process", touch))
    (made[-1] / ".gitattributes").write_text("* filter=x\n")
    made.append(_configured(root / "hooks", "core.hooksPath", "hooks"))
    for hook in ("post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
        program = made[-1] / "hooks" / hook
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{touch}\n")
        program.chmod(0o755)
    made += [_with_submodule(root / "submodule", touch), _partial(root / "partial", touch)]
    for folder in made:
        _make_stale(folder)
    return made


def runs_when_written(root: Path, marker: Path) -> list[Path]:
    """Repositories that touch the marker, each in another way, when git creates, compares or merges a worktree."""
    touch = f"touch {marker}"
    program = _program(root / "touch", touch)
    made = [_with_attribute(root / "driver", "merge=x", "merge.x.driver", touch)]
    made.append(_configured(root / "signing", "commit.gpgSign", "true"))
    git(made[-1], "config", "gpg.program", str(program))
    made.append(_with_attribute(root / "smudge", "filter=x", "filter.x.smudge", touch))
    made.append(_with_attribute(root / "textconv", "diff=x", "diff.x.textconv", str(program)))
    made.append(_configured(root / "external", "diff.external", str(program)))
    made.append(_with_attribute(root / "on-branch", "filter=y", "includeIf.onbranch:quarterdeck/**.path", "../evil"))
    (made[-1] / "evil").write_text(f'[filter "y"]\n\tsmudge = {touch}\n\tclean = {touch}\n')
    for hook in ("post-checkout", "post-merge", "pre-merge-commit", "commit-msg", "reference-transaction"):
        made.append(repository(root / hook))
        _program(made[-1] / ".git" / "hooks" / hook, touch)
    return made


def _program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def _with_attribute(folder: Path, attribute: str, key: str, value: str) -> Path:
    repository(folder)
    (folder / ".gitattributes").write_text(f"*.txt {attribute}\n")
    commit(folder)
    git(folder, "config", key, value)
    return folder


def _configured(folder: Path, key: str, value: str) -> Path:
    repository(folder)
    git(folder, "config", key, value)
    return folder


def _make_stale(folder: Path) -> None:
    """Give a file new content of the same size: git must read it, through its filters, to notice. The index is older
    than every file it names, so `git status` writes it again; else it would only within the second of its commit."""
    file = folder / "a.txt"
    file.write_text("two\n")
    os.utime(file, (1, 1))
    os.utime(folder / ".git" / "index", (1, 1))


def _with_submodule(folder: Path, touch: str) -> Path:
    repository(folder)
    inner = repository(folder / "inner")
    git(folder, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    (folder / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    commit(folder)
    git(inner, "config", "core.fsmonitor", touch)
    return folder


def _partial(folder: Path, touch: str) -> Path:
    """A partial clone: objects are missing, and its settings name a program that fetches them."""
    repository(folder)
    settings = ("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = origin\n"
                f'[remote "origin"]\n\turl = {folder}\n\tuploadpack = {touch}; false\n\tpromisor = true\n')  # fmt: skip
    (folder / ".git" / "config").write_text(settings)
    tree = git(folder, "rev-parse", "HEAD^{tree}").strip()
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    return folder
