"""What concerns the runner itself: who may come in, and how it is set up. Every change is a row of the record."""

from __future__ import annotations

from typing import assert_never

from quarterdeck.core.engine.messages import CreateToken, ExtensionChanged, Reply, RevokeToken, Trimming
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.events import USER

MAX_TOKENS = 1000


def change_tokens(step: Step, command: CreateToken | RevokeToken) -> None:
    """Make or take back a credential."""
    match command:
        case CreateToken():
            outcome, message = _create(step, command)
        case RevokeToken():
            outcome, message = _revoke(step, command)
        case _:
            assert_never(command)
    step.effects.append(Reply(request_id=command.token_id, outcome=outcome, message=message))


def _create(step: Step, command: CreateToken) -> tuple[str, str]:
    tokens = step.draft.tokens
    if command.token_id in tokens or any(t.verifier == command.verifier for t in tokens.values()):
        return "invalid", "token_id: is in use"
    for old in [t for t in tokens.values() if t.expires_at is not None and t.expires_at <= step.at]:
        step.emit_own("token.revoke", d.TokenRevokeData(token_id=old.token_id, name=old.name, by="expired"))
    if len(step.draft.tokens) >= MAX_TOKENS:
        return "invalid", f"name: {MAX_TOKENS} tokens exist; revoke some first"
    made = d.TokenCreateData(
        token_id=command.token_id,
        name=command.name,
        scopes=list(command.scopes),
        verifier=command.verifier,
        by=command.by,
        kind=command.kind,
        expires_at=command.expires_at,
    )
    step.emit_own("token.create", made, actor=USER)
    return "applied", ""


def _revoke(step: Step, command: RevokeToken) -> tuple[str, str]:
    token = step.draft.tokens.get(command.token_id)
    if token is None:
        return "not_found", f"no such token: {command.token_id}"
    gone = d.TokenRevokeData(token_id=token.token_id, name=token.name, by=command.by)
    step.emit_own("token.revoke", gone, actor=USER)
    return "applied", ""


def record_settings(step: Step, settings: dict[str, str]) -> None:
    """Record each setting that is no longer what it was."""
    before = step.draft.changed_settings
    for key in sorted(before.keys() | settings.keys()):
        old, new = before.get(key), settings.get(key)
        if old != new:
            step.emit_own("setting.change", d.SettingChangeData(key=key, old=old, new=new))


def record_extension(step: Step, command: ExtensionChanged) -> None:
    """Record that a plugin or an MCP server was changed, or that this failed."""
    kind = "plugin.change" if isinstance(command.change, d.PluginChangeData) else "mcp.change"
    level = "info" if command.change.outcome == "done" else "warn"
    step.emit_own(kind, command.change, actor=USER, level=level)
    step.effects.append(Reply(request_id=kind, outcome="applied"))


def record_trim(step: Step, command: Trimming) -> None:
    """Record which events leave the log, before they do."""
    step.emit_own("log.trim", d.LogTrimData(upto=command.upto, events=command.events, why=command.why))
    step.effects.append(Reply(request_id="log.trim", outcome="applied"))
