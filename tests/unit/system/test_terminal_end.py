"""A program on a terminal ends on SIGHUP and SIGTERM, and with its terminal, whatever it is doing."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

ENDINGS = pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM], ids=str)
BEGIN = """
import os, signal, sys, threading
from quarterdeck.system.terminal_end import *
"""
IGNORED = (
    "for number in ENDINGS: signal.signal(number, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)"
)


def code_of(script: str) -> int:
    """The exit code of a program."""
    return subprocess.run([sys.executable, "-c", BEGIN + script], check=False, timeout=60).returncode


@ENDINGS
def test_a_signal_closes_the_program_with_its_exit_code(number: int) -> None:
    assert (
        code_of(f"with ends_with_terminal(sys.exit): os.kill(os.getpid(), {number:d}); signal.pause()") == 128 + number
    )


@ENDINGS
def test_a_program_that_does_not_close_ends_all_the_same(number: int) -> None:
    """As one that waits to draw on a terminal that is gone: a lock that nobody releases."""
    stuck = f"stuck = threading.Lock(); stuck.acquire()\nos.kill(os.getpid(), {number:d}); stuck.acquire()"
    assert code_of(f"with ends_with_terminal(lambda code: None):\n    {stuck.replace(chr(10), chr(10) + '    ')}") == (
        128 + number
    )


@ENDINGS
def test_an_ignored_or_blocked_signal_is_accepted_again(number: int) -> None:
    assert code_of(f"{IGNORED}\naccept_endings()\nos.kill(os.getpid(), {number:d})") == -number


def test_the_loss_of_the_terminal_counts_as_a_hang_up() -> None:
    master, terminal = pty.openpty()
    script = f"{BEGIN}with ends_with_terminal(sys.exit): os.write(1, b'ready'); threading.Event().wait()"
    argv = [sys.executable, "-c", script]
    with subprocess.Popen(argv, stdin=terminal, stdout=terminal, start_new_session=True) as program:
        os.close(terminal)
        assert os.read(master, 100) == b"ready"
        os.close(master)
        assert program.wait(60) == 128 + signal.SIGHUP


def test_a_signal_also_ends_the_program_in_the_foreground() -> None:
    later = "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()"
    shown = "os.write(2, str(run_in_foreground(['sleep', '600'])).encode())"
    script = f"{BEGIN}{later}\nwith ends_with_terminal(lambda code: None): {shown}"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, timeout=60)
    assert done.stderr == b"-15"


def test_after_the_block_the_handlers_from_before_are_back() -> None:
    script = (
        "signal.signal(15, lambda *_: os._exit(7))\nwith ends_with_terminal(sys.exit): pass\nos.kill(os.getpid(), 15)"
    )
    assert code_of(script) == 7
