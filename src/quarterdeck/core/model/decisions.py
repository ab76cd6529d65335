"""What can be decided, and by whom. A decision is a union, so no opinion can never be read as an allow."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class Source(StrEnum):
    """Who decided."""

    USER = "user"
    RULE = "rule"
    TIMEOUT = "timeout"
    ELSEWHERE = "elsewhere"


class Grant(Struct, frozen=True, gc=False):
    """A rule that the agent itself shall keep from now on, in its session or its local, project or user settings."""

    pattern: str
    keeper: str


class PlanMode(StrEnum):
    """How an agent may work on a plan that was approved. None of them lifts every check."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    AUTO = "auto"
    DONT_ASK = "dontAsk"


class Allow(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="decision", tag="allow"):
    """The tool may run, with the input as asked or as edited; a plan that is approved is worked on in a `mode`."""

    updated_input: dict[str, Any] | None = None
    updated_permissions: list[Any] | None = None
    grant: Grant | None = None
    mode: PlanMode | None = None


class Deny(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="deny"):
    """The tool must not run; the agent reads the message."""

    message: str
    interrupt: bool = False


class Ask(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="ask"):
    """The agent shall ask at its own prompt."""

    reason: str | None = None


class Answer(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="answer"):
    """The answers to a question, keyed by its full text, with notes keyed the same; or the content of a form."""

    answers: dict[str, Any]
    notes: dict[str, str] | None = None


class Block(Struct, frozen=True, gc=False, tag_field="decision", tag="block"):
    """The agent must not stop (or go on); it reads the reason."""

    reason: str


class NoOpinion(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="no_opinion"):
    """We say nothing: the agent does what it would do without us."""

    reason: str | None = None


Decision = Allow | Deny | Ask | Answer | Block | NoOpinion

DEFAULT_DENY = "Denied by {by} in Quarterdeck."
"""What the agent reads when a person denies without a message."""

MESSAGE_LIMIT = 64 * 1024
"""Bytes of a deny message; the agent's model would read megabytes whole."""


def decision_type(decision: Decision) -> str:
    """The word for a decision in the feed and in the API."""
    return str(decision.__struct_config__.tag)
