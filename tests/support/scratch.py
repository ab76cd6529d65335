"""Scratch folders that are in no repository: git and Claude Code look for a `.git` in every folder above."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

USUAL = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))


def leave_repositories(config: pytest.Config) -> None:
    """Move what a run writes out of a repository, whether TMPDIR or --basetemp is in one; a project in it would not be
    the root of its own. Where no usual place is outside one, everything stays where it is."""
    given = Path(tempfile.gettempdir())
    root = first_outside((given, *USUAL)) or given
    if root != given:
        os.environ["TMPDIR"] = str(root)
        tempfile.tempdir = None
    basetemp = config.option.basetemp
    if basetemp and in_repository(Path(basetemp)) and not in_repository(root):
        config.option.basetemp = None


def first_outside(folders: Iterable[Path]) -> Path | None:
    """The first of these folders that can be written to and is in no repository."""
    return next((one for one in folders if os.access(one, os.W_OK | os.X_OK) and not in_repository(one)), None)


def in_repository(folder: Path) -> bool:
    """Whether a folder, or one above it, has a `.git`."""
    real = folder.resolve()
    return any(os.path.lexists(place / ".git") for place in (real, *real.parents))
