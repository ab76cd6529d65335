"""The boundary to the coding agents: the rest of Quarterdeck sees only the `Agent` protocol.

`read_event` translates an agent's payload. These are the fields that handlers read, by neutral event; an agent that
calls them otherwise translates them, and every other field is kept as it came:

all                  session_id, cwd, transcript_path, permission_mode; of a sub-agent also agent_id, agent_type
session.started      source (startup, resume, clear, compact), model, agent_type, session_title
session.ended        reason
prompt.submitted     prompt
prompt.expanded      expansion_type, command_name, command_args, command_source, prompt
tool.before          tool_name, tool_input, tool_use_id
tool.after           the same, tool_response, duration_ms
tool.failed          the same as before, error, is_interrupt, duration_ms
tools.finished       tool_calls, each with tool_name, tool_use_id
permission.asked     tool_name, tool_input, permission_suggestions
permission.denied    tool_name, tool_input, tool_use_id, reason
form.asked           mcp_server_name, message, mode, requested_schema, url
form.answered        mcp_server_name, action, mode, content
turn.stopped         stop_hook_active, last_assistant_message, background_tasks, each with status
turn.failed          error, last_assistant_message
subagent.stopped     stop_hook_active, agent_transcript_path, last_assistant_message
todo.added, .done    task_id, task_subject, task_description

The fields of `tool_input` by kind of tool are listed in `core/model/tool_kinds.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct

from quarterdeck.core.engine.messages import TranscriptPart
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.runtime_event import EventName, RuntimeEvent
from quarterdeck.core.model.state import Capabilities
from quarterdeck.core.model.tool_kinds import ToolTraits


class Transport(StrEnum):
    """How an agent's hooks reach the daemon."""

    PLUGIN = "plugin"
    HTTP = "http"
    COMMAND = "command"


class Endpoint(Struct, frozen=True, kw_only=True):
    """The daemon's address for hooks: over HTTP at `url`, as commands through `hook_file` at `socket`. `holds_stop`:
    stops are held too."""

    url: str
    hook_token: str
    wait_seconds: float
    socket: str
    python: str
    hook_file: str
    holds_stop: bool = False


class HookTraits(Struct, frozen=True, kw_only=True):
    """One of an agent's hooks: its neutral event, and whether a call may wait for a person."""

    event: EventName
    holds: bool = False


class TranscriptSummary(Struct, frozen=True, kw_only=True):
    """A session as its transcript's first and last lines describe it."""

    cwd: str = ""
    title: str = ""
    model: str | None = None
    started_at: float = 0.0
    last_at: float = 0.0


class ReadEvent(Protocol):
    """Reads a hook payload. Never raises: a field that is missing or has the wrong type becomes empty."""

    def __call__(
        self, payload: Any, *, event_id: str, at: float, entrypoint: str = "", tag: str = "", pid: int = 0
    ) -> RuntimeEvent: ...


class WriteAnswer(Protocol):
    """The JSON an agent reads for a decision on a call of its hook `hook_name`; None is silence, which changes
    nothing."""

    def __call__(
        self, hook_name: str, tool_name: str, tool_input: dict[str, Any], decision: Decision
    ) -> dict[str, Any] | None: ...


class ReadPart(Protocol):
    """Reads whole lines of a session's transcript, or of its sub-agent's, until there is enough to record in one go.
    Messages before `since` are left out."""

    def __call__(self, content: bytes, agent_id: str | None = None, *, since: float = 0.0) -> TranscriptPart: ...


class TerminalArguments(Protocol):
    """The command-line arguments, after the program's name, of a session in a terminal."""

    def __call__(self, start: StartSession, *, settings: str = "", prompt: str | None = None) -> list[str]: ...


class Agent(Struct, frozen=True, kw_only=True):
    """A coding agent: its wire format as tables and pure functions. Its I/O is in `drivers/`.

    name                     stored with each session
    telemetry_name           its name in spans; `provider` is the one of its models, as OpenTelemetry calls them
    supported                the oldest and the newest version that is tested
    capabilities             what it can do, and the modes in which it can run and start
    hooks                    every hook that it has, by its own name
    tool_traits              the kind, or the risk, of its tool of this name
    transcript_reader        from the content of its price list to a reader of its transcripts
    read_summary             a past session from the beginning and the end of its transcript; None if it has no messages
    resume_command           the command with which a person continues a session of this id
    permission_suggestions   the suggestions of a permission request as sentences
    composer_text            text in the composer on its screen; None when there is no composer, as in a dialog
    is_folded                whether the composer shows one pasted text, folded because it is long
    shows_only               whether the composer's text is this prompt and nothing else
    project_folder           the folder of its settings in a project; a folder with one is listed as a project
    status_folder            where below its settings it keeps the status of each running process; empty if it does not
    variables                patterns of the environment variables that change what it does
    session_variables        patterns of those that it sets for what it runs
    """

    name: str
    telemetry_name: str
    provider: str
    supported: tuple[str, str]
    capabilities: Capabilities
    hooks: Mapping[str, HookTraits]
    tool_traits: Callable[[str], ToolTraits]
    read_event: ReadEvent
    write_answer: WriteAnswer
    transcript_reader: Callable[[bytes], ReadPart]
    read_summary: Callable[[bytes, bytes], TranscriptSummary | None]
    terminal_arguments: TerminalArguments
    resume_command: Callable[[str], str]
    permission_suggestions: Callable[[list[Any]], list[str]]
    composer_text: Callable[[str], str | None]
    is_folded: Callable[[str], bool]
    shows_only: Callable[[str, str], bool]
    project_folder: str = ""
    status_folder: str = ""
    variables: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name for a person."""
        return self.capabilities.label

    def own_name(self, event: EventName) -> str:
        """The agent's own name for an event, as for a request that came over its SDK and not by a hook."""
        return next(name for name, hook in self.hooks.items() if hook.event == event)
