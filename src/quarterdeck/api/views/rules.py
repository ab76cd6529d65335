"""Rules as the API returns and accepts them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from quarterdeck.core.model.rule import MAX_RULES

Effect = Literal["allow", "deny", "ask"]
ScopeWord = Literal["once", "session", "project", "user", "hub"]
Text = Annotated[str, Meta(min_length=1, max_length=4096)]
Note = Annotated[str, Meta(max_length=1000)]


class NewRule(Struct, kw_only=True, forbid_unknown_fields=True):
    """A rule to create or to try. `scope_id` is the session of a session rule, or the project of a project rule, which
    may name its folder in `scope_path` instead. `expires` is a duration like 7d, `expires_at` a time."""

    effect: Effect
    pattern: Text
    scope: ScopeWord = "user"
    scope_id: Text | None = None
    scope_path: Text | None = None
    expires: Annotated[str, Meta(min_length=1, max_length=20)] | None = None
    expires_at: float | None = None
    note: Note | None = None


class ManyRules(Struct, kw_only=True, forbid_unknown_fields=True):
    """Rules to create together. With `is_trial` nothing is created, and the response shows what would be."""

    rules: Annotated[list[NewRule], Meta(max_length=MAX_RULES)]
    is_trial: bool = False


class SimulationRequest(NewRule, kw_only=True, forbid_unknown_fields=True):
    """A rule to try on past requests, page by page, newest first."""

    before: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


class ExplainRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """The request to explain, or a tool use in a session or folder."""

    request_id: Text | None = None
    tool_name: Text | None = None
    tool_input: dict[str, Any] | None = None
    session_id: Text | None = None
    cwd: Text | None = None
