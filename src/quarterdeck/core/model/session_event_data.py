"""The data of events about sessions of ours: who ordered what, and how it went."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.event_data import Data


class SessionLaunchData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody started a session. `resumed` says it goes on with its own conversation, `forked_from` with another's;
    `continues` names the id the agent gave up for this one, as on /clear; `unsure` says that the agent may have kept
    nothing to go on with."""

    mode: str
    by: str
    cwd: str
    handle: str
    prompt: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    resumed: bool = False
    forked_from: str | None = None
    fork_at: str | None = None
    continues: str | None = None
    title: str | None = None
    worktree: str | None = None
    shell: bool = False
    unsure: bool = False


class SessionUpData(Data, frozen=True, gc=False, kw_only=True):
    """It runs."""

    pid: int | None = None
    start: str | None = None
    terminal: str | None = None


class SessionExitData(Data, frozen=True, gc=False, kw_only=True):
    """A session of ours ended. `cut_off` is the prompt it was working on, when nobody had ended it."""

    mode: str
    reason: str
    code: int | None = None
    signal: int | None = None
    last_words: str = ""
    cut_off: str | None = None


class SessionSendData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody wrote to a session of ours."""

    message_id: str
    prompt: str
    by: str
    attachments: int = 0


class SessionGivenData(Data, frozen=True, gc=False, kw_only=True):
    """The agent was given a prompt; without `message_id` the one it was started with."""

    message_id: str | None = None


class SessionCloseData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody ended a session of ours; `next_mode` when it shall go on in another one."""

    by: str
    next_mode: str | None = None


class SessionChangeData(Data, frozen=True, gc=False, kw_only=True):
    by: str
    model: str | None = None
    permission_mode: str | None = None


class SessionFailedData(Data, frozen=True, gc=False, kw_only=True):
    """An order that could not be carried out."""

    order: str
    error: str
    message_id: str | None = None


class TurnResultData(Data, frozen=True, gc=False, kw_only=True):
    """How a turn ended, in the words of the agent's SDK; `interrupted` says that a person ended it."""

    subtype: str
    is_error: bool = False
    interrupted: bool = False
    stop_reason: str | None = None
    turns: int | None = None
    duration_ms: float | None = None
    api_ms: float | None = None
    cost_usd: float | None = None
    usage: dict[str, Any] | None = None
    errors: list[str] = []
    text: str | None = None


class AgentNoteData(Data, frozen=True, gc=False, kw_only=True):
    """Something that only the agent's SDK says."""

    name: str
    body: dict[str, Any] = {}
