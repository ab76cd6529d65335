"""The files of a home: tokens, the note, the forwarder's copy."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

import quarterdeck.hook
from quarterdeck.daemon.setup.home_files import Home, bind_port
from quarterdeck.errors import AlreadyRunning, HomeError, QuarterdeckError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "run").mkdir()
    return Home(tmp_path)


def test_a_token_is_made_once_and_is_private(home: Home) -> None:
    token = home.token("token")
    assert len(token) >= 43
    assert home.token("token") == token
    assert (home.path / "token").stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in home.path.iterdir()) == ["run", "token"]


def test_an_empty_token_is_made_again_and_a_planted_one_is_refused(home: Home) -> None:
    (home.path / "token").touch()
    assert len(home.token("token")) >= 43
    (home.path / "hook-token").symlink_to("/etc/hostname")
    with pytest.raises(HomeError, match="must be your own file"):
        home.token("hook-token")


def test_a_token_that_is_a_folder_is_refused(home: Home) -> None:
    (home.path / "token").mkdir()
    with pytest.raises(HomeError, match="token: must be your own file; remove it and start again"):
        home.token("token")


def test_a_token_that_others_could_read_is_made_private_with_a_warning(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    token = home.token("token")
    assert caplog.messages == []
    (home.path / "token").chmod(0o644)
    assert home.token("token") == token
    assert (home.path / "token").stat().st_mode & 0o777 == 0o600
    [warning] = caplog.messages
    assert f"{home.path / 'token'}: had mode 644" in warning


def test_the_file_of_the_port_is_made_private(home: Home) -> None:
    home.port_file.write_text("0")
    home.port_file.chmod(0o666)
    with pytest.raises(QuarterdeckError, match="cannot be used"):
        bind_port(home, "192.0.2.1", 0)
    assert home.port_file.stat().st_mode & 0o777 == 0o600


def test_the_forwarder_is_copied_into_the_home_and_kept_up_to_date(home: Home) -> None:
    home.keep_forwarder()
    home.forwarder.write_text("an older one")
    home.hook.write_text("another one")
    home.keep_forwarder()
    assert home.forwarder.read_bytes() == Path(quarterdeck.hook.__file__).read_bytes()
    assert home.hook.read_bytes() == Path(quarterdeck.hook.__file__).with_name("hook_loader.py").read_bytes()
    assert {file.stat().st_mode & 0o777 for file in (home.forwarder, home.hook)} == {0o600}


def test_the_forwarder_in_the_home_is_compiled(home: Home) -> None:
    home.keep_forwarder()
    compiled = home.path / "__pycache__" / f"forwarder.{sys.implementation.cache_tag}.pyc"
    assert compiled.stat().st_mode & 0o077 == 0
    compiled.write_bytes(compiled.read_bytes()[:1000])
    home.keep_forwarder()
    assert compiled.stat().st_size > 1000


def test_a_home_without_room_for_what_is_compiled_has_a_forwarder(home: Home) -> None:
    (home.path / "__pycache__").write_text("no folder")
    home.keep_forwarder()
    assert home.hook.exists()


def test_a_home_has_one_owner(home: Home) -> None:
    home.lock()
    home.write_note(pid=7, url="http://127.0.0.1:1")
    with pytest.raises(AlreadyRunning, match=r"pid 7 at http://127\.0\.0\.1:1"):
        Home(home.path).lock()
    home.unlock()
    other = Home(home.path)
    other.lock()
    other.unlock()


def test_the_lock_of_a_dead_daemon_is_waited_for(home: Home) -> None:
    """A program that a killed daemon was just starting holds its lock a moment longer."""
    other = Home(home.path)
    other.lock()
    (home.path / "run" / "daemon.json").write_text(json.dumps({"pid": 2**22 + 1, "url": "http://127.0.0.1:1"}))
    threading.Timer(0.2, other.unlock).start()
    home.lock()
    home.unlock()


def test_the_lock_of_a_running_daemon_is_refused_at_once(home: Home) -> None:
    other = Home(home.path)
    other.lock()
    (home.path / "run" / "daemon.json").write_text(json.dumps({"pid": os.getpid(), "url": "http://127.0.0.1:1"}))
    with pytest.raises(AlreadyRunning, match=f"pid {os.getpid()}"):
        home.lock()
    other.unlock()
