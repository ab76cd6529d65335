"""Simulation of a rule on the past of a real daemon: an odd history, a command to paste, and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, permission

SIMULATE = ("rules", "simulate", "allow", "Bash(ls:*)")
ODD = [
    {"command": "echo " + "x" * 1_000_000},
    {"command": "(((("},
    {"command": "ls \x1b[31m\u202e"},
    {"command": ""},
    {"command": 5},
    {"command": None},
    {"command": ["ls"]},
    {"file_path": 3},
    {},
]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def environ(daemon: Daemon, **more: str) -> dict[str, str]:
    home = {"HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    return {"PATH": os.environ["PATH"], "TERM": "xterm", **home, **more}


def qd(daemon: Daemon, *words: str) -> str:
    command = [sys.executable, "-m", "quarterdeck", *words]
    ended = subprocess.run(command, env=environ(daemon), capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_simulating_without_past_requests_says_so(daemon: Daemon) -> None:
    assert qd(daemon, *SIMULATE) == "There are no past requests to try it on.\n"


def test_an_odd_history_is_printed_in_whole_lines(daemon: Daemon) -> None:
    for tool in ("Bash", "Edit", "mcp__odd__tool", ""):
        for tool_input in ODD:
            daemon.hold({**permission("x"), "tool_name": tool, "tool_input": tool_input})
    for request in daemon.until_pending(4 * len(ODD), 60):
        daemon.decide(request, "pass")
    assert "Of the last 36 requests it would have allowed 0." in qd(daemon, *SIMULATE)
    assert "Of the last 36 requests it would have denied 9." in qd(daemon, "rules", "simulate", "deny", "Bash")
    assert "Of the last request it would have denied 0." in qd(daemon, "rules", "simulate", "deny", "Bash", "--last=1")
    assert "No suggestions yet, from 36 requests" in qd(daemon, "rules", "suggest")


@pytest.mark.law("I9")
def test_a_suggestion_can_be_pasted_whatever_the_folder_and_the_command_are_called(daemon: Daemon) -> None:
    folder, command = "/w/a b; touch '$(id)'", "make 'all of it'"
    for number in range(3):
        held = daemon.hold({**permission(command, f"s{number}"), "cwd": folder})
        [request] = daemon.until_pending(1)
        daemon.decide(request, "allow")
        held.answer()
    pasted = shlex.split(qd(daemon, "rules", "suggest").splitlines()[-1])
    assert pasted == ["qd", "rules", "add", "allow", f"Bash({command})", "--project", folder]


def interrupted(daemon: Daemon, words: tuple[str, ...], shown: bytes, **env: str) -> tuple[int, bytes]:
    """The exit code and output of a command when Ctrl-C is pressed once it has shown this."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "quarterdeck", *words]
    with subprocess.Popen(command, env=environ(daemon, **env), stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        screen = b""
        with suppress(OSError):
            while part := os.read(master, 1 << 16):
                pressed = shown in screen
                screen += part
                if shown in screen and not pressed:
                    process.send_signal(signal.SIGINT)
        os.close(master)
        return process.wait(30), screen


def test_ctrl_c_during_a_simulation_reports_its_progress(daemon: Daemon) -> None:
    with daemon.paused():
        code, screen = interrupted(daemon, SIMULATE, b"Reading past requests")
    assert code == 130
    assert b"quarterdeck: interrupted after 0 requests; nothing was changed" in screen
    assert b"Traceback" not in screen


def test_ctrl_c_while_a_command_is_imported_prints_no_traceback(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import time\nprint('reading', flush=True)\ntime.sleep(30)\n")
    code, screen = interrupted(daemon, ("rules", "list"), b"reading", PYTHONPATH=str(tmp_path))
    assert (code, screen.replace(b"^C", b"").strip()) == (130, b"reading")


def test_the_progress_bar_never_mixes_with_piped_output(daemon: Daemon) -> None:
    daemon.hold(permission("ls"))
    [request] = daemon.until_pending(1)
    daemon.decide(request, "pass")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "quarterdeck", *SIMULATE, "--json"]
    ended = subprocess.run(command, env=environ(daemon), stdout=subprocess.PIPE, stderr=slave, timeout=60)
    os.close(slave)
    assert json.loads(ended.stdout)["seen"] == 1
    assert b"Reading past requests" in os.read(master, 1 << 16)
    os.close(master)
