"""The hub of this machine: joined and left in the home, with a token that no other user can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.config.settings import HubSettings
from quarterdeck.daemon.setup.joined_hub import (
    HubAddress,
    HubMembership,
    hub_address,
    join,
    leave,
    read_membership,
    set_share,
    stamp,
)
from quarterdeck.errors import ConfigError

TOKEN = "qdr_" + "a" * 40


def test_a_machine_joins_and_leaves(tmp_path: Path) -> None:
    assert hub_address(tmp_path, HubSettings(), read_membership(tmp_path)) is None
    address = join(tmp_path, "https://hub.example.org/", TOKEN)
    assert address.token() == TOKEN
    assert (tmp_path / "hub-token").stat().st_mode & 0o777 == 0o600
    assert hub_address(tmp_path, HubSettings(), read_membership(tmp_path)) == address
    set_share(tmp_path, "/srv", "nothing")
    leave(tmp_path)
    assert read_membership(tmp_path) == HubMembership(share={"/srv": "nothing"})
    assert not (tmp_path / "hub-token").exists()


def test_the_settings_come_first(tmp_path: Path) -> None:
    join(tmp_path, "https://joined.example.org", TOKEN)
    settings = HubSettings(url="https://set.example.org", token_file="/etc/token")
    found = hub_address(tmp_path, settings, read_membership(tmp_path))
    assert found == HubAddress("https://set.example.org", Path("/etc/token"))


@pytest.mark.parametrize("url", ["http://hub.example.org", "hub", "https://hub.example.org/path"])
def test_no_token_goes_to_such_an_address(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError):
        join(tmp_path, url, TOKEN)
    assert not (tmp_path / "hub-token").exists()


@pytest.mark.parametrize("token", ["", "short", "two words in one token file", "tökentökentökentöken"])
def test_something_else_than_a_token_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(ConfigError):
        join(tmp_path, "https://hub.example.org", token)


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    address = join(tmp_path, "https://hub.example.org", TOKEN)
    address.token_file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        address.token()


def test_a_damaged_file_is_no_empty_one(tmp_path: Path) -> None:
    (tmp_path / "hub.json").write_text("{")
    with pytest.raises(ConfigError, match=r"hub\.json"):
        read_membership(tmp_path)


def test_a_level_is_set_changed_and_removed(tmp_path: Path) -> None:
    set_share(tmp_path, "/a", "titles")
    set_share(tmp_path, "/a", "nothing")
    assert set_share(tmp_path, "/b", "no_output").share == {"/a": "nothing", "/b": "no_output"}
    assert set_share(tmp_path, "/a", None).share == {"/b": "no_output"}


def test_the_stamp_changes_with_each_file(tmp_path: Path) -> None:
    stamps = [stamp(tmp_path, None)]
    address = join(tmp_path, "https://hub.example.org", TOKEN)
    stamps.append(stamp(tmp_path, address))
    join(tmp_path, "https://hub.example.org", TOKEN + "b")
    stamps.append(stamp(tmp_path, address))
    set_share(tmp_path, "/a", "titles")
    stamps.append(stamp(tmp_path, address))
    assert len(set(stamps)) == 4
