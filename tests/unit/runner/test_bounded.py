"""A program is run within bounds."""

from __future__ import annotations

import time

import pytest

from quarterdeck.system.run_program import Ended, run

ENV = {"PATH": "/usr/bin:/bin"}


def sh(script: str, seconds: float = 10.0, limit: int = 1000) -> Ended:
    return run(["sh", "-c", script], cwd="/", env=ENV, seconds=seconds, limit=limit)


def test_what_it_says_and_how_it_ends() -> None:
    assert sh("echo out; echo err >&2; exit 3") == Ended(out=b"out\n", err=b"err\n", code=3)


def test_one_that_takes_too_long_is_ended_with_all_it_started() -> None:
    started = time.monotonic()
    ended = sh("sleep 60 & sleep 60", seconds=0.2)
    assert (ended.cut, ended.code) == ("time", -9)
    assert time.monotonic() - started < 5


def test_one_that_closes_its_output_and_stays_is_ended_too() -> None:
    assert sh("exec >&- 2>&-; exec sleep 60", seconds=0.2).cut == "time"


def test_one_that_says_too_much_is_cut_off() -> None:
    ended = sh("yes")
    assert ended.cut == "output"
    assert len(ended.out) < 1_000_000


@pytest.mark.law("I9")
def test_it_sees_no_environment_but_its_own_and_reads_nothing() -> None:
    ended = sh("env; cat; ls /proc/self/fd | wc -l")
    assert b"HOME" not in ended.out
    assert ended.code == 0
