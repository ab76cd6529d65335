"""Sessions of ours: what somebody orders, what the runner shall do then, and what it tells of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId

MODES = ("sdk", "pty", "tmux")
"""How a session of ours runs: through the agent's SDK, or in a terminal that we or tmux keep."""


class Start(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody wants a session in a folder, whose real path this is. `resume` names the conversation it goes on with;
    with `fork` under a new id, from `fork_at` on where that is given. `worktree` is the project that `cwd` is a
    worktree of, `base` the branch a new one shall begin on, empty for the one that is checked out; `runs_as` is the
    process that was seen to run the conversation just now; `unsure` says that nobody knows whether the agent has
    kept this conversation: it goes on if so, and begins if not."""

    session_id: str
    mode: str
    cwd: str
    by: str
    at: float
    prompt: str | None = None
    attachments: tuple[dict[str, Any], ...] = ()
    permission_mode: str | None = None
    model: str | None = None
    max_turns: int | None = None
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
    unsure: bool = False


class Send(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody writes to a session of ours. An attachment is a content block of the agent's own form."""

    session_id: str
    message_id: str
    prompt: str
    by: str
    at: float
    attachments: tuple[dict[str, Any], ...] = ()


class Interrupt(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody wants a session of ours to stop what it does."""

    session_id: str
    by: str
    at: float


class End(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody ends a session of ours."""

    session_id: str
    by: str
    at: float


class Change(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody gives a session of ours another model or permission mode."""

    session_id: str
    by: str
    at: float
    model: str | None = None
    permission_mode: str | None = None


class Switch(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody wants a session of ours to go on in another mode: it ends, and only then starts there."""

    session_id: str
    mode: str
    by: str
    at: float


Order = Start | Send | Interrupt | End | Change | Switch


class Up(Struct, frozen=True, gc=False, kw_only=True):
    """A session of ours runs: as this process, and where it is a terminal, there. In news `session_id` is the one it
    was started with, its handle, whatever the agent has called it since. `found` after a restart of ours: nobody of
    before works on it any more."""

    session_id: str
    at: float
    process: ProcessId | None = None
    terminal: str | None = None
    found: bool = False


class Down(Struct, frozen=True, gc=False, kw_only=True):
    """A session of ours has ended: by itself, by us, or by a signal. `last_words` is the end of what it said on
    stderr or its screen."""

    session_id: str
    at: float
    code: int | None = None
    signal: int | None = None
    reason: str = "exited"
    last_words: str = ""


class Failed(Struct, frozen=True, gc=False, kw_only=True):
    """An order could not be carried out; `message_id` where it was a prompt."""

    session_id: str
    order: str
    error: str
    at: float
    message_id: str | None = None


class Given(Struct, frozen=True, gc=False, kw_only=True):
    """The agent was given a prompt: the one of this message, or the one it was started with."""

    session_id: str
    at: float
    message_id: str | None = None


class TurnEnded(Struct, frozen=True, gc=False, kw_only=True):
    """What an agent's SDK says at the end of a turn: how it ended, and what it used."""

    session_id: str
    at: float
    result: dict[str, Any]


class Noted(Struct, frozen=True, gc=False, kw_only=True):
    """Something that an agent's SDK said and no hook says: recorded as it came."""

    session_id: str
    at: float
    name: str
    body: dict[str, Any]


class WorktreeChanged(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody had a session's worktree merged into its base, or discarded."""

    session_id: str
    action: str
    branch: str
    path: str
    base: str
    by: str
    at: float


News = Up | Down | Failed | Given | TurnEnded | Noted | WorktreeChanged


class Launch(Struct, frozen=True, gc=False, kw_only=True):
    """Start the agent for this session, once the process that had this conversation before has ended."""

    start: Start
    after: ProcessId | None = None


class Deliver(Struct, frozen=True, gc=False, kw_only=True):
    """Give the agent this prompt, whole and once."""

    send: Send
    mode: str
    handle: str


class Halt(Struct, frozen=True, gc=False, kw_only=True):
    """Make the agent stop what it does."""

    mode: str
    handle: str


class Finish(Struct, frozen=True, gc=False, kw_only=True):
    """End the agent, with all it started."""

    mode: str
    handle: str


class Adjust(Struct, frozen=True, gc=False, kw_only=True):
    """Give the agent another model or permission mode."""

    mode: str
    handle: str
    model: str | None = None
    permission_mode: str | None = None


Work = Launch | Deliver | Halt | Finish | Adjust
