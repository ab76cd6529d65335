"""Dry runs and refusals of `install` and `uninstall`, and files they never touch, with the real CLI."""

import sys
from pathlib import Path

import pytest

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import PLUGIN_ID, read_installed
from quarterdeck.errors import ConfigError, QuarterdeckError
from tests.contract.test_cli import at_a_terminal
from tests.support.claude import ClaudeHome, require
from tests.support.install import FOREIGN, ORIGINAL, TOKEN, Bench, mode, tree

pytestmark = pytest.mark.e2e


@pytest.fixture
def latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The newest version, for tests that do not depend on the version."""
    claude = ClaudeHome(tmp_path, cli=require("2.1.325"), model_url="http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(claude.path))
    monkeypatch.setenv("PATH", claude.env["PATH"])
    return Bench(claude)


@pytest.mark.parametrize("transport", list(Transport))
def test_a_dry_run_shows_one_key_per_line_without_secrets_and_touches_nothing(
    latest: Bench, transport: Transport
) -> None:
    latest.claude.write_settings(FOREIGN)
    before = tree(latest.home) | {"settings": latest.file.read_bytes()}
    report = latest.install(transport=transport, dry_run=True)
    assert report.changed
    added = [line for line in report.diff.splitlines() if line.startswith("+")]
    assert any('"command": "' in line and " -I -S " in line for line in added)
    assert max(line.count('": ') for line in added) == 1
    assert TOKEN not in report.diff
    assert "sk-mine" not in report.diff
    assert "\x1b" not in report.diff
    assert report.diff.endswith(report.settings_diff), "what is the person's own stands last"
    assert str(latest.file) in report.settings_diff
    assert report.diff.count("--- ") == report.plugin_file_count + 1
    assert str(latest.home) not in [line for line in report.settings_diff.splitlines() if line.startswith("+++")]
    assert tree(latest.home) | {"settings": latest.file.read_bytes()} == before
    assert latest.state().connections == ()


def test_a_dry_run_of_the_removal_shows_quarterdecks_hooks_and_removes_nothing(latest: Bench) -> None:
    latest.install()
    report = latest.uninstall(dry_run=True)
    assert f'-    "{PLUGIN_ID}": true' in report.diff
    assert f"--- {latest.file}\n+++ /dev/null" in report.diff, "the file did not exist before, so it is deleted"
    assert TOKEN not in report.diff
    assert latest.state().problems == ()


def test_a_home_that_cannot_be_created_is_named(latest: Bench) -> None:
    (latest.claude.path / "file").write_text("")
    with pytest.raises(QuarterdeckError, match="file/home: Not a directory; fix that"):
        latest.install(home=latest.claude.path / "file" / "home", transport=Transport.HTTP)


def test_a_missing_home_is_created_private(latest: Bench) -> None:
    home = latest.claude.path / "new" / "home"
    assert latest.install(home=home).changed
    assert mode(home) == 0o700


def test_removing_a_missing_installation_says_so(latest: Bench) -> None:
    report = latest.uninstall()
    assert not report.changed
    assert "not connected" in report.lines[0]
    assert (latest.home / "hook-token").read_text() == TOKEN


@pytest.mark.parametrize("transport", list(Transport))
def test_a_linked_settings_file_stays_a_link(latest: Bench, transport: Transport) -> None:
    real = latest.claude.path / "dotfiles.json"
    real.write_bytes(ORIGINAL)
    latest.file.symlink_to(real)
    latest.install(transport=transport)
    assert latest.file.is_symlink()
    assert real.read_bytes() != ORIGINAL
    latest.uninstall()
    assert latest.file.is_symlink()
    assert real.read_bytes() == ORIGINAL


@pytest.mark.parametrize("transport", list(Transport))
@pytest.mark.parametrize(
    ("content", "file_mode", "message"),
    [
        (b'{"a": 1,\n  oops}', 0o644, r"settings\.json: is not valid JSON: .* line 2 .*; fix the file"),
        (b"[]", 0o644, r"settings\.json: is not a JSON object"),
        (b"\xff\xfe", 0o644, r"settings\.json: .*; fix the file"),
        (b"{}", 0o444, r"settings\.json: is read-only; make it writable"),
    ],
)
def test_settings_that_cannot_be_edited_are_named_and_left_alone(
    latest: Bench, transport: Transport, content: bytes, file_mode: int, message: str
) -> None:
    latest.file.write_bytes(content)
    latest.file.chmod(file_mode)
    before = tree(latest.home)
    with pytest.raises(QuarterdeckError, match=message):
        latest.install(transport=transport)
    assert latest.file.read_bytes() == content
    assert tree(latest.home) == before
    assert latest.plugins() == []


def test_the_plugin_without_a_cli_names_the_other_way(latest: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(QuarterdeckError, match="--transport http"):
        latest.install(claude_path=None)
    assert latest.install(claude_path=None, transport=Transport.HTTP).changed


def test_a_cli_that_fails_leaves_nothing_behind(latest: Bench) -> None:
    latest.file.write_bytes(ORIGINAL)
    broken = latest.claude.path / "claude"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 2.1.325 && exit\necho "no such luck" >&2; exit 1\n')
    broken.chmod(0o755)
    with pytest.raises(QuarterdeckError, match="no such luck"):
        latest.install(claude_path=str(broken))
    assert latest.file.read_bytes() == ORIGINAL
    assert latest.secrets() == []


@pytest.mark.law("D18")
def test_a_wait_that_claude_code_cannot_count_is_refused(latest: Bench) -> None:
    with pytest.raises(ConfigError, match=r"decide\.wait_seconds must be above 0 and at most 2147463"):
        latest.install(endpoint=latest.endpoint(wait=2_147_464))


@pytest.mark.law("D18")
def test_a_longer_wait_is_reported_until_it_is_installed(latest: Bench) -> None:
    latest.install(transport=Transport.COMMAND, endpoint=latest.endpoint(wait=60))
    assert "time-out" in latest.state(wait=3600).problems[0]
    latest.install(transport=Transport.COMMAND, endpoint=latest.endpoint(wait=3600))
    assert latest.state(wait=3600).problems == ()


@pytest.mark.law("A12")
def test_no_command_line_carries_the_token(latest: Bench) -> None:
    latest.install(transport=Transport.HTTP)
    hooks = latest.claude.read_settings()["hooks"]
    assert {hook.token for hook in read_installed(hooks)} == {TOKEN, ""}
    commands = [h.get("command", "") for groups in hooks.values() for group in groups for h in group["hooks"]]
    assert not any(TOKEN in command for command in commands)


def test_on_a_terminal_a_dry_run_shows_the_persons_file_and_counts_quarterdecks_hooks(latest: Bench) -> None:
    latest.claude.write_settings(FOREIGN)
    claude = f"claude:\n  path: {latest.claude.cli}\n  config_dir: {latest.file.parent}\n"
    (latest.home / "config.yaml").write_text(claude)
    words = ("install", "--dry-run")
    brief, full = (at_a_terminal(latest.home, words + more, []) for more in ((), ("--full",)))
    assert f"+++ {latest.file}" in brief
    assert "files of Quarterdeck's own" in brief
    assert len(brief.splitlines()) < 30 < len(full.splitlines())
    assert full.index("hooks.json") < full.index(f"+++ {latest.file}")
    assert "Connected" in at_a_terminal(latest.home, ("install",), [])
    assert "of Quarterdeck's own" not in full
    connected = at_a_terminal(latest.home, words, [])
    assert ("already connected" in connected, "+++" in connected) == (True, False)
