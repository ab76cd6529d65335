"""The import contracts hold, and each one fails when it should."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BREACHES = [
    ("Layers point one way", "core/breach.py", "import quarterdeck.wire"),
    ("Layers point one way", "store/breach.py", "import quarterdeck.daemon"),
    ("Layers point one way", "breach.py", ""),
    ("Core: from the model", "core/model/breach.py", "import quarterdeck.core.reduce"),
    ("Core: from the model", "core/breach.py", ""),
    ("Daemon: the loop", "daemon/loop/breach.py", "import quarterdeck.daemon.app"),
    ("API: routes", "api/views/breach.py", "import quarterdeck.api.app"),
    ("Surfaces: client and labels", "surfaces/text/breach.py", "import quarterdeck.surfaces.tui.app"),
    ("Core, views and agents do no I/O", "core/breach.py", "import socket"),
    ("Core, views and agents do no I/O", "views/breach.py", "import socket"),
    ("Core, views and agents do no I/O", "agents/breach.py", "import time"),
    ("The link has no clock", "link/breach.py", "import time"),
    ("The link has no clock", "link/breach.py", "import quarterdeck.store.log"),
    ("Surfaces and API import neither", "api/breach.py", "import quarterdeck.agents.claude.hooks"),
    ("Surfaces and API import neither", "surfaces/breach.py", "import quarterdeck.core.reduce"),
    ("Only the two registries import an agent", "daemon/sessions/breach.py", "import quarterdeck.agents.claude.hooks"),
    ("Only the two registries import an agent", "cli/breach.py", "from quarterdeck.drivers.claude import cli"),
    ("Only the two registries import an agent", "drivers/base.py", "import quarterdeck.drivers.claude.driver"),
    ("Surfaces do not read the store", "surfaces/breach.py", "import quarterdeck.store.log"),
    ("Only drivers/claude/sdk_launcher.py imports the Agent SDK", "daemon/breach.py", "import claude_agent_sdk"),
    ("The hook imports no other module", "hook.py", "import quarterdeck.errors"),
    ("The hosts are small", "sessions/host/replay_buffer.py", "import quarterdeck.errors"),
    ("The hosts are small", "drivers/claude/sdk_host/relay.py", "import quarterdeck.wire"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"}
    program = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-cache"]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contracts")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_every_contract_has_been_seen_broken() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = {contract["name"] for contract in project["tool"]["importlinter"]["contracts"]}
    assert {name for name in names if not any(name.startswith(breach) for breach, _, _ in BREACHES)} == set()


def test_every_contract_is_kept(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(("contract", "file", "line"), BREACHES)
def test_a_breach_is_seen(copy: Path, contract: str, file: str, line: str) -> None:
    path = copy / "src" / "quarterdeck" / file
    before = path.read_text() if path.exists() else None
    path.write_text(line + "\n")
    try:
        done = lint(copy)
    finally:
        path.unlink() if before is None else path.write_text(before)
    assert done.returncode == 1, done.stdout
    assert any(row.startswith(contract) and " BROKEN" in row for row in done.stdout.splitlines()), done.stdout
