"""The terminal that a process has in its hands."""

from __future__ import annotations

import os
import subprocess

from quarterdeck.system.process_table import HAS_PROC
from quarterdeck.system.terminal_group import foreground_terminal, terminal_device
from tests.support.foreground import terminal_process


def test_a_process_in_the_foreground_has_the_terminal_it_runs_in() -> None:
    with terminal_process() as (pid, path):
        assert foreground_terminal(pid) == os.stat(path).st_rdev == terminal_device(path)


def test_a_process_in_the_background_or_without_a_terminal_has_none() -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as alone:
        assert foreground_terminal(alone.pid) is None
        alone.kill()
    assert foreground_terminal(2**22 + 1) is None
    assert terminal_device("/nowhere") is None
    assert HAS_PROC or foreground_terminal(1) is None
