"""Decisions and their sources. A decision is a union, so no opinion can never be read as an allow."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, get_args

from msgspec import Struct


class Source(StrEnum):
    """The origin of a decision."""

    USER = "user"
    RULE = "rule"
    TIMEOUT = "timeout"
    ELSEWHERE = "elsewhere"


class Grant(Struct, frozen=True, gc=False):
    """A rule that the agent itself must keep from now on, in its session or its local, project or user settings."""

    pattern: str
    keeper: str


PermissionMode = Literal["default", "acceptEdits", "plan", "dontAsk", "auto"]
"""The modes in which a person may start an agent. In bypassPermissions nobody would be asked before a tool runs."""
PERMISSION_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)


class PlanMode(StrEnum):
    """The permission mode for work on an approved plan. None of them lifts every check."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    AUTO = "auto"
    DONT_ASK = "dontAsk"


class Allow(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="decision", tag="allow"):
    """The tool may run, with its input as requested or as edited; work on an approved plan continues in `mode`."""

    updated_input: dict[str, Any] | None = None
    updated_permissions: list[Any] | None = None
    grant: Grant | None = None
    mode: PlanMode | None = None


class Deny(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="deny"):
    """The tool must not run; the agent reads the message."""

    message: str
    interrupt: bool = False


class Ask(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="ask"):
    """The agent must ask at its own prompt."""

    reason: str | None = None


class Answer(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="answer"):
    """The answers to a question, keyed by its full text, with notes keyed the same; or the content of a form."""

    answers: dict[str, Any]
    notes: dict[str, str] | None = None


class Block(Struct, frozen=True, gc=False, tag_field="decision", tag="block"):
    """The agent must not stop (or must not continue); it reads the reason."""

    reason: str


class NoOpinion(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="decision", tag="no_opinion"):
    """No decision: the agent does what it would do without Quarterdeck."""

    reason: str | None = None


Decision = Allow | Deny | Ask | Answer | Block | NoOpinion

ACTIONS: Mapping[str, Mapping[str, type[Decision]]] = {
    "permission": {
        "allow": Allow,
        "edit": Allow,
        "deny": Deny,
        "interrupt": Deny,
        "remember": Allow,
        "pass": NoOpinion,
    },
    "plan": {"allow": Allow, "approve": Allow, "deny": Deny, "interrupt": Deny, "pass": NoOpinion},
    "questions": {"answer": Answer, "deny": Deny, "pass": NoOpinion},
    "elicitation": {"answer": Answer, "deny": Deny, "pass": NoOpinion},
    "stop": {"allow": Allow, "go_on": Block, "pass": NoOpinion},
}
"""What a person can do with a request, by its form or kind and in the order in which it is offered, and the decision
that each makes."""

DEFAULT_DENY = "Denied by {by} in Quarterdeck."
"""The message to the agent when a person denies without one."""

MAX_MESSAGE_BYTES = 64 * 1024
"""Limit of a deny message: the agent's model would read megabytes in full."""


def decision_type(decision: Decision) -> str:
    """The name of a decision in the feed and in the API."""
    return str(decision.__struct_config__.tag)
