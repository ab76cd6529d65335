"""The files of a home: secrets, the note, the forwarder's copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.daemon.setup.home import Home
from quarterdeck.errors import AlreadyRunning, HomeError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "run").mkdir()
    return Home(tmp_path)


def test_a_secret_is_made_once_and_is_ours_alone(home: Home) -> None:
    token = home.token("token")
    assert len(token) >= 43
    assert home.token("token") == token
    assert (home.path / "token").stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in home.path.iterdir()) == ["run", "token"]


def test_an_empty_secret_is_made_anew_and_a_planted_one_refused(home: Home) -> None:
    (home.path / "token").touch()
    assert len(home.token("token")) >= 43
    (home.path / "hook-token").symlink_to("/etc/hostname")
    with pytest.raises(HomeError, match="must be a file of yours"):
        home.token("hook-token")


def test_the_forwarder_is_copied_beside_our_data_and_kept_up_to_date(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("one")
    home.keep_forwarder(source)
    source.write_text("two")
    home.keep_forwarder(source)
    assert home.forwarder.read_text() == "two"


def test_a_home_has_one_owner(home: Home) -> None:
    home.lock()
    home.write_note(pid=7, url="http://127.0.0.1:1")
    with pytest.raises(AlreadyRunning, match=r"pid 7 at http://127\.0\.0\.1:1"):
        Home(home.path).lock()
    home.unlock()
    other = Home(home.path)
    other.lock()
    other.unlock()
