"""The loader of the forwarder, run as Claude Code runs it: from a home, with and without what was compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck.daemon.setup.home_files import Home

PAYLOAD = b'{"hook_event_name": "Stop"}'
UNREACHABLE = "Quarterdeck cannot be reached"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.keep_forwarder()
    return home


def run(home: Home, *args: str, cwd: str = "/") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", "-X", "importtime", str(home.hook), "--socket", "/nonexistent", *args]
    return subprocess.run(command, input=PAYLOAD, capture_output=True, timeout=60, cwd=cwd)


def compiled(home: Home) -> Path:
    (found,) = (home.path / "__pycache__").iterdir()
    return found


def runs_the_forwarder(home: Home) -> bool:
    """Silent without a daemon, and a block with the gate."""
    silent, gate = run(home), run(home, "--enforce")
    return (silent.returncode, silent.stdout, gate.returncode) == (0, b"", 2) and UNREACHABLE in gate.stderr.decode()


@pytest.mark.law("E8")
def test_the_forwarder_runs_from_what_was_compiled(home: Home) -> None:
    assert runs_the_forwarder(home)
    content = compiled(home).read_bytes()
    compiled(home).write_bytes(content.replace(b"cannot be reached", b"was made compiled"))
    assert b"Quarterdeck was made compiled" in run(home, "--enforce").stderr


def no_copy(home: Home) -> None:
    compiled(home).unlink()


def an_empty_copy(home: Home) -> None:
    compiled(home).write_bytes(b"")


def a_copy_that_was_cut_off(home: Home) -> None:
    compiled(home).write_bytes(compiled(home).read_bytes()[:-100])


def a_copy_that_is_no_code(home: Home) -> None:
    compiled(home).write_bytes(compiled(home).read_bytes()[:16] + b"\xff" * 500)


def a_copy_of_something_else(home: Home) -> None:
    compiled(home).write_bytes(compiled(home).read_bytes()[:16] + b"N")


def a_copy_of_another_python(home: Home) -> None:
    compiled(home).write_bytes(b"\0\0\r\n" + compiled(home).read_bytes()[4:])


def a_copy_of_an_older_forwarder(home: Home) -> None:
    os.utime(home.forwarder, (1, 1))


def a_folder_in_its_place(home: Home) -> None:
    compiled(home).unlink()
    (home.path / "__pycache__").rmdir()
    (home.path / "__pycache__").write_text("no folder")


@pytest.mark.law("D2")
@pytest.mark.parametrize(
    "damage",
    [
        no_copy,
        an_empty_copy,
        a_copy_that_was_cut_off,
        a_copy_that_is_no_code,
        a_copy_of_something_else,
        a_copy_of_another_python,
        a_copy_of_an_older_forwarder,
        a_folder_in_its_place,
    ],
)
def test_a_compiled_copy_that_does_not_fit_counts_as_none(home: Home, damage: Callable[[Home], None]) -> None:
    damage(home)
    assert runs_the_forwarder(home)


def test_it_writes_nothing_and_works_from_any_folder(home: Home) -> None:
    compiled(home).unlink()
    before = sorted(home.path.rglob("*"))
    command = [sys.executable, "-I", "-S", "hook.py", "--socket", "/nonexistent", "--enforce"]
    done = subprocess.run(command, input=PAYLOAD, capture_output=True, timeout=60, cwd=home.path)
    assert (done.returncode, UNREACHABLE in done.stderr.decode()) == (2, True)
    assert sorted(home.path.rglob("*")) == before


@pytest.mark.law("D19")
def test_without_the_forwarder_it_fails_as_a_missing_program_does(home: Home) -> None:
    home.forwarder.unlink()
    assert run(home, "--enforce").returncode == 1


def test_it_loads_what_the_forwarder_loads_and_nothing_more(home: Home) -> None:
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", "pass"], capture_output=True, timeout=60
    )
    assert modules(run(home).stderr) - modules(bare.stderr) == set()


def modules(report: bytes) -> set[str]:
    lines = report.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
