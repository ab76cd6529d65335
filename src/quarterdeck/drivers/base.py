"""The boundary to an agent on this machine: all I/O that the rest of Quarterdeck asks of one is a `Driver`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.state import ProcessId
from quarterdeck.core.workspace.project_config import ProjectConfig, ProjectSetting
from quarterdeck.drivers.extensions import Extensions
from quarterdeck.drivers.transcript_chunks import ChangeMark, OpenTranscript
from quarterdeck.sessions.launcher import Launcher, SessionListener


class SessionProcess(Struct, frozen=True):
    """A session as its process file describes it; `changed_at` is the last change of its status, `start` the start of
    the process in the system's own count, `domain` its machine and container, `agent` whose file it is, `pane` the tmux
    pane that it names."""

    session_id: str
    pid: int
    status: str
    waiting_for: str | None
    changed_at: float
    start: str = ""
    domain: str = ""
    agent: str = ""
    pane: str = ""


class SessionFiles(Protocol):
    """An agent's own record of its running sessions; empty if it keeps none."""

    def read(self) -> list[SessionProcess]: ...

    def identity(self, process: SessionProcess) -> ProcessId | None:
        """The process that a record describes, if it runs here."""


class TranscriptFile(Struct, frozen=True):
    """A transcript as its folder lists it; `agent` is the name of the agent that wrote it."""

    agent: str
    path: str
    session_id: str
    size: int
    changed_at: float


class TranscriptFiles(Protocol):
    """An agent's transcripts. A path comes from an agent and may point anywhere; one outside their folder raises
    UnreadableTranscript."""

    def sessions(self) -> list[TranscriptFile]:
        """The transcript of every session, without those of its sub-agents."""

    def open(self, path: str) -> AbstractContextManager[OpenTranscript]: ...

    def sub_agents(self, path: str) -> dict[str, str]:
        """The transcript paths of a session's sub-agents, by agent id."""

    def change_mark(self, path: str) -> ChangeMark | None:
        """A mark that changes when a transcript of this session is written; None without one."""


class InstallScope(StrEnum):
    USER = "user"
    PROJECT = "project"


class InstallOptions(Struct, frozen=True, kw_only=True):
    endpoint: Endpoint
    transport: Transport = Transport.PLUGIN
    scope: InstallScope = InstallScope.USER
    project: Path | None = None
    enforce: bool = False
    dry_run: bool = False


class InstallReport(Struct, frozen=True, kw_only=True):
    """The result of an install. `changed` is also true for a dry run that would change something; only a dry run has a
    `diff` of all files, with the person's own settings last. `settings_diff` is the part about those settings,
    `plugin_file_count` the number of other files."""

    changed: bool
    diff: str = ""
    settings_diff: str = ""
    plugin_file_count: int = 0
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class UninstallOptions(Struct, frozen=True, kw_only=True):
    """Options of an uninstall. Without a scope everything that is connected is removed."""

    scope: InstallScope | None = None
    project: Path | None = None
    dry_run: bool = False


class UninstallReport(InstallReport, frozen=True, kw_only=True):
    token_rotated: bool = False


class ConnectionStatus(Struct, frozen=True, kw_only=True):
    """One connected settings file. `is_reporting`: the hooks of new sessions call this daemon. `problems` are its own,
    each with its fix."""

    transport: Transport
    scope: InstallScope
    project: Path | None
    file: Path
    is_reporting: bool
    problems: tuple[str, ...]


class GateStatus(Struct, frozen=True, kw_only=True):
    """One enforce gate: the file that holds it, and why it is not whole."""

    file: Path
    problems: tuple[str, ...] = ()


class InstallStatus(Struct, frozen=True, kw_only=True):
    """The connections, the gates, all problems, and the command that fixes those."""

    connections: tuple[ConnectionStatus, ...]
    gates: tuple[GateStatus, ...] = ()
    problems: tuple[str, ...]
    fix: str


class Driver(Protocol):
    """One agent on this machine, as the settings describe it. Where it has no such thing, the answer is None or empty.

    name             its name in both registries; the setting `<name>.path` names its program
    config_dir       the folder of its settings
    guarded          its files that control what it may do
    host_programs    the programs that run above its agents, as they stand on a command line
    variables        the environment variables that it sets for its children
    session_files    its own record of its running sessions
    transcripts      its transcript files
    """

    name: str
    config_dir: Path
    guarded: tuple[Path, ...]
    host_programs: tuple[bytes, ...]
    variables: frozenset[str]
    session_files: SessionFiles
    transcripts: TranscriptFiles

    def find_program(self) -> Path | None:
        """Its program. It is an error when the setting names none."""

    def program_advice(self, program: Path) -> str:
        """Advice about a program that works; empty if there is none."""

    def version(self, program: Path) -> str:
        """The version of a program, such as 2.1.325; empty if it prints none."""

    def child_session(self, variables: Sequence[bytes]) -> str | None:
        """The session whose tools have started the process with these environment variables; empty if it is not named,
        None if there is no such session."""

    def price_list(self) -> bytes:
        """The prices of its models, for its transcript reader."""

    def read_project_config(self, folder: str) -> ProjectConfig:
        """The configuration of a project that it would obey: read, never run."""

    def own_allow_rules(self, folder: str) -> tuple[ProjectSetting, ...]:
        """The allow rules of its own settings that count in a folder: the person's and the project's."""

    def extensions(self, folders: Callable[[], Iterable[str]]) -> Extensions | None:
        """Its plugins and MCP servers; `folders` returns the projects that are searched for those."""

    def sdk_launcher(self, listener: SessionListener, folder: Path) -> Launcher | None:
        """Runs its sessions through its SDK, with the records of their hosts in this folder."""

    def sdk_problem(self) -> str | None:
        """The reason why no session can run through its SDK now."""

    def session_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment of a session that the daemon starts, with what the agent needs."""

    def session_hooks(
        self, start: StartSession, program: Path, home: Path, endpoint: Endpoint
    ) -> dict[str, Any] | None:
        """Settings that connect a session to the daemon; None where the hooks of an install reach it: with both, every
        hook call would come twice."""

    def install(self, home: Path, options: InstallOptions) -> InstallReport:
        """Connect the agent to the daemon of this home, or update the connection."""

    def uninstall(self, home: Path, options: UninstallOptions) -> UninstallReport: ...

    def install_status(self, home: Path, endpoint: Endpoint) -> InstallStatus:
        """The connections, compared with what an install would write. Runs no program and changes nothing."""
