"""The data of events about this runner: rules, trust, plugins, MCP servers, tokens, settings, the log."""

from __future__ import annotations

from quarterdeck.core.model.event_data.base import Data


class RuleAddData(Data, frozen=True, gc=False, kw_only=True):
    """`request_id` is the request whose decision became this rule."""

    rule_id: str
    effect: str
    pattern: str
    scope: str
    by: str
    scope_id: str | None = None
    scope_path: str | None = None
    expires_at: float | None = None
    note: str | None = None
    request_id: str | None = None


class RuleRemoveData(Data, frozen=True, gc=False, kw_only=True):
    """`why` is removed, used, expired, or ended for a rule of a session that has ended."""

    rule_id: str
    by: str
    effect: str = ""
    pattern: str = ""
    why: str = "removed"


class ProjectTrustData(Data, frozen=True, gc=False, kw_only=True):
    """The trust in a folder: none, rules for the rules made in it, or full."""

    path: str
    trust: str
    by: str


class ExtensionChangeData(Data, frozen=True, gc=False, kw_only=True):
    """A change made through the agent. `outcome` is done or failed, `error` the agent's message then."""

    action: str
    name: str
    scope: str
    by: str
    outcome: str = "done"
    project: str | None = None
    error: str | None = None


class PluginChangeData(ExtensionChangeData, frozen=True, gc=False, kw_only=True):
    """A change of a plugin, or with `add_marketplace` and the like of a marketplace."""

    marketplace: str | None = None


class McpChangeData(ExtensionChangeData, frozen=True, gc=False, kw_only=True):
    """An MCP server added or removed. Its command, address, variables and headers are left out: they may hold
    secrets."""

    transport: str | None = None


class TokenCreateData(Data, frozen=True, gc=False, kw_only=True):
    """`verifier` is the SHA-256 of a token of 256 random bits; the token itself is not stored."""

    token_id: str
    name: str
    scopes: list[str]
    by: str
    verifier: str = ""
    kind: str = "token"
    expires_at: float | None = None


class TokenElevateData(Data, frozen=True, gc=False, kw_only=True):
    """A device may also do this until a time, because a person confirmed it on the machine."""

    token_id: str
    name: str
    scopes: list[str]
    until: float
    by: str


class TokenRevokeData(Data, frozen=True, gc=False, kw_only=True):
    token_id: str
    name: str
    by: str


class SettingChangeData(Data, frozen=True, gc=False, kw_only=True):
    """The old and new value of a setting as JSON text; None is the default."""

    key: str
    old: str | None = None
    new: str | None = None


class LogTrimData(Data, frozen=True, gc=False, kw_only=True):
    """Events up to `upto` leave the log; `why` is the setting that caused it."""

    upto: int
    events: int
    why: str
