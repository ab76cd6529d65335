"""The past of a real daemon in words: an odd history, a command to paste, and Ctrl-C in the middle."""

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


def test_a_rule_is_tried_on_no_past_in_words(daemon: Daemon) -> None:
    assert qd(daemon, *SIMULATE) == "There is no past request to try it on.\n"


def test_an_odd_history_is_told_in_whole_lines(daemon: Daemon) -> None:
    for tool in ("Bash", "Edit", "mcp__odd__tool", ""):
        for tool_input in ODD:
            daemon.hold({**permission("x"), "tool_name": tool, "tool_input": tool_input})
    daemon.until_pending(4 * len(ODD), 60)
    assert "Of the last 36 requests it would have allowed 0." in qd(daemon, *SIMULATE)
    assert "Of the last 36 requests it would have denied 9." in qd(daemon, "rules", "simulate", "deny", "Bash")
    assert "Of the last request it would have denied 0." in qd(daemon, "rules", "simulate", "deny", "Bash", "--last=1")
    assert "Nothing yet: 36 requests" in qd(daemon, "rules", "suggest")


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
    """How a command ends on a terminal when Ctrl-C is pressed once it has shown this."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "quarterdeck", *words]
    with subprocess.Popen(command, env=environ(daemon, **env), stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        screen = b""
        with suppress(OSError):
            while part := os.read(ours, 1 << 16):
                pressed = shown in screen
                screen += part
                if shown in screen and not pressed:
                    process.send_signal(signal.SIGINT)
        os.close(ours)
        return process.wait(30), screen


def test_ctrl_c_while_it_looks_back_says_how_far_it_came(daemon: Daemon) -> None:
    with daemon.paused():
        code, screen = interrupted(daemon, SIMULATE, b"Looking back")
    assert code == 130
    assert b"quarterdeck: interrupted after 0 requests; nothing was changed" in screen
    assert b"Traceback" not in screen


def test_ctrl_c_before_a_command_is_read_is_no_traceback(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import time\nprint('reading', flush=True)\ntime.sleep(30)\n")
    code, screen = interrupted(daemon, ("rules", "list"), b"reading", PYTHONPATH=str(tmp_path))
    assert (code, screen.replace(b"^C", b"").strip()) == (130, b"reading")


def test_the_bar_never_stands_between_what_is_piped(daemon: Daemon) -> None:
    daemon.hold(permission("ls"))
    daemon.until_pending(1)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "quarterdeck", *SIMULATE, "--json"]
    ended = subprocess.run(command, env=environ(daemon), stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    os.close(theirs)
    assert json.loads(ended.stdout)["seen"] == 1
    assert b"Looking back" in os.read(ours, 1 << 16)
    os.close(ours)
