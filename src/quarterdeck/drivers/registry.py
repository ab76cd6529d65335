"""The drivers of the agents, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from quarterdeck.config.settings import Config
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.core.workspace.project_config import ProjectConfig, ProjectSetting, merge_configs
from quarterdeck.drivers.base import Driver, SessionFiles, SessionProcess
from quarterdeck.drivers.claude.driver import ClaudeDriver

DRIVERS: dict[str, Callable[[Config], Driver]] = {ClaudeDriver.name: ClaudeDriver}
"""The names are those of `agents/registry.py`. The first agent is the default."""


def agent_of(session: Session | StartSession | None = None) -> str:
    """The name of a session's agent; the default agent where none is named, or one that has no driver."""
    named = session.agent if session else ""
    return named if named in DRIVERS else next(iter(DRIVERS))


class Drivers:
    """The driver of every agent on this machine."""

    def __init__(self, config: Config) -> None:
        self.by_name = {name: make(config) for name, make in DRIVERS.items()}
        self.variables = frozenset().union(*(driver.variables for driver in self.by_name.values()))
        self.session_files = AllSessionFiles({name: driver.session_files for name, driver in self.by_name.items()})

    def of(self, session: Session | StartSession | None = None) -> Driver:
        """The driver of a session's agent, or of the default agent."""
        return self.by_name[agent_of(session)]

    def read_project_config(self, folder: str) -> ProjectConfig:
        """All configuration of a project that an agent would obey. Each agent limits its own entries."""
        return merge_configs([driver.read_project_config(folder) for driver in self.by_name.values()], sys.maxsize)

    def own_allow_rules(self, agent: str | None, folder: str) -> tuple[ProjectSetting, ...]:
        """The allow rules of an agent's own settings; of the default agent's unless one is named."""
        driver = self.by_name.get(agent) if agent else self.of()
        return driver.own_allow_rules(folder) if driver else ()

    def running(self) -> list[tuple[ProcessId, str]]:
        """The processes that run a session here, each with its session."""
        files = self.session_files
        return [(process, one.session_id) for one in files.read() if (process := files.identity(one)) is not None]

    def child_session(self, variables: Sequence[bytes]) -> str | None:
        """The session whose tools have started the process with these environment variables."""
        named = (driver.child_session(variables) for driver in self.by_name.values())
        return next((session for session in named if session is not None), None)


class AllSessionFiles:
    """The session files of several agents, as if they were one agent's."""

    def __init__(self, parts: Mapping[str, SessionFiles]) -> None:
        self._parts = parts

    def read(self) -> list[SessionProcess]:
        return [replace(process, agent=name) for name, part in self._parts.items() for process in part.read()]

    def identity(self, process: SessionProcess) -> ProcessId | None:
        """The process, as the agent whose file it is identifies it: another one may check less."""
        return self._parts[process.agent].identity(process)
