"""`qd deck`: its file is checked, written and imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from quarterdeck.cli.commands.deck import app
from quarterdeck.config.deck.deck_template import TEMPLATE

RUNNER = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path / "qd"))
    return tmp_path / "qd"


def test_a_new_file_is_private_and_without_mistakes(home: Path) -> None:
    assert RUNNER.invoke(app, ["init"]).exit_code == 0
    assert ((home / "deck.yaml").read_text(), (home / "deck.yaml").stat().st_mode & 0o777) == (TEMPLATE, 0o600)
    assert "2 pages" in RUNNER.invoke(app, ["check"]).stdout


def test_a_file_that_exists_is_left_alone(home: Path) -> None:
    RUNNER.invoke(app, ["init"])
    (home / "deck.yaml").write_text("mine")
    assert RUNNER.invoke(app, ["init"]).exit_code == 1
    assert (home / "deck.yaml").read_text() == "mine"


def test_mistakes_are_listed(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text("pages:\n  - slots: [~]\n")
    checked = RUNNER.invoke(app, ["check", str(tmp_path / "d.yaml")])
    assert checked.exit_code == 1
    assert "must have 9 keys, has 1" in checked.stdout.replace("\n", " ")
    assert RUNNER.invoke(app, ["check", str(tmp_path / "none.yaml")]).exit_code == 1


def test_a_file_of_the_prototype_is_imported(home: Path, tmp_path: Path) -> None:
    slots = "[{prompt_id: a}, ~, ~, ~, ~, ~, ~, ~, ~]"
    prompts = "prompts: {a: {label: A, arm_style: prefill, claude_command: /a}}"
    (tmp_path / "r.yaml").write_text(f"pages: [{{slots: {slots}}}]\n{prompts}\n")
    assert RUNNER.invoke(app, ["import", str(tmp_path / "r.yaml")]).exit_code == 0
    assert "1 pages, 1 prompts" in RUNNER.invoke(app, ["check"]).stdout
    assert (home / "deck.yaml").exists()


def test_the_check_of_a_server_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUARTERDECK_TOKEN", raising=False)
    assert RUNNER.invoke(app, ["conformance", "http://127.0.0.1:1"]).exit_code == 2
