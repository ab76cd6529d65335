"""The process table of this machine."""

from __future__ import annotations

import os
import subprocess
import sys

from quarterdeck.core.model.state import ProcessId
from quarterdeck.system.process_table import ProcessInfo, alive, ancestry, process_id, process_table, read_proc, runs


def test_this_process_is_in_the_table_below_its_parent() -> None:
    found = read_proc(os.getpid())
    assert found is not None
    assert (found.pid, found.parent) == (os.getpid(), os.getppid())
    assert process_id(os.getpid()) == found.id
    assert process_table()[os.getpid()].id == found.id


def test_another_process_with_the_same_pid_is_not_taken_for_it() -> None:
    mine = process_id(os.getpid())
    assert mine is not None
    assert runs(mine)
    assert not runs(ProcessId(mine.pid, "another start"))


def test_a_process_that_has_ended_does_not_run_even_before_it_is_reaped() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = process_id(process.pid)
    assert known is not None
    assert process.stdin is not None
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not runs(known)
    assert not alive(process.pid)
    assert process_id(process.pid) is None
    process.wait()


def test_a_circle_in_the_table_ends() -> None:
    table = {pid: ProcessInfo(ProcessId(pid, "1"), parent, 0) for pid, parent in ((7, 8), (8, 9), (9, 7))}
    assert [proc.pid for proc in ancestry(7, table.get)] == [7, 8, 9]
    assert list(ancestry(5, table.get)) == []
