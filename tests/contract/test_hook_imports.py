"""Imports of the forwarder: start-up is its whole cost, so the list is exact."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import quarterdeck.hook

HOOK = str(Path(quarterdeck.hook.__file__).resolve())


def loaded(*args: str, env: Mapping[str, str] | None = None) -> set[str]:
    """The modules that a run under -I -S imports, as the interpreter itself reports them."""
    run = [sys.executable, "-I", "-S", "-X", "importtime", *args]
    report = subprocess.run(run, env=env, input=b"{}", capture_output=True, timeout=30, check=True).stderr.decode()
    return {line.rpartition("|")[2].strip() for line in report.splitlines() if line.startswith("import time:")}


def test_with_the_daemon_away_it_loads_nothing() -> None:
    assert loaded(HOOK, "--socket", "/nonexistent") - loaded("-c", "pass") == set()


def test_to_speak_to_the_daemon_it_loads_one_module() -> None:
    with tempfile.TemporaryDirectory(prefix="qd-", dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/hook.sock"
        listener.bind(path)
        listener.listen()
        modules = loaded(HOOK, "--socket", path, "--wait", "0.3")
    assert modules - loaded("-c", "pass") == {"_socket"}


def test_without_a_home_it_asks_the_user_database() -> None:
    env = {"XDG_DATA_HOME": "/nonexistent"}
    assert loaded(HOOK, env=env) - loaded("-c", "pass", env=env) == {"pwd"}


def test_what_it_always_loads_is_built_into_the_interpreter() -> None:
    assert {"_signal", "_thread", "posix", "pwd", "sys"} <= set(sys.builtin_module_names)
