"""`qd replay` plays what a real daemon recorded and `qd export` wrote."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, until

BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """An exported feed, and what `qd feed` shows of it: every event, and rows."""
    folder = tmp_path_factory.mktemp("replay")
    with Daemon(folder / "home") as daemon:
        for session, cwd in (("s1", "/w/app"), ("s2", "/w/other")):
            place = {"session_id": session, "cwd": cwd}
            for hook, more in (("UserPromptSubmit", {"prompt": "build it"}), ("PreToolUse", BASH)):
                daemon.hook({**place, "hook_event_name": hook, **more})
            held = daemon.hold({**place, "hook_event_name": "PermissionRequest", **BASH})
            [request] = daemon.until_pending(1)
            daemon.decide(request, "allow")
            held.answer()
            daemon.hook({**place, "hook_event_name": "PostToolUse", **BASH, "tool_response": {"stdout": "made"}})
        every, rows = (
            qd(daemon.home, "feed", "--after", "0", "--limit", "1000", *words).stdout
            for words in (["--all-events"], [])
        )
        file = folder / "feed.ndjson"
        assert qd(daemon.home, "export", "--output", str(file)).returncode == 0
    return file, every, rows


def qd(home: Path, *words: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quarterdeck", *words]
    done = subprocess.run(
        command, env={**os.environ, "QUARTERDECK_HOME": str(home), **env}, input=stdin, capture_output=True
    )
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_replay_shows_what_the_feed_showed(recorded: tuple[Path, str, str], tmp_path: Path) -> None:
    file, every, rows = recorded
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    played = qd(tmp_path / "home", "replay", str(file), "--speed", "max", "--all-events", TMPDIR=str(temporary))
    assert (played.returncode, every.count("\n") > 10) == (0, True)
    assert played.stdout.startswith(every)
    assert re.fullmatch(r"Playing \d+ events of .+\.\n", played.stderr)
    lines = qd(tmp_path / "home", "replay", "-", "--speed", "0", stdin=file.read_bytes(), TMPDIR=str(temporary))
    assert set(rows.splitlines()) <= set(lines.stdout.splitlines())
    assert " other " in lines.stdout
    assert os.listdir(temporary) == []
    assert not (tmp_path / "home").exists()


def test_a_file_that_is_no_feed_is_refused_in_one_line(recorded: tuple[Path, str, str], tmp_path: Path) -> None:
    content = recorded[0].read_bytes()
    newer = content.replace(b'"kind":"user.prompt"', b'"kind":"user.thought"')
    for wrong, reason in (
        (b"", "has no events"),
        (b"PK\x03\x04", "not a feed from qd export"),
        (content[:-5], "is cut short"),
        (newer, "user.thought"),
    ):
        done = qd(tmp_path, "replay", "-", stdin=wrong)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert done.stderr.startswith("quarterdeck: standard input: ")
        assert reason in done.stderr
    assert qd(tmp_path, "replay", str(tmp_path / "none")).returncode == 1
    assert qd(tmp_path, "replay", str(recorded[0]), "--speed", "fast").returncode == 2


@contextmanager
def on_a_terminal(*words: str) -> Iterator[tuple[int, int]]:
    """`qd` in the foreground of a terminal of its own: its pid, and the terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, [sys.executable, "-m", "quarterdeck", *words])
    try:
        yield pid, terminal
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


class Screen:
    """What a terminal showed so far."""

    def __init__(self, terminal: int) -> None:
        self._terminal, self._shown = terminal, b""

    def shows(self, text: bytes) -> None:
        until(lambda: text in self._more(), what=f"{text!r} in {self._shown!r}")

    def _more(self) -> bytes:
        if select.select([self._terminal], [], [], 0.1)[0]:
            self._shown += os.read(self._terminal, 4096)
        return self._shown


@pytest.mark.parametrize("end", [b"q", b"\x03", signal.SIGTERM])
def test_keys_pause_and_end_it_and_the_terminal_stays_as_it_was(
    recorded: tuple[Path, str, str], end: bytes | signal.Signals
) -> None:
    with on_a_terminal("replay", str(recorded[0]), "--speed", "0.0001") as (pid, terminal):
        before = termios.tcgetattr(terminal)
        Screen(terminal).shows(b"Space pauses, q ends.")
        os.write(terminal, b" ")
        Screen(terminal).shows(b"Paused")
        os.write(terminal, b"  ")
        Screen(terminal).shows(b"Paused")
        if isinstance(end, bytes):
            os.write(terminal, end)
        else:
            os.kill(pid, end)
        ended = until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), what="its end")
        assert ended is not None
        assert ended.si_status == (0 if isinstance(end, bytes) else 128 + signal.SIGTERM)
        assert termios.tcgetattr(terminal) == before
