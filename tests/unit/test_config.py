"""Settings: where they come from, and how a wrong one is named."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from quarterdeck.config import Config, changed_settings, claude_config_dir, home_path, load_config, prepare_home
from quarterdeck.errors import ConfigError, HomeError


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    config = load_config(tmp_path, environ={})
    assert config == Config()
    assert (config.decide.hold, config.decide.wait_seconds, config.runner.port) == ("auto", 86400, 4180)


def test_the_environment_comes_after_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("decide:\n  hold: never\n  wait_seconds: 60\nrunner:\n")
    config = load_config(tmp_path, environ={"QUARTERDECK_DECIDE_WAIT_SECONDS": "90", "QUARTERDECK_PORT": "0"})
    assert (config.decide.hold, config.decide.wait_seconds, config.runner.port) == ("never", 90, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decide:\n  wait_seconds: -5\n", "config.yaml: decide.wait_seconds must be greater than 0, is -5"),
        ("decide:\n  hold: maybe\n", "config.yaml: decide.hold must be 'auto', 'always' or 'never', is 'maybe'"),
        ("decide:\n  hold_stops: true\n", "decide.hold_stops is not a setting; did you mean decide.hold_stop?"),
        ("nonsense:\n  a: 1\n", "nonsense is not a setting"),
        ("unattended:\n  high: allow\n", "unattended.high must be 'hold', 'deny' or 'pass', is 'allow'"),
        ("unattended:\n  quiet_hour: x\n", "did you mean unattended.quiet_hours?"),
        ("unattended:\n  quiet_hours: at night\n", "unattended.quiet_hours must be parts of the day like 22:00-07:00"),
        ("unattended:\n  timezone: Mars/Base\n", "unattended.timezone must be a time zone like Europe/Berlin"),
        ("unattended:\n  timezone: ../passwd\n", "unattended.timezone must be a time zone like Europe/Berlin"),
        ("notify:\n  min_risk: some\n", "notify.min_risk must be 'low', 'medium', 'high' or 'critical'"),
        ("- a\n", "must hold sections with keys"),
        ("a: [\n", "is not YAML"),
        ("decide: 7\n", "must hold sections with keys"),
    ],
)
def test_a_wrong_setting_is_named_with_the_next_step(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_config(tmp_path, environ={})


@pytest.mark.law("A12")
def test_the_record_of_settings_tells_no_address_that_may_be_a_secret() -> None:
    def told(topic: str) -> str:
        config = Config.model_validate({"notify": {"push_url": f"https://ntfy.example:8443/{topic}"}})
        return changed_settings(config)["notify.push_url"]

    assert told("my-topic").startswith('"https://ntfy.example:8443 (')
    assert "my-topic" not in told("my-topic")
    assert told("my-topic") != told("another")


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path, tmp_path / "none.yaml", environ={})


def test_the_working_directory_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("decide:\n  hold: never\n")
    monkeypatch.chdir(tmp_path)
    assert load_config(tmp_path / "home", environ={}).decide.hold == "auto"


def test_the_home_is_one_folder_that_the_environment_may_name() -> None:
    assert home_path({"QUARTERDECK_HOME": "/tmp/x"}) == Path("/tmp/x")
    assert home_path({}).name == "quarterdeck"


def test_claudes_folder_may_be_named(tmp_path: Path) -> None:
    config = Config.model_validate({"claude": {"config_dir": str(tmp_path)}})
    assert claude_config_dir(config) == tmp_path


@pytest.mark.law("A2")
def test_the_home_is_made_for_us_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    prepare_home(home)
    assert [p.stat().st_mode & 0o777 for p in (home, home / "run", home / "log")] == [0o700] * 3


@pytest.mark.law("A2")
def test_a_planted_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HomeError, match="symlink is refused"):
        prepare_home(home)


@pytest.mark.law("A2")
def test_a_foreign_home_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(HomeError, match="belongs to user"):
        prepare_home(tmp_path)


def test_a_file_where_the_home_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    with pytest.raises(HomeError, match="QUARTERDECK_HOME"):
        prepare_home(tmp_path / "home")
