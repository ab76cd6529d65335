"""The demo cleans up after itself, and after one that was killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.demo_day import DAY
from quarterdeck.cli.admin.demo_home import NOTE, make_home, sweep
from quarterdeck.surfaces.client.http import Client
from quarterdeck.system.process_table import alive
from tests.support.daemon import until

MINE = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo with `--lines`, its home below `tmp_path`, next to a real session."""
    command = [sys.executable, "-u", "-m", "quarterdeck", "demo", "--lines", "--patience", "600"]
    line = {"type": "user", "sessionId": MINE, "cwd": str(tmp_path), "message": {"role": "user", "content": "hello"}}
    transcript = tmp_path / "claude" / "projects" / "-mine" / f"{MINE}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(json.dumps(line) + "\n")
    environ = {**os.environ, "TMPDIR": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as playing:
        yield playing
        playing.kill()
        playing.wait()
        sweep(tmp_path)


def home_of(demo: subprocess.Popen[str]) -> Path:
    assert demo.stdout is not None
    assert demo.stdout.readline().startswith("Starting the demo")
    return Path(next(found[1] for line in demo.stdout if (found := re.search(r"QUARTERDECK_HOME=(\S+)", line))))


def daemon_of(home: Path) -> int:
    return int(json.loads((home / NOTE).read_text())["daemon"][0])


def test_a_terminated_demo_leaves_nothing_behind(demo: subprocess.Popen[str]) -> None:
    home = home_of(demo)
    daemon = daemon_of(home)
    demo.send_signal(signal.SIGTERM)
    assert demo.stdout is not None
    assert demo.stdout.read().endswith(f"The demo is over; its home {home} was removed.\n")
    assert not home.exists()
    assert not alive(daemon)


def test_a_demo_shows_its_own_agents_and_no_real_session(demo: subprocess.Popen[str]) -> None:
    client = Client.of_home(home_of(demo), "test")
    until(lambda: len(client.all("/api/v1/sessions")) >= len(DAY))
    assert MINE not in [session["session_id"] for session in client.all("/api/v1/sessions")]


def test_a_killed_demo_is_cleaned_up_by_the_next(demo: subprocess.Popen[str], tmp_path: Path) -> None:
    home = home_of(demo)
    daemon = daemon_of(home)
    assert sweep(tmp_path) == []
    demo.kill()
    until(lambda: not alive(demo.pid))
    assert sweep(tmp_path) == [home]
    assert not home.exists()
    assert not alive(daemon)


def test_anything_but_a_dead_demo_of_this_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = make_home()
    unnamed, odd = tmp_path / "qd-demo-unnamed", tmp_path / "qd-demo-odd"
    unnamed.mkdir()
    odd.mkdir()
    (odd / NOTE).write_text('{"demo": [1, "x"]}')
    (tmp_path / "qd-demo-link").symlink_to(own)
    (tmp_path / "qd-demo-file").write_text("")
    assert sweep(tmp_path) == []
    assert own.exists()
