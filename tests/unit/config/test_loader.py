"""Settings: their sources, and the errors about wrong ones."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.config.loader import load_config, read_config
from quarterdeck.config.redacted import changed_settings, masked
from quarterdeck.config.settings import FIELDS, KEYS, Config
from quarterdeck.config.template import schema, template
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
    ("text", "message"),
    [
        ("decide:\n  wait_seconds: -5\n", "config.yaml:2: decide.wait_seconds must be above 0, is -5"),
        ("decide:\n  hold: maybe\n", "config.yaml:2: decide.hold must be auto, always or never, is 'maybe'"),
        ("decide:\n  hold_stops: true\n", "decide.hold_stops is not a setting; did you mean decide.hold_stop?"),
        ("nonsense:\n  a: 1\n", "nonsense is not a setting"),
        ("unattended:\n  high: allow\n", "unattended.high must be hold, deny or pass, is 'allow'"),
        ("unattended:\n  quiet_hour: x\n", "did you mean unattended.quiet_hours?"),
        ("unattended:\n  quiet_hours: at night\n", "unattended.quiet_hours must be parts of the day like 22:00-07:00"),
        ("unattended:\n  timezone: Mars/Base\n", "unattended.timezone must be a time zone like Europe/Berlin"),
        ("unattended:\n  timezone: ../passwd\n", "unattended.timezone must be a time zone like Europe/Berlin"),
        ("notify:\n  min_risk: some\n", "notify.min_risk must be low, medium, high or critical"),
        ("- a\n", "must hold sections with keys"),
        ("a: [\n", "is not YAML"),
        ("decide: 7\n", "config.yaml:1: decide must hold keys"),
        ("decide:\n  hold: auto\n  hold: never\n", "config.yaml:3: decide.hold is given twice; the first is in line 2"),
        ("runner.port: 5\n", "config.yaml:1: runner.port belongs in its section: write port: below runner:"),
        ("decde:\n  hold: auto\n", "config.yaml:1: decde is not a setting; did you mean decide?"),
        ("decide:\n  [a]: 1\n", "config.yaml:2: a key must be a word"),
        ("decide:\n  hold: !!python/name:os.system x\n", "config.yaml:2: is not YAML"),
        ("decide: \x00\n", "is not YAML"),
        ("projects:\n  roots: [code]\n", "projects.roots must be a path from the root, like ~/name, is 'code'"),
        ("runner:\n  tls_cert: cert.pem\n", "runner.tls_cert must be a path from the root, like ~/name"),
        ("claude:\n  path: bin/claude\n", "claude.path must be a path from the root"),
        (
            "sdk:\n  setting_sources: [policy]\n",
            "sdk.setting_sources must be user, project or local, is 'policy'",
        ),
        ("sdk:\n  max_turns: 0\n", "sdk.max_turns must be at least 1, is 0"),
        ("sdk:\n  max_sessions: many\n", "sdk.max_sessions must be a whole number"),
        ("pty:\n  cols: 3\n", "pty.cols must be at least 20, is 3"),
        ("pty:\n  shell: zsh\n", "pty.shell must be a path from the root"),
    ],
)
def test_a_wrong_setting_is_named_with_the_next_step(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config(tmp_path, environ={})


def test_every_problem_is_found_at_once_each_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("decide:\n  hold: maybe\n  hold_stops: true\n")
    found = read_config(tmp_path, environ={"QUARTERDECK_PTY_COLS": "wide", "QUARTERDECK_STOER_MAX_BYTES": "1"})
    assert found.config is None
    assert [(p.place.source, p.place.line, p.key, p.nearest) for p in found.problems] == [
        ("file", 2, "decide.hold", None),
        ("file", 3, "decide.hold_stops", "decide.hold_stop"),
        ("variable", None, "pty.cols", None),
        ("variable", None, None, "store.max_bytes"),
    ]
    with pytest.raises(ConfigError, match=r"and 3 more; see: qd config check"):
        load_config(tmp_path, environ={"QUARTERDECK_PTY_COLS": "wide", "QUARTERDECK_STOER_MAX_BYTES": "1"})


def test_the_last_source_wins_and_the_place_of_each_value_is_known(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("runner:\n  name: one\n  host: 127.0.0.2\n  port: 1\n")
    found = read_config(
        tmp_path,
        environ={"QUARTERDECK_RUNNER_HOST": "127.0.0.3", "QUARTERDECK_PORT": "2"},
        flags={"runner": {"port": 3}},
    )
    assert found.config is not None
    assert (found.config.runner.name, found.config.runner.host, found.config.runner.port) == ("one", "127.0.0.3", 3)
    keys = ("runner.name", "runner.host", "runner.port", "runner.hosts")
    assert [str(found.place(key)) for key in keys] == [
        f"{tmp_path}/config.yaml:2",
        "QUARTERDECK_RUNNER_HOST",
        "--port",
        "default",
    ]


def test_a_variable_can_hold_a_list_reset_a_value_and_be_empty(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("sdk:\n  max_turns: 5\n  setting_sources: [user]\ndecide:\n  hold: never\n")
    variables = {
        "QUARTERDECK_SDK_MAX_TURNS": "none",
        "QUARTERDECK_SDK_SETTING_SOURCES": "none",
        "QUARTERDECK_PROJECTS_ROOTS": "/a, /b",
        "QUARTERDECK_DECIDE_HOLD": "",
    }
    config = load_config(tmp_path, environ=variables)
    assert (config.sdk.max_turns, config.sdk.setting_sources, config.projects.roots) == (None, [], ["/a", "/b"])
    assert config.decide.hold == "never"


def test_other_variables_are_ignored(tmp_path: Path) -> None:
    others = {"QUARTERDECK_HOME": "/x", "QUARTERDECK_TAG": "t", "QUARTERDECK_ELSEWHERE": "1", "QUARTERDECK_": "1"}
    assert load_config(tmp_path, environ=others) == Config()


@pytest.mark.law("A12")
@pytest.mark.parametrize(
    "text",
    [
        "notify:\n  push_token: tk_secret\n",
        "notify:\n  webhook_secret: tk_secret\n",
        "notify:\n  push_token_file: tk_secret\n",
        "notify:\n  push_url: [tk_secret]\n",
        "otel:\n  headers: 'Authorization: tk_secret'\n",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_quoted(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    (problem,) = read_config(tmp_path, environ={}).problems
    assert "tk_secret" not in str(problem)


@pytest.mark.parametrize("key", ["notify.push_token", "notify.webhook_secret", "otel.headers"])
def test_a_secret_in_a_variable_is_refused_by_naming_the_file_key(tmp_path: Path, key: str) -> None:
    name = "QUARTERDECK_" + key.replace(".", "_").upper()
    with pytest.raises(ConfigError, match=f"name that in {key}_file") as refused:
        load_config(tmp_path, environ={name: "tk_secret"})
    assert "tk_secret" not in str(refused.value)


@pytest.mark.law("A12")
def test_an_address_that_may_be_a_secret_is_shown_with_stars() -> None:
    assert masked("notify.push_url", "https://ntfy.example:8443/topic") == "https://ntfy.example:8443/****"
    assert masked("notify.push_url", None) is None
    assert masked("decide.hold", "auto") == "auto"


def test_the_template_sets_nothing_until_a_key_is_uncommented(tmp_path: Path) -> None:
    text = template("config.schema.json")
    (tmp_path / "config.yaml").write_text(text)
    assert read_config(tmp_path, environ={}).places == {}
    (tmp_path / "config.yaml").write_text(re.sub(r"^  #(\w+: )", r"  \1", text, flags=re.MULTILINE))
    found = read_config(tmp_path, environ={})
    assert (found.config, set(found.places)) == (Config(), set(KEYS))


def test_the_schema_accepts_the_same_files_as_the_loader(tmp_path: Path) -> None:
    checker = jsonschema.Draft202012Validator(schema())
    checker.check_schema(schema())
    assert not list(checker.iter_errors(yaml.safe_load(template("x"))))
    assert not list(checker.iter_errors(Config().model_dump(mode="json")))
    wrongs: list[Any] = [
        {"decide": {"hold": "maybe"}},
        {"decide": {"holds": "auto"}},
        {"decde": {}},
        {"pty": {"cols": 1}},
    ]
    assert [wrong for wrong in wrongs if checker.is_valid(wrong)] == []


def test_every_setting_has_a_description() -> None:
    assert [key for key, field in FIELDS.items() if not (field.description or "").endswith(".")] == []


@pytest.mark.law("A12")
def test_recorded_settings_hold_no_address_that_may_be_a_secret() -> None:
    def recorded(topic: str) -> str:
        config = Config.model_validate({"notify": {"push_url": f"https://ntfy.example:8443/{topic}"}})
        return changed_settings(config)["notify.push_url"]

    assert recorded("my-topic").startswith('"https://ntfy.example:8443 (')
    assert "my-topic" not in recorded("my-topic")
    assert recorded("my-topic") != recorded("another")


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


@pytest.mark.law("A2")
def test_the_home_is_private(tmp_path: Path) -> None:
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
