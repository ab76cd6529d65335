"""The real Claude Code CLI in a scratch home, talking to a model server on loopback."""

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]

API_KEY = "sk-ant-dummy-quarterdeck-tests"
CACHE = Path(__file__).parents[2] / ".cache"
PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
FIRST_RUN_DONE = {
    "hasCompletedOnboarding": True,
    "hasSeenAutoDefaultNudge": True,
    "theme": "dark",
    "customApiKeyResponses": {"approved": [API_KEY[-20:]], "rejected": []},
}
PACKAGE_197 = Path("node_modules/@anthropic-ai/claude-code/bin/claude.exe")


def claude_325() -> Path | None:
    """The binary bundled with claude-agent-sdk."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    binary = Path(spec.origin).parent / "_bundled" / "claude"
    return binary if binary.is_file() else None


def claude_197() -> Path | None:
    """The older version, from QD_TEST_CLAUDE_197 or the project's cache."""
    binary = Path(os.environ.get("QD_TEST_CLAUDE_197") or CACHE / "claude-2.1.197" / PACKAGE_197)
    return binary if binary.is_file() else None


def install_197(timeout: float = 120.0) -> Path | None:
    """The older version, installed with npm if necessary; None if that fails. Only `make parts` calls this."""
    if (found := claude_197()) or not shutil.which("npm"):
        return found
    prefix = CACHE / "claude-2.1.197"
    package = "@anthropic-ai/claude-code@2.1.197"
    try:
        subprocess.run(
            ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(prefix), package],
            check=True,
            capture_output=True,
            timeout=timeout,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return claude_197()


def require(version: str) -> Path:
    """The CLI "2.1.325" or "2.1.197", or a skip; without the bundled one a run with CI set fails."""
    found = claude_325() if version == "2.1.325" else claude_197()
    if found is None and version == "2.1.325" and os.environ.get("CI"):
        pytest.fail("claude-agent-sdk with its bundled claude is missing: install the dev dependencies")
    if found is None:
        pytest.skip(f"Claude Code {version} is not installed")
    return found


def version(cli: Path) -> str:
    return subprocess.run([cli, "--version"], check=True, capture_output=True, text=True).stdout.split()[0]


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A headless run that ended; `json` is what `--output-format json` printed."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Json:
        parsed: Json = json.loads(self.stdout)
        return parsed

    @property
    def text(self) -> str:
        return str(self.json.get("result", ""))


class ClaudeHome:
    """A scratch HOME with onboarding done and one trusted project folder."""

    def __init__(self, folder: Path, *, cli: Path, model_url: str, env: Mapping[str, str] | None = None):
        self.cli, self.model_url, self.extra_env = cli, model_url, dict(env or {})
        self.path = (folder / "home").resolve()
        self.project = self.path / "project"
        self.config = self.path / ".claude"
        self.settings_file = self.config / "settings.json"
        for path in (self.project, self.config, self.path / "tmp"):
            path.mkdir(parents=True, exist_ok=True)
        self.trust(self.project)

    def trust(self, project: Path) -> None:
        """Mark a folder as trusted, and every first-run dialog as seen."""
        file = self.path / ".claude.json"
        state = json.loads(file.read_text()) if file.exists() else {}
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        state.setdefault("projects", {}).setdefault(str(project.resolve()), {}).update(known)
        state.update(FIRST_RUN_DONE)
        file.write_text(json.dumps(state))

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.path),
            "PATH": PATH,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": API_KEY,
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "CLAUDE_CODE_TMPDIR": str(self.path / "tmp"),
            "XDG_RUNTIME_DIR": str(self.path / "tmp"),
            **self.extra_env,
        }

    def write_settings(self, settings: Json) -> None:
        self.settings_file.write_text(json.dumps(settings, indent=2))

    def read_settings(self) -> Json:
        settings: Json = json.loads(self.settings_file.read_text())
        return settings

    def record_hooks(self, *events: str) -> Path:
        """Make every named event append its payload to a file, one line each; returns that file."""
        seen = self.path / "hooks.ndjson"
        command = f"cat >> {shlex.quote(str(seen))}"
        hooks = {event: [{"hooks": [{"type": "command", "command": command}]}] for event in events}
        self.write_settings({"hooks": hooks})
        return seen

    def start_headless(
        self, prompt: str, *flags: str, cwd: Path | None = None, output: str = "json"
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.cli, "-p", prompt, "--output-format", output, *flags],
            cwd=cwd or self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run_headless(self, prompt: str, *flags: str, cwd: Path | None = None, timeout: float = 60.0) -> Finished:
        with self.start_headless(prompt, *flags, cwd=cwd) as running:
            try:
                stdout, stderr = running.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                running.kill()
                raise
        return Finished(returncode=running.returncode, stdout=stdout, stderr=stderr)


def read_lines(path: Path) -> Sequence[Json]:
    """The payloads recorded so far, whole lines only."""
    whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]
