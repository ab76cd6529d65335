"""Claude Code behind the protocol of a driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.agents.claude.agent import CLAUDE
from quarterdeck.agents.claude.hook_setup import hook_groups
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.workspace.project_config import ProjectConfig, ProjectSetting
from quarterdeck.drivers.base import (
    ConnectionStatus,
    InstallOptions,
    InstallReport,
    InstallStatus,
    SessionFiles,
    TranscriptFiles,
    UninstallOptions,
    UninstallReport,
)
from quarterdeck.drivers.claude.cli import ClaudeCli, bundled_claude, find_claude
from quarterdeck.drivers.claude.extensions import ClaudeExtensions
from quarterdeck.drivers.claude.install.install import install, uninstall
from quarterdeck.drivers.claude.install.status import install_status
from quarterdeck.drivers.claude.install.targets import InstallSite
from quarterdeck.drivers.claude.project_config_files import own_allow_rules, read_project_config
from quarterdeck.drivers.claude.sdk_launcher import MISSING, SDK_HOSTS, SdkLauncher, is_installed
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.drivers.claude.transcript_files import ClaudeTranscripts
from quarterdeck.sessions.launcher import SessionListener

GUARDED = ("settings.json", "settings.local.json", "plugins", "hooks")
CHILD_MARK = b"CLAUDECODE=1"
CHILD_SESSION = b"CLAUDE_CODE_SESSION_ID="
Stamp = tuple[str, int, int]


class ClaudeDriver:
    """Claude Code on this machine."""

    name = CLAUDE.name
    host_programs: tuple[bytes, ...] = (str(SDK_HOSTS.folder / "main.py").encode(),)
    variables = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"})

    def __init__(self, config: Config) -> None:
        self._path = config.claude.path
        self._sources = config.sdk.setting_sources
        self._approval_seconds = config.sdk.approval_seconds
        self.config_dir = claude_config_dir(config).absolute()
        self.guarded = tuple(self.config_dir / name for name in GUARDED)
        self.session_files: SessionFiles = SessionsFolder(self.config_dir / CLAUDE.status_folder)
        self.transcripts: TranscriptFiles = ClaudeTranscripts(self.config_dir / "projects")
        self._versions: dict[Stamp, str] = {}

    def find_program(self) -> Path | None:
        return find_claude(self._path)

    def program_advice(self, program: Path) -> str:
        """Its own program is only a copy for the SDK, without a command that a person could run."""
        is_copy = self._path is None and program == bundled_claude()
        return "only the Agent SDK's own: no claude on PATH, so install Claude Code" if is_copy else ""

    def version(self, program: Path) -> str:
        """The version of Claude Code, read again only when its file changed: reading it starts a process."""
        found = program.stat()
        stamp = (str(program), found.st_mtime_ns, found.st_size)
        if stamp not in self._versions:
            self._versions[stamp] = ClaudeCli(program, self.config_dir).version()
        return self._versions[stamp]

    def child_session(self, variables: Sequence[bytes]) -> str | None:
        """The session that Claude Code names in the environment of the processes its tools start."""
        if CHILD_MARK not in variables:
            return None
        named = (variable for variable in variables if variable.startswith(CHILD_SESSION))
        return next(named, b"").removeprefix(CHILD_SESSION).decode("latin-1")

    def price_list(self) -> bytes:
        return resources.files("quarterdeck.agents.claude").joinpath("prices.json").read_bytes()

    def read_project_config(self, folder: str) -> ProjectConfig:
        return read_project_config(folder)

    def own_allow_rules(self, folder: str) -> tuple[ProjectSetting, ...]:
        return own_allow_rules(self.config_dir, folder)

    def extensions(self, folders: Callable[[], Iterable[str]]) -> ClaudeExtensions:
        def find() -> ClaudeCli | None:
            program = self.find_program()
            return ClaudeCli(program, self.config_dir) if program else None

        return ClaudeExtensions(find, self.config_dir, folders)

    def sdk_launcher(self, listener: SessionListener, folder: Path) -> SdkLauncher:
        return SdkLauncher(listener, folder, sources=self._sources, approval_seconds=self._approval_seconds)

    def sdk_problem(self) -> str | None:
        return None if is_installed() else MISSING

    def session_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """With CLAUDE_CONFIG_DIR only if needed: set and empty, it would be a folder without a name."""
        environment = dict(environ)
        if self.config_dir != Path.home() / ".claude":
            environment["CLAUDE_CONFIG_DIR"] = str(self.config_dir)
        elif not environment.get("CLAUDE_CONFIG_DIR"):
            environment.pop("CLAUDE_CONFIG_DIR", None)
        return environment

    def session_hooks(
        self, start: StartSession, program: Path, home: Path, endpoint: Endpoint
    ) -> dict[str, Any] | None:
        connections = self.install_status(home, endpoint).connections
        if any(one.is_reporting and self._reaches(one, start) for one in connections):
            return None
        # Claude Code prints each HTTP hook that fails into the terminal; an SDK session has none, and HTTP is faster.
        transport = Transport.HTTP if start.mode == "sdk" else Transport.COMMAND
        return {"hooks": hook_groups(endpoint, transport, self.version(program))}

    def _reaches(self, connection: ConnectionStatus, start: StartSession) -> bool:
        """True if a session reads the settings that an install has changed."""
        source = "user" if connection.project is None else "local"
        if start.mode == "sdk" and source not in self._sources:
            return False
        return connection.project is None or Path(start.cwd).is_relative_to(connection.project)

    def install(self, home: Path, options: InstallOptions) -> InstallReport:
        return install(self._site(home), options)

    def uninstall(self, home: Path, options: UninstallOptions) -> UninstallReport:
        return uninstall(self._site(home), options)

    def install_status(self, home: Path, endpoint: Endpoint) -> InstallStatus:
        return install_status(self._site(home), endpoint)

    def _site(self, home: Path) -> InstallSite:
        return InstallSite(home=home.absolute(), config_dir=self.config_dir, claude_path=self._path)


def claude_config_dir(config: Config) -> Path:
    """The folder where Claude Code keeps its settings and sessions."""
    configured = config.claude.config_dir or os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured).expanduser() if configured else Path.home() / ".claude"
