"""`qd config` as a person uses it: what is in force and from where, what is wrong, a file to begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.config.settings import KEYS
from tests.contract.test_cli import qd
from tests.support.daemon import PLAIN, Daemon, launching


def settings(stdout: str) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in json.loads(stdout)["settings"]}


def test_show_prints_every_setting_and_its_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("decide:\n\n  hold: never\n")
    done = qd(tmp_path / "home", "config", "show", "--config", str(file), "--json", QUARTERDECK_PTY_COLS="99")
    found = settings(done.stdout)
    assert tuple(found) == KEYS
    assert found["decide.hold"] == {
        "key": "decide.hold",
        "value": "never",
        "source": "file",
        "from": str(file),
        "line": 3,
    }
    assert (found["pty.cols"]["value"], found["pty.cols"]["from"]) == (99, "QUARTERDECK_PTY_COLS")
    assert found["pty.rows"]["source"] == "default"
    plain = qd(tmp_path / "home", "config", "show", "--config", str(file)).stdout
    assert f"{file}:3" in plain


@pytest.mark.law("A12")
def test_show_prints_stars_for_an_address_that_may_be_a_secret(tmp_path: Path) -> None:
    secret = {"QUARTERDECK_NOTIFY_PUSH_URL": "https://ntfy.example/my-topic"}
    for words in (["config", "show"], ["config", "show", "--json"]):
        done = qd(tmp_path / "home", *words, **secret)
        assert (done.returncode, "https://ntfy.example/****" in done.stdout) == (0, True)
        assert "my-topic" not in done.stdout


def test_show_uses_the_file_and_flags_of_the_running_daemon(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("decide:\n  hold: never\n")
    launch = launching([*PLAIN, "--config", str(file), "--host", "localhost"])
    with Daemon(tmp_path / "home", launch=launch) as running:
        found = settings(qd(running.home, "config", "show", "--json").stdout)
    assert (found["runner.host"]["value"], found["runner.host"]["from"]) == ("localhost", "--host")
    assert (found["decide.hold"]["value"], found["decide.hold"]["from"]) == ("never", str(file))


def test_check_names_every_problem_with_its_line_and_the_nearest_key(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("decide:\n  hold: maybe\n  hold_stops: true\nnotify:\n  push_token: tk_secret\n")
    done = qd(tmp_path / "home", "config", "check", str(file), QUARTERDECK_PTY_COLS="wide")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{file}:2: decide.hold must be auto, always or never, is 'maybe'",
        f"{file}:3: decide.hold_stops is not a setting; did you mean decide.hold_stop?",
        f"{file}:5: notify.push_token must not hold a secret here: write it into a file of mode 0600, and name that in "
        "notify.push_token_file",
    ]
    assert done.stderr == f"quarterdeck: {file}: 3 problems; fix and run again: qd config check\n"
    report = json.loads(qd(tmp_path / "home", "config", "check", str(file), "--json").stdout)
    assert (report["ok"], report["problems"][1]["line"], report["problems"][1]["nearest"]) == (
        False,
        3,
        "decide.hold_stop",
    )


def test_check_also_finds_settings_that_contradict_each_other(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    notify = "notify:\n  webhook_url: http://hooks.example/x\n  push_url: http://ntfy.example/topic\n"
    file.write_text(f"decide:\n  hold: maybe\n{notify}runner:\n  tls_key: [1]\n  tls_cert: /none\n")
    done = qd(tmp_path / "home", "config", "check", str(file))
    keys = [line.removeprefix(f"{file}:").split(" ")[1] for line in done.stdout.splitlines()]
    assert keys == ["decide.hold", "notify.webhook_url", "notify.push_url", "runner.tls_key"]


def test_check_without_a_file_checks_the_effective_settings(tmp_path: Path) -> None:
    home = tmp_path / "home"
    good = qd(home, "config", "check")
    assert (good.returncode, "every default applies" in good.stdout) == (0, True)
    wrong = qd(home, "config", "check", QUARTERDECK_PTY_COLS="wide")
    assert (wrong.returncode, wrong.stdout.startswith("QUARTERDECK_PTY_COLS: pty.cols must be")) == (1, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("runner:\n  host: 0.0.0.0\n", ":2: runner.host is 0.0.0.0, which other machines can reach: that needs TLS"),
        ("runner:\n  tls_cert: /none\n", ":2: runner.tls_cert and runner.tls_key must be set together"),
        ("notify:\n  push_url: https://x/t\n  push_token_file: /none\n", ":3: notify.push_token_file /none: cannot"),
        ("claude:\n  path: /none/claude\n", ":2: claude.path /none/claude is not a program"),
        ("otel:\n  endpoint: collector\n", ":2: otel.endpoint must be a URL"),
    ],
)
def test_check_finds_what_would_keep_the_daemon_from_starting(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    done = qd(tmp_path / "home", "config", "check", str(file))
    assert (done.returncode, expected in done.stdout) == (1, True), done.stdout


@pytest.mark.law("A2")
def test_init_writes_a_private_file_once_and_check_accepts_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = qd(home, "config", "init")
    file, schema = home / "config.yaml", home / "config.schema.json"
    assert (done.returncode, str(file) in done.stdout) == (0, True)
    assert [path.stat().st_mode & 0o777 for path in (file, schema)] == [0o600, 0o600]
    assert file.read_text().startswith("# yaml-language-server: $schema=config.schema.json\n")
    assert json.loads(schema.read_text()) == json.loads(qd(home, "config", "schema").stdout)
    assert qd(home, "config", "check").returncode == 0
    file.write_text("decide:\n  hold: never\n")
    again = qd(home, "config", "init")
    assert (again.returncode, "--force" in again.stderr, file.read_text()[:6]) == (1, True, "decide")
    assert qd(home, "config", "init", "--force").returncode == 0
    assert file.read_text().startswith("# yaml")
    assert sorted(path.name for path in home.iterdir()) == ["config.schema.json", "config.yaml", "log", "run"]


@pytest.mark.parametrize(
    "words", [["install", "--dry-run"], ["uninstall", "--dry-run"], ["doctor"], ["notify", "test"]]
)
def test_every_command_that_reads_settings_takes_a_file(tmp_path: Path, words: list[str]) -> None:
    done = qd(tmp_path / "home", *words, "--config", str(tmp_path / "none.yaml"))
    assert done.returncode in (1, 2)
    assert "none.yaml: there is no such file" in done.stdout + done.stderr
