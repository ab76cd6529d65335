"""The protocol of a driver: every driver has all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck.config.settings import Config
from quarterdeck.drivers.base import Driver, InstallStatus, SessionFiles, TranscriptFiles
from quarterdeck.drivers.claude.driver import ClaudeDriver
from tests.support.lark import HOME, LarkDriver


def members(protocol: type) -> set[str]:
    """The public names of a protocol."""
    return {name for name in (*protocol.__annotations__, *vars(protocol)) if not name.startswith("_")}


@pytest.mark.parametrize("make", [ClaudeDriver, LarkDriver])
def test_a_driver_has_every_member(
    make: Callable[[Config], Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    driver = make(Config.model_validate({"claude": {"config_dir": str(tmp_path)}}))
    assert members(Driver) <= set(dir(driver))
    assert members(SessionFiles) <= set(dir(driver.session_files))
    assert members(TranscriptFiles) <= set(dir(driver.transcripts))


def test_a_driver_names_an_agent_and_its_own_folder(tmp_path: Path) -> None:
    driver = ClaudeDriver(Config.model_validate({"claude": {"config_dir": str(tmp_path)}}))
    assert (driver.name, driver.config_dir) == ("claude", tmp_path)
    assert all(path.is_relative_to(tmp_path) for path in driver.guarded)


def test_a_status_without_connections_still_says_how_to_connect() -> None:
    assert InstallStatus(connections=(), problems=(), fix="qd install").fix == "qd install"
