"""What inputs have in common: their time, who sent them, and the session or request they are about."""

from __future__ import annotations

from msgspec import Struct


class TimedInput(Struct, frozen=True, gc=False, kw_only=True):
    """An input and when it came. One that is neither about a session nor about a request is about this runner."""

    at: float


class SignedInput(TimedInput, frozen=True, gc=False, kw_only=True):
    """An input of a client; `by` names the person and the surface."""

    by: str


class RequestInput(TimedInput, frozen=True, gc=False, kw_only=True):
    """An input about a request."""

    request_id: str


class SessionInput(TimedInput, frozen=True, gc=False, kw_only=True):
    """An input about a session."""

    session_id: str


class SignedSessionInput(SessionInput, frozen=True, gc=False, kw_only=True):
    """An input of a client about a session."""

    by: str
