"""The data of events about owned sessions: commands, and their outcome."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.event_data.base import Data


class SessionLaunchData(Data, frozen=True, gc=False, kw_only=True):
    """A session that was started. `resumed` continues its own conversation, `forked_from` another's; `continues` names
    the id that the agent gave up for this one, as on /clear; `unsure` says that the agent may have no conversation to
    continue."""

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
    """A session that now runs."""

    pid: int | None = None
    start: str | None = None
    terminal: str | None = None


class SessionExitData(Data, frozen=True, gc=False, kw_only=True):
    """An owned session that exited. `cut_off` is the prompt it was working on, unless a person had ended it;
    `failure` says what was cut off and how to go on."""

    mode: str
    reason: str
    code: int | None = None
    signal: int | None = None
    last_words: str = ""
    cut_off: str | None = None
    failure: str | None = None


class SessionSendData(Data, frozen=True, gc=False, kw_only=True):
    """A prompt sent to an owned session."""

    message_id: str
    prompt: str
    by: str
    attachments: int = 0


class SessionGivenData(Data, frozen=True, gc=False, kw_only=True):
    """A prompt that reached the agent; without `message_id` the one it was started with."""

    message_id: str | None = None


class SessionCloseData(Data, frozen=True, gc=False, kw_only=True):
    """A command to end an owned session; `next_mode` is set when it must continue in another mode."""

    by: str
    next_mode: str | None = None


class SessionChangeData(Data, frozen=True, gc=False, kw_only=True):
    by: str
    model: str | None = None
    permission_mode: str | None = None


class SessionFailedData(Data, frozen=True, gc=False, kw_only=True):
    """A command (`order`) that failed."""

    order: str
    error: str
    message_id: str | None = None


class TurnResultData(Data, frozen=True, gc=False, kw_only=True):
    """The end of a turn, as the agent's SDK reports it; `interrupted` says that a person ended it, `advice` what may be
    done about an error."""

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
    advice: str | None = None

    @property
    def has_failed(self) -> bool:
        """True if the turn ended with an error, and not because a person ended it."""
        return self.is_error and not self.interrupted

    @property
    def words(self) -> str | None:
        """What the agent said at the end, or why the turn failed."""
        return self.failure if self.has_failed else self.text

    @property
    def failure(self) -> str:
        """The reason of an error, and what may be done about it."""
        words = self.text or next(iter(self.errors), "") or self.subtype.replace("_", " ")
        return "; ".join(filter(None, (words, self.advice)))


class AgentNoteData(Data, frozen=True, gc=False, kw_only=True):
    """A report that comes only from the agent's SDK. `retrying` says why the agent waits before it tries again."""

    name: str
    body: dict[str, Any] = {}
    retrying: str | None = None
