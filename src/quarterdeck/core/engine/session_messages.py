"""Owned sessions: the commands to them, the effects on them, and the reports about them."""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import Struct

from quarterdeck.core.engine.input_bases import SessionInput, SignedSessionInput
from quarterdeck.core.model.state import ProcessId

SessionMode = Literal["sdk", "tmux", "pty"]
"""The ways an owned session can run: through the agent's SDK, in tmux, or in a terminal of Quarterdeck."""
MODES: tuple[SessionMode, ...] = get_args(SessionMode)


class StartSession(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Start a session in a folder, given as its real path. `resume` names the conversation to continue; with `fork`
    under a new id, from `fork_at` on if that is set. `worktree` is the project that `cwd` is a worktree of, `base` the
    branch a new one starts from, empty for the one that is checked out. `runs_as` is the process that was seen to run
    the conversation just now; `discarding` says that the folder is being removed with its worktree. `unsure` says that
    the agent may not have kept this conversation: continue it if it has, start a new one if not. `agent` is the name of
    the agent, empty for the first one, `tools` are its own tools that it may use, None for all."""

    mode: str
    cwd: str
    prompt: str | None = None
    attachments: tuple[dict[str, Any], ...] = ()
    permission_mode: str | None = None
    model: str | None = None
    max_turns: int | None = None
    tools: tuple[str, ...] | None = None
    resume: str | None = None
    fork: bool = False
    fork_at: str | None = None
    title: str | None = None
    worktree: str | None = None
    base: str | None = None
    cols: int | None = None
    rows: int | None = None
    shell: bool = False
    runs_as: int | None = None
    discarding: bool = False
    unsure: bool = False
    agent: str = ""


class SendPrompt(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Send a prompt to a session. An attachment is a content block in the agent's own format."""

    message_id: str
    prompt: str
    attachments: tuple[dict[str, Any], ...] = ()


class InterruptSession(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Interrupt the running turn of a session."""


class EndSession(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """End a session."""


class ReconfigureSession(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Change the model or permission mode of an owned session."""

    model: str | None = None
    permission_mode: str | None = None


class SwitchMode(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Continue an owned session in another mode: it ends, and only then starts there."""

    mode: str


class DiscardWorktree(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """Ask whether a session's worktree at this path may be removed. A start in it that comes later is `discarding`, so
    the answer stays true until it is gone."""

    path: str


SessionCommand = (
    StartSession | SendPrompt | InterruptSession | EndSession | ReconfigureSession | SwitchMode | DiscardWorktree
)


class AgentStarted(SessionInput, frozen=True, gc=False, kw_only=True):
    """An owned session runs, as this process and in this terminal if it has one. In every report `session_id` is the
    session's handle, the id it was started with, whatever id the agent uses since. `recovered` says that it was found
    running after a restart of the daemon: no earlier command to it is still in progress, but the prompts that wait in
    its host, `queued`."""

    process: ProcessId | None = None
    terminal: str | None = None
    recovered: bool = False
    queued: tuple[str | None, ...] = ()


class AgentExited(SessionInput, frozen=True, gc=False, kw_only=True):
    """An owned session exited: by itself, by a command, or by a signal. `last_words` is the end of its stderr or its
    screen; `is_lost` says that it was gone after a restart of the daemon."""

    code: int | None = None
    signal: int | None = None
    reason: str = "exited"
    last_words: str = ""
    is_lost: bool = False


class CommandFailed(SessionInput, frozen=True, gc=False, kw_only=True):
    """A command failed; `message_id` is set when it was a prompt."""

    command: str
    error: str
    message_id: str | None = None


class PromptDelivered(SessionInput, frozen=True, gc=False, kw_only=True):
    """A prompt reached the agent: the one of this message, or the one it was started with."""

    message_id: str | None = None


class TurnEnded(SessionInput, frozen=True, gc=False, kw_only=True):
    """A turn ended; `result` is the result message of the agent's SDK. `is_refused` says that the model refused the
    agent, or could not be reached."""

    result: dict[str, Any]
    is_refused: bool = False


class AgentNote(SessionInput, frozen=True, gc=False, kw_only=True):
    """A message of the agent's SDK that no hook reports: recorded as it came. `retrying` says in words why the agent
    waits before it tries again."""

    name: str
    body: dict[str, Any]
    retrying: str | None = None


class WorktreeChanged(SignedSessionInput, frozen=True, gc=False, kw_only=True):
    """A session's worktree was merged into its base, or discarded."""

    action: str
    branch: str
    path: str
    base: str


SessionReport = AgentStarted | AgentExited | CommandFailed | PromptDelivered | TurnEnded | AgentNote | WorktreeChanged


class Launch(Struct, frozen=True, gc=False, kw_only=True):
    """Start the agent for this session, once the process that ran this conversation before (`after`) has exited."""

    start: StartSession
    after: ProcessId | None = None


OBSERVED = "observed"
"""How a session runs that the person started in a terminal."""


class AgentEffect(Struct, frozen=True, gc=False, kw_only=True):
    """An effect on a running agent, found by how it runs and by its session's handle."""

    mode: str
    handle: str


class DeliverPrompt(AgentEffect, frozen=True, gc=False, kw_only=True):
    """Deliver this prompt to the agent, whole and once."""

    send: SendPrompt


class InterruptAgent(AgentEffect, frozen=True, gc=False, kw_only=True):
    """Interrupt the agent's running turn."""


class EndAgent(AgentEffect, frozen=True, gc=False, kw_only=True):
    """End the agent, with every process it started. `process` is that of an observed agent: no other is signalled."""

    process: ProcessId | None = None


class ReconfigureAgent(AgentEffect, frozen=True, gc=False, kw_only=True):
    """Change the agent's model or permission mode."""

    model: str | None = None
    permission_mode: str | None = None


SessionEffect = Launch | DeliverPrompt | InterruptAgent | EndAgent | ReconfigureAgent
