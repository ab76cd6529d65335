"""Claude Code behind the protocol of a driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.drivers.base import InstallOptions, InstallScope
from quarterdeck.drivers.claude.driver import ClaudeDriver

START = StartSession(session_id="s1", mode="pty", cwd="/w", by="ann", at=0.0)
ENDPOINT = Endpoint(
    url="http://127.0.0.1:4180", hook_token="t", wait_seconds=60.0, socket="/s", python="/p", hook_file="/h/hook.py"
)


def driver(folder: Path, **sdk: Any) -> ClaudeDriver:
    program = folder / "claude"
    program.write_text("#!/bin/sh\necho x >> $0.runs; echo '2.1.325 (Claude Code)'\n")
    program.chmod(0o700)
    named = {"config_dir": str(folder / "config"), "path": str(program)}
    return ClaudeDriver(Config.model_validate({"claude": named, "sdk": sdk}))


@pytest.mark.parametrize("source", ["settings", "environment", "home"])
def test_its_folder_comes_from_the_settings_or_the_environment_or_the_home(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: tmp_path / name for name in ("settings", "environment")} | {"home": tmp_path / ".claude"}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "" if source == "home" else str(places["environment"]))
    settings = {"config_dir": str(places["settings"])} if source == "settings" else {}
    found = ClaudeDriver(Config.model_validate({"claude": settings}))
    assert found.config_dir == places[source]
    assert found.guarded[0] == places[source] / "settings.json"


def test_the_version_is_read_again_only_when_the_program_changed(tmp_path: Path) -> None:
    claude = driver(tmp_path)
    program = claude.find_program()
    assert program is not None
    assert [claude.version(program), claude.version(program)] == ["2.1.325"] * 2
    assert (tmp_path / "claude.runs").read_text() == "x\n"
    program.write_text("#!/bin/sh\necho 2.1.400\n")
    assert claude.version(program) == "2.1.400"


def test_its_folder_is_named_to_a_session_only_when_it_is_not_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert driver(tmp_path).session_environment({"A": "1"}) == {"A": "1", "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert ClaudeDriver(Config()).session_environment({"CLAUDE_CONFIG_DIR": ""}) == {}


def test_a_session_gets_hooks_of_its_own_unless_an_install_reaches_it(tmp_path: Path) -> None:
    claude = driver(tmp_path, setting_sources=["user"])
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()

    def own_hooks(**start: Any) -> bool:
        return claude.session_hooks(replace(START, **start), tmp_path / "claude", home, ENDPOINT) is not None

    assert own_hooks()
    options = InstallOptions(endpoint=ENDPOINT, transport=Transport.HTTP, scope=InstallScope.PROJECT, project=project)
    claude.install(home, options)
    assert not own_hooks(cwd=str(project / "inside"))
    assert own_hooks(cwd=str(tmp_path))
    assert own_hooks(cwd=str(project), mode="sdk")
    moved = replace(ENDPOINT, url="http://127.0.0.1:4181")
    assert claude.session_hooks(replace(START, cwd=str(project)), tmp_path / "claude", home, moved) is not None
