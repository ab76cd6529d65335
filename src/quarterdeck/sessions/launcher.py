"""The launcher protocols: the calls that every launcher offers, and the listener that it reports to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from quarterdeck.core.engine.session_messages import SendPrompt, SessionReport, StartSession
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.state import ProcessId


class LaunchSpec(Struct, frozen=True, kw_only=True):
    """The parameters of a start: the agent's name, program (None only for a shell), configuration and environment.
    `hooks` is the path of the settings that connect it to the daemon, empty if it is connected already. `folder` is for
    sockets."""

    agent: str
    program: Path | None
    config_dir: Path
    environment: Mapping[str, str]
    hooks: str
    folder: Path


class RunningAgent(Struct, frozen=True, kw_only=True):
    """A running session and its process; `terminal` is the command that shows its terminal, `queued` are the prompts
    that wait in its host."""

    session_id: str
    process: ProcessId | None = None
    terminal: str | None = None
    queued: tuple[str | None, ...] = ()


class PermissionQuery(Struct, frozen=True, kw_only=True):
    """A permission request that came through an agent's SDK; `entrypoint` is the one that its hooks would report.
    `query_id` names it within its session: the agent's host sends it again to the next daemon. Empty if unknown."""

    agent: str
    entrypoint: str
    session_id: str
    tool_name: str
    tool_input: dict[str, Any]
    query_id: str = ""
    tool_use_id: str | None = None
    agent_id: str | None = None
    suggestions: tuple[dict[str, Any], ...] = ()
    title: str | None = None
    reason: str | None = None
    blocked_path: str | None = None


class SessionListener(Protocol):
    """Receives the reports of owned sessions. `report` and `stream` return at once."""

    def report(self, report: SessionReport) -> None: ...

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Live details that do not go into the feed: text as it is written, or a terminal's size."""

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        """Open a request and wait for the decision. Cancelled when the agent no longer waits; silence is NoOpinion."""


class ObservedAgents(Protocol):
    """Commands to agents that the person started. A call that raises Refused says why, and has changed nothing."""

    async def send(self, send: SendPrompt) -> None: ...

    async def interrupt(self, session_id: str) -> None: ...

    async def end(self, session_id: str, process: ProcessId) -> None:
        """End this very process, and wait until it has ended."""


class Launcher(Protocol):
    """Runs sessions in one mode. A call that raises Refused says what to do next, and has changed nothing."""

    async def launch(self, start: StartSession, spec: LaunchSpec) -> RunningAgent: ...

    async def send(self, send: SendPrompt) -> bool:
        """Deliver the prompt, whole and once, or refuse it. True if the agent has it; if it is queued,
        `PromptDelivered` follows."""

    async def interrupt(self, session_id: str) -> None: ...

    async def reconfigure(self, session_id: str, model: str | None, permission_mode: str | None) -> None: ...

    async def cancel_launch(self, session_id: str) -> None:
        """Cancel a launch that is still running; does nothing if there is none."""

    async def end(self, session_id: str) -> None:
        """End the session with everything it started; `AgentExited` follows."""

    async def adopt(self, expected: Sequence[str]) -> list[RunningAgent]:
        """After a restart of the daemon: find which of these still run, and report about them from now on."""

    async def close(self, *, restarts: bool) -> None:
        """The daemon stops: end sessions that only it can reach, unless it `restarts`; the others continue."""


class ScreenViewer(Protocol):
    """A viewer of a terminal. After `pause` it gets nothing until `resume`, and then the current screen."""

    async def write(self, data: bytes) -> None: ...

    async def resize(self, cols: int, rows: int) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None: ...


@runtime_checkable
class TerminalLauncher(Launcher, Protocol):
    """A launcher whose sessions have a screen."""

    async def view(self, session_id: str, cols: int, rows: int, on_output: Callable[[bytes], None]) -> ScreenViewer:
        """View the terminal: `on_output` gets bytes that draw the current screen, then all that follow. The smallest
        viewer decides the size for all."""

    async def screen(self, session_id: str) -> str:
        """The text on its screen."""
