"""Completion in the real shells, with names from a real daemon."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import PATIENCE_SECONDS, Daemon

ROOT = Path(__file__).parents[2]
SESSION = "5bcc959a-1111-4222-8333-444455556666"
BASH_CALL = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "rm \x1b[2Jx"}}
CI = bool(os.environ.get("CI"))


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not (shutil.which(shell) or CI), reason=f"{shell} is not here")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("completion") / "home") as running:
        running.hold({"session_id": SESSION, "cwd": "/home/ann/shop", **BASH_CALL})
        running.until_pending(1)
        yield running


@pytest.fixture
def environment(daemon: Daemon, tmp_path: Path) -> dict[str, str]:
    """An environment in which `qd` is this checkout's."""
    program = tmp_path / "bin" / "qd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m quarterdeck "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    home = {"HOME": str(tmp_path), "QUARTERDECK_HOME": str(daemon.home), "PYTHONPATH": str(ROOT / "src")}
    return {"PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", **home}


def pressing_tab(command: list[str], environment: dict[str, str], lines: list[str], expected: list[str]) -> str:
    """The screen of an interactive shell after these lines were typed, as soon as it shows all that is expected."""
    child, master = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, environment)
    try:
        os.write(master, "".join(lines).encode())
        screen, deadline = "", time.monotonic() + PATIENCE_SECONDS
        while not all(text in screen for text in expected) and time.monotonic() < deadline:
            if select.select([master], [], [], 1.0)[0]:
                screen += os.read(master, 1 << 16).decode(errors="replace")
        return screen
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(master)


def complete(environment: dict[str, str], *words: str) -> list[str]:
    command = [sys.executable, "-m", "quarterdeck", "__complete", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_names_come_from_the_daemon_without_control_characters(daemon: Daemon, environment: dict[str, str]) -> None:
    request_id = daemon.until_pending(1)[0]["request_id"]
    assert complete(environment, "allow", "") == [f"{request_id}\tBash rm  [2Jx"]
    [session] = complete(environment, "send", "5bcc")
    assert session.startswith("5bcc959a\tshop")


@pytest.mark.parametrize(("command", "count"), [("resume", 1), ("fork", 1), ("interrupt", 0), ("send", 0)])
def test_an_ended_session_is_named_only_where_the_command_takes_it(
    daemon: Daemon, environment: dict[str, str], command: str, count: int
) -> None:
    for hook in ("SessionStart", "SessionEnd"):
        daemon.hook({"session_id": "e4ded000-1111", "hook_event_name": hook, "cwd": "/home/ann/shop"})
    assert len(complete(environment, command, "e4d")) == count


def test_without_a_daemon_commands_are_completed_and_names_are_none(
    environment: dict[str, str], tmp_path: Path
) -> None:
    alone = {**environment, "QUARTERDECK_HOME": str(tmp_path / "none")}
    assert complete(alone, "reque") == ["requests\tList the requests that wait for you, or show one of them."]
    assert complete(alone, "allow", "") == []


@needs("bash")
def test_bash_completes_commands_names_and_files(daemon: Daemon, environment: dict[str, str], tmp_path: Path) -> None:
    request_id = daemon.until_pending(1)[0]["request_id"]
    (tmp_path / "my rules.yaml").write_text("")
    script = """
eval "$(qd completion bash)"
compopt() { :; }  # only works while readline completes
at() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qd_complete; printf '%s\\n' "${COMPREPLY[@]}"; }
at qd requ; at qd allow ''; at qd run --mode p; at qd rules import my
"""
    command = ["bash", "--norc", "--noprofile", "-euc", script]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["requests", request_id, "pty", "my rules.yaml"]


@needs("bash")
def test_bash_completes_at_a_terminal_when_tab_is_pressed(daemon: Daemon, environment: dict[str, str]) -> None:
    request_id = str(daemon.until_pending(1)[0]["request_id"])
    typed = ['eval "$(qd completion bash)"\n', "qd allow \t\x01echo \n"]
    shown = f"qd allow {request_id}"
    assert shown in pressing_tab(["bash", "--norc", "--noprofile", "-i"], environment, typed, [shown])


@needs("zsh")
def test_zsh_completes_at_a_terminal_when_tab_is_pressed(daemon: Daemon, environment: dict[str, str]) -> None:
    request_id = str(daemon.until_pending(1)[0]["request_id"])
    start = "autoload -Uz compinit; compinit -u -D; eval \"$(qd completion zsh)\"; print -r rea''dy\n"
    shown = f"qd allow {request_id}"
    screen = pressing_tab(["zsh", "-f", "-i"], environment, [start, "qd allow \t\x01echo \n"], [shown])
    assert shown in screen


@needs("fish")
def test_fish_completes_with_meanings(daemon: Daemon, environment: dict[str, str]) -> None:
    request_id = str(daemon.until_pending(1)[0]["request_id"])
    script = "qd completion fish | source; complete -C 'qd allow '; complete -C 'qd requ'"
    command = ["fish", "--no-config", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [
        f"{request_id}\tBash rm  [2Jx",
        "requests\tList the requests that wait for you, or show one of them.",
    ]
