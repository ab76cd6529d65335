"""Changes of the runner itself: tokens, settings, extensions, the log. Each one is an event, and so in the audit."""

from __future__ import annotations

from quarterdeck.core.engine.messages import CreateToken, ElevateToken, ExtensionChanged, RevokeToken, TrimLog
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.event_data.admin_data import (
    LogTrimData,
    PluginChangeData,
    SettingChangeData,
    TokenCreateData,
    TokenElevateData,
    TokenRevokeData,
)
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.payload import shared_fields

MAX_TOKENS = 1000
"""The state keeps all tokens, and each new one is compared with all; a page that signs in over and over makes many."""


def create_token(step: Step, command: CreateToken) -> None:
    """Make a credential; those that have expired make room for it."""
    tokens = step.draft.tokens
    if command.token_id in tokens or any(t.verifier == command.verifier for t in tokens.values()):
        step.reply(command.token_id, "invalid", "token_id: is in use")
        return
    for old in [t for t in tokens.values() if t.expires_at is not None and t.expires_at <= step.at]:
        step.emit_own("token.revoke", TokenRevokeData(token_id=old.token_id, name=old.name, by="expired"))
    if len(step.draft.tokens) >= MAX_TOKENS:
        step.reply(command.token_id, "invalid", f"name: {MAX_TOKENS} tokens exist; revoke some first")
        return
    made = TokenCreateData(**shared_fields(command, TokenCreateData) | {"scopes": list(command.scopes)})
    step.emit_own("token.create", made, actor=USER)
    step.reply(command.token_id, "applied")


def elevate_token(step: Step, command: ElevateToken) -> None:
    """Let a device do more until a time. A token for a script has what it was made with."""
    token = step.draft.tokens.get(command.token_id)
    if token is None or token.kind == "token":
        step.reply(command.token_id, "not_found", f"no such device: {command.token_id}")
        return
    fields = shared_fields(command, TokenElevateData) | {"name": token.name, "scopes": list(command.scopes)}
    step.emit_own("token.elevate", TokenElevateData(**fields), actor=USER)
    step.reply(command.token_id, "applied")


def revoke_token(step: Step, command: RevokeToken) -> None:
    """Revoke a credential."""
    token = step.draft.tokens.get(command.token_id)
    if token is None:
        step.reply(command.token_id, "not_found", f"no such token: {command.token_id}")
        return
    gone = TokenRevokeData(token_id=token.token_id, name=token.name, by=command.by)
    step.emit_own("token.revoke", gone, actor=USER)
    step.reply(command.token_id, "applied")


def record_settings(step: Step, settings: dict[str, str]) -> None:
    """Record each setting that has changed since the last start."""
    before = step.draft.changed_settings
    for key in sorted(before.keys() | settings.keys()):
        old, new = before.get(key), settings.get(key)
        if old != new:
            step.emit_own("setting.change", SettingChangeData(key=key, old=old, new=new))


def record_extension(step: Step, command: ExtensionChanged) -> None:
    """Record a change of a plugin or an MCP server, or its failure."""
    kind = "plugin.change" if isinstance(command.change, PluginChangeData) else "mcp.change"
    level = "info" if command.change.outcome == "done" else "warn"
    step.emit_own(kind, command.change, actor=USER, level=level)
    step.reply(kind, "applied")


def record_trim(step: Step, command: TrimLog) -> None:
    """Record which events leave the log, before they do."""
    step.emit_own("log.trim", LogTrimData(**shared_fields(command, LogTrimData)))
    step.reply("log.trim", "applied")
