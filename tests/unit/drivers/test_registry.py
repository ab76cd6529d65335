"""The drivers by name, and the questions that all of them answer together."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Session
from quarterdeck.drivers.registry import DRIVERS, Drivers, agent_of
from tests.support.lark import HOME, NAME, LarkDriver

LARKS = Session(session_id="s1", started_at=0.0, last_event_at=0.0, context=Context(agent=NAME))
START = StartSession(session_id="s1", mode="pty", cwd="/w", by="ann", at=0.0)


@contextlib.contextmanager
def running_process() -> Iterator[int]:
    child = subprocess.Popen(["sleep", "60"])
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


@pytest.fixture
def drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drivers:
    """Claude Code and Lark, each with a folder of its own."""
    monkeypatch.setenv(HOME, str(tmp_path / "lark"))
    monkeypatch.setitem(DRIVERS, NAME, LarkDriver)
    for folder in ("lark/running", "lark/songs", "claude/sessions"):
        (tmp_path / folder).mkdir(parents=True)
    return Drivers(Config.model_validate({"claude": {"config_dir": str(tmp_path / "claude")}}))


def test_every_driver_is_of_an_agent_that_is_known() -> None:
    assert {name: AGENTS[name].name for name in DRIVERS} == {name: name for name in DRIVERS}


def test_a_session_has_the_driver_of_its_agent(drivers: Drivers) -> None:
    assert drivers.of(LARKS).name == NAME
    assert drivers.of(replace(LARKS, context=Context())).name == "claude"


def test_the_first_driver_is_the_default_and_takes_sessions_of_unknown_agents(drivers: Drivers) -> None:
    assert [agent_of(), agent_of(START)] == ["claude", "claude"]
    assert agent_of(replace(LARKS, context=Context(agent="gone"))) == "claude"


def test_a_start_has_the_driver_of_the_agent_that_it_names(drivers: Drivers) -> None:
    assert [agent_of(replace(START, agent=name)) for name in (NAME, "gone", "")] == [NAME, "claude", "claude"]


def test_running_sessions_of_all_agents_are_one_list(drivers: Drivers, tmp_path: Path) -> None:
    with running_process() as sings, running_process() as reused:
        (tmp_path / "lark" / "running" / "s1.sings").write_text(f"{sings} busy")
        left = f'{{"pid": {reused}, "sessionId": "s2", "procStart": "gone"}}'
        (tmp_path / "claude" / "sessions" / f"{reused}.json").write_text(left)
        assert {process.session_id for process in drivers.session_files.read()} == {"s1", "s2"}
        assert [(process.pid, session_id) for process, session_id in drivers.running()] == [(sings, "s1")]


def test_the_configuration_of_all_agents_is_one(drivers: Drivers, tmp_path: Path) -> None:
    (tmp_path / "lark.hooks").write_text("whistle\n")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"env": {"A": "1"}}')
    found = drivers.read_project_config(str(tmp_path))
    assert ([hook.command for hook in found.hooks], [one.name for one in found.variables]) == (["whistle"], ["A"])


def test_the_allow_rules_of_an_agents_own_settings_are_the_persons_and_the_projects(
    drivers: Drivers, tmp_path: Path
) -> None:
    for folder, rule in ((tmp_path / ".claude", "Bash(mkdir:*)"), (tmp_path / "claude", "Bash(make:*)")):
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(f'{{"permissions": {{"allow": ["{rule}"]}}}}')
    found = drivers.own_allow_rules("claude", str(tmp_path))
    assert [(rule.name, rule.file) for rule in found] == [
        ("Bash(make:*)", f"{tmp_path}/claude/settings.json"),
        ("Bash(mkdir:*)", ".claude/settings.json"),
    ]
    assert drivers.own_allow_rules("unknown", str(tmp_path)) == ()


@pytest.mark.law("D14")
@pytest.mark.parametrize(
    ("variables", "session"),
    [
        ([b"CLAUDECODE=1", b"CLAUDE_CODE_SESSION_ID=s3"], "s3"),
        ([b"CLAUDECODE=1"], ""),
        ([b"CLAUDE_CODE_SESSION_ID=s3"], None),
        ([b"LARK_CHILD=s4"], "s4"),
        ([b"PATH=/bin"], None),
    ],
)
def test_a_mark_in_the_environment_names_the_session(
    drivers: Drivers, variables: list[bytes], session: str | None
) -> None:
    assert drivers.child_session(variables) == session


def test_the_variables_of_all_agents_are_known(drivers: Drivers) -> None:
    assert {"CLAUDECODE", "CLAUDE_PID", "LARK_CHILD"} <= drivers.variables
    assert os.fspath(drivers.by_name[NAME].config_dir) == os.environ[HOME]
