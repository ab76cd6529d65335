"""What every way to run a session offers, and what it tells: the runner's sessions build on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from quarterdeck.core.engine.session_messages import News, Send, Start
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.state import ProcessId


class Kit(Struct, frozen=True, kw_only=True):
    """What an agent is started with: which program, on which configuration, in which environment, and the path of the
    settings that make it speak to us; empty when it does so already. `folder` is ours to put sockets into."""

    claude: Path
    config_dir: Path
    environment: Mapping[str, str]
    hooks: str
    folder: Path


class Running(Struct, frozen=True, kw_only=True):
    """A session that runs: as this process; `terminal` says where its terminal is, in words a person can use."""

    session_id: str
    process: ProcessId | None = None
    terminal: str | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """An agent asks through its SDK whether it may use a tool."""

    session_id: str
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    agent_id: str | None = None
    suggestions: tuple[dict[str, Any], ...] = ()
    title: str | None = None
    reason: str | None = None
    blocked_path: str | None = None


class Ear(Protocol):
    """Who hears what happens to the sessions of ours. `tell` and `stream` return at once."""

    def tell(self, news: News) -> None: ...

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Something beside the feed: text as it comes, or what a terminal shows."""
        ...

    async def ask(self, asked: Asked) -> Decision:
        """Put it on the desk. Cancelled when the agent no longer waits; silence is NoOpinion."""
        ...


class Way(Protocol):
    """One way to run sessions. A call raises Refused, in words that say what to do; nothing is half done then."""

    async def launch(self, start: Start, kit: Kit) -> Running: ...

    async def send(self, send: Send) -> bool:
        """Give it the prompt, whole and once, or refuse. Whether the agent has it; where it waits, `Given` follows."""
        ...

    async def interrupt(self, session_id: str) -> None: ...

    async def change(self, session_id: str, model: str | None, permission_mode: str | None) -> None: ...

    async def give_up(self, session_id: str) -> None:
        """A launch that may take long is refused now; nothing when none is under way."""
        ...

    async def end(self, session_id: str) -> None:
        """End it with all it started; `Down` follows."""
        ...

    async def adopt(self, expected: Sequence[str]) -> list[Running]:
        """Which of these still run after a restart of ours; from now on their news are told again."""
        ...

    async def close(self) -> None:
        """We stop: what cannot live without us ends, the rest goes on."""
        ...


class Viewer(Protocol):
    """One who looks at a terminal. After `pause` nothing more is shown until `resume`, and then the screen as it is."""

    async def write(self, data: bytes) -> None: ...

    async def resize(self, cols: int, rows: int) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None: ...


@runtime_checkable
class TerminalWay(Way, Protocol):
    """A way whose sessions have a screen."""

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> Viewer:
        """Look at it: `seen` gets what makes the screen as it is now, then what follows. One size counts for all who
        look: the smallest."""
        ...

    async def screen(self, session_id: str) -> str:
        """The text on its screen."""
        ...
