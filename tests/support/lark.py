"""Lark, an agent that does not exist. It keeps its files in other places and in another form than Claude Code, so that
a daemon with this driver alone shows that nothing but the registries knows an agent.

As a program: the `quarterdeck` command, with Lark as its only driver.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from quarterdeck.agents import registry as agents
from quarterdeck.agents.base import Endpoint, ReadPart, TranscriptSummary, Transport
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.messages import TranscriptMessage, TranscriptPart
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.event_data.session_data import MessageUsage
from quarterdeck.core.model.state import Capabilities, ProcessId
from quarterdeck.core.workspace.project_config import ProjectConfig, ProjectHook, ProjectSetting
from quarterdeck.drivers import registry as drivers
from quarterdeck.drivers.base import (
    ConnectionStatus,
    InstallOptions,
    InstallReport,
    InstallScope,
    InstallStatus,
    SessionFiles,
    SessionProcess,
    TranscriptFile,
    TranscriptFiles,
    UninstallOptions,
    UninstallReport,
)
from quarterdeck.drivers.transcript_chunks import ChangeMark, MissingTranscript, OpenTranscript, UnreadableTranscript
from quarterdeck.sessions.launcher import SessionListener
from quarterdeck.system.process_table import read_proc

NAME = "lark"
HOME = "LARK_HOME"


def song(words: str, cwd: str = "/w/song") -> bytes:
    """A line of a transcript: the folder, a bar, and the text."""
    return f"{cwd}|{words}\n".encode()


def _transcript_reader(prices: bytes) -> ReadPart:
    def read(content: bytes, agent_id: str | None = None, *, since: float = 0.0) -> TranscriptPart:
        words = [line.partition("|")[2] for line in content.decode().splitlines()]
        messages = (
            TranscriptMessage(usage=MessageUsage(message_id=text), text=prices.decode() + text, agent_id=agent_id)
            for text in words
        )
        return TranscriptPart(size=len(content), messages=tuple(messages))

    return read


def _read_summary(head: bytes, tail: bytes) -> TranscriptSummary | None:
    cwd, _, title = head.decode().splitlines()[0].partition("|")
    return TranscriptSummary(cwd=cwd, title=title)


def _terminal_arguments(start: StartSession, *, settings: str = "", prompt: str | None = None) -> list[str]:
    return ["sing", start.session_id, settings]


LARK = replace(
    agents.AGENTS["claude"],
    name=NAME,
    capabilities=Capabilities(label="Lark", modes=("pty", "tmux"), permission_modes=("default",), forks=False),
    supported=("1.0", "1.1"),
    transcript_reader=_transcript_reader,
    read_summary=_read_summary,
    terminal_arguments=_terminal_arguments,
    resume_command=lambda session_id: f"lark sing {session_id}",
    status_folder="",
)


class LarkSessions:
    """A file for each running session, of its name: pid and status."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> list[SessionProcess]:
        return [self._process(file) for file in sorted(self._folder.glob("*.sings"))]

    def _process(self, file: Path) -> SessionProcess:
        pid, status = file.read_text().split()
        return SessionProcess(file.stem, int(pid), status, None, file.stat().st_mtime)

    def identity(self, process: SessionProcess) -> ProcessId | None:
        found = read_proc(process.pid)
        return found.id if found else None


class LarkTranscripts:
    """All transcripts in one folder, `<session>.song`; there are no sub-agents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sessions(self) -> list[TranscriptFile]:
        found = [(file, file.stat()) for file in sorted(self._folder.glob("*.song"))]
        return [TranscriptFile(NAME, str(file), file.stem, seen.st_size, seen.st_mtime) for file, seen in found]

    @contextmanager
    def open(self, path: str) -> Iterator[OpenTranscript]:
        file = self._own(path)
        if not file.exists():
            raise MissingTranscript("there is no song")
        with file.open("rb") as opened:
            seen = os.fstat(opened.fileno())
            yield OpenTranscript(opened.fileno(), seen.st_size, seen.st_ino)

    def sub_agents(self, path: str) -> dict[str, str]:
        self._own(path)
        return {}

    def change_mark(self, path: str) -> ChangeMark | None:
        file = self._own(path)
        seen = file.stat() if file.exists() else None
        return (seen.st_size, seen.st_mtime_ns, 0) if seen else None

    def _own(self, path: str) -> Path:
        if Path(path).parent != self._folder:
            raise UnreadableTranscript("the song is not in Lark's folder")
        return Path(path)


class LarkDriver:
    """Lark in the folder LARK_HOME. It has no SDK and no extensions."""

    name = NAME
    variables = frozenset({"LARK_CHILD"})
    host_programs: tuple[bytes, ...] = ()

    def __init__(self, config: Config) -> None:
        self.config_dir = Path(os.environ[HOME])
        self.guarded: tuple[Path, ...] = (self.config_dir / "lark.toml",)
        self.session_files: SessionFiles = LarkSessions(self.config_dir / "running")
        self.transcripts: TranscriptFiles = LarkTranscripts(self.config_dir / "songs")

    def find_program(self) -> Path | None:
        program = self.config_dir / "bin" / "lark"
        return program if program.exists() else None

    def program_advice(self, program: Path) -> str:
        return ""

    def version(self, program: Path) -> str:
        return "1.0"

    def child_session(self, variables: Sequence[bytes]) -> str | None:
        marks = (entry.removeprefix(b"LARK_CHILD=") for entry in variables if entry.startswith(b"LARK_CHILD="))
        return next((mark.decode() for mark in marks), None)

    def price_list(self) -> bytes:
        return b"for a song: "

    def own_allow_rules(self, folder: str) -> tuple[ProjectSetting, ...]:
        return ()

    def read_project_config(self, folder: str) -> ProjectConfig:
        file = Path(folder, "lark.hooks")
        lines = file.read_text().splitlines() if file.exists() else []
        return ProjectConfig(
            hooks=tuple(ProjectHook(event="dawn", matcher="", command=one, file=file.name) for one in lines)
        )

    def extensions(self, folders: Callable[[], Iterable[str]]) -> None:
        return None

    def sdk_launcher(self, listener: SessionListener, folder: Path) -> None:
        return None

    def sdk_problem(self) -> str | None:
        return "Lark has no SDK"

    def session_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {**environ, HOME: str(self.config_dir)}

    def session_hooks(
        self, start: StartSession, program: Path, home: Path, endpoint: Endpoint
    ) -> dict[str, Any] | None:
        return {"lark calls": endpoint.url}

    def install(self, home: Path, options: InstallOptions) -> InstallReport:
        (self.config_dir / "connected").write_text(options.endpoint.url)
        return InstallReport(changed=True, lines=("Lark is connected.",))

    def uninstall(self, home: Path, options: UninstallOptions) -> UninstallReport:
        (self.config_dir / "connected").unlink()
        return UninstallReport(changed=True, lines=("Lark is disconnected.",))

    def install_status(self, home: Path, endpoint: Endpoint) -> InstallStatus:
        file = self.config_dir / "connected"
        connection = ConnectionStatus(
            transport=Transport.HTTP,
            scope=InstallScope.USER,
            project=None,
            file=file,
            is_reporting=True,
            problems=(),
        )
        return InstallStatus(connections=(connection,) if file.exists() else (), problems=(), fix="qd install")


def register() -> None:
    """Make Lark known, and the only agent that has a driver."""
    cast("dict[str, Any]", agents.AGENTS)[NAME] = LARK
    drivers.DRIVERS.clear()
    drivers.DRIVERS[NAME] = LarkDriver


if __name__ == "__main__":
    from quarterdeck.cli.main import main

    register()
    main()
