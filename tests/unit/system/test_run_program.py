"""Programs are run within limits of time and output."""

from __future__ import annotations

import time

import pytest

from quarterdeck.system.run_program import ProgramResult, run

ENV = {"PATH": "/usr/bin:/bin"}


def sh(script: str, seconds: float = 10.0, limit: int = 1000) -> ProgramResult:
    return run(["sh", "-c", script], cwd="/", env=ENV, seconds=seconds, limit=limit)


def test_output_and_exit_code_are_returned() -> None:
    assert sh("echo out; echo err >&2; exit 3") == ProgramResult(out=b"out\n", err=b"err\n", code=3)


def test_a_program_that_takes_too_long_is_ended_with_everything_it_started() -> None:
    started = time.monotonic()
    ended = sh("sleep 60 & sleep 60", seconds=0.2)
    assert (ended.cut, ended.code) == ("time", -9)
    assert time.monotonic() - started < 50


def test_a_program_that_closes_its_output_and_stays_is_ended_too() -> None:
    assert sh("exec >&- 2>&-; exec sleep 60", seconds=0.2).cut == "time"


def test_a_program_that_prints_too_much_is_cut_off() -> None:
    ended = sh("yes")
    assert ended.cut == "output"
    assert len(ended.out) < 1_000_000


@pytest.mark.law("I9")
def test_a_program_gets_only_its_own_environment_and_no_input() -> None:
    ended = sh("env; cat; ls /proc/self/fd | wc -l")
    assert b"HOME" not in ended.out
    assert ended.code == 0
