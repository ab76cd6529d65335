"""The programs of terminals after an upgrade of the files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from quarterdeck.errors import Refused
from quarterdeck.sessions.host_program import HOSTS, HostPrograms, read_stamps


def test_the_command_names_a_file_that_is_there() -> None:
    *_, program, option = HOSTS.command("supervisor.py", "--")
    assert (Path(program), option) == (HOSTS.folder / "supervisor.py", "--")
    assert Path(program).is_file()


def test_a_file_that_is_replaced_or_removed_changes_the_stamps(tmp_path: Path) -> None:
    for name in ("main.py", "frames.py"):
        (tmp_path / name).write_text("one")
    before = read_stamps(tmp_path)
    assert read_stamps(tmp_path) == before
    (tmp_path / "frames.py").write_text("longer")
    replaced = read_stamps(tmp_path)
    assert replaced != before
    os.utime(tmp_path / "frames.py", (1, 1))
    assert read_stamps(tmp_path) != replaced
    (tmp_path / "main.py").unlink()
    assert read_stamps(tmp_path).keys() == {"frames.py"}


def test_a_folder_that_is_gone_has_no_stamps(tmp_path: Path) -> None:
    assert read_stamps(tmp_path / "gone") == {}


def test_a_program_is_refused_once_a_file_that_it_may_load_has_changed(tmp_path: Path) -> None:
    for name in ("base", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(name)
    programs = HostPrograms(tmp_path / "own", HostPrograms(tmp_path / "base"))
    assert programs.command("main.py")[-1] == str(tmp_path / "own" / "main.py")
    (tmp_path / "base" / "main.py").write_text("another")
    with pytest.raises(Refused, match="was upgraded"):
        programs.command("main.py")
    shutil.rmtree(tmp_path / "own")
    with pytest.raises(Refused, match="was upgraded"):
        programs.command("main.py")
