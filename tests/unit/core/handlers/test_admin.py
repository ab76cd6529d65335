"""Changes of tokens, settings and extensions are recorded."""

from __future__ import annotations

import pytest

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import CreateToken, DaemonRestarted, ExtensionChanged, RevokeToken
from quarterdeck.core.model.event_data.admin_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.audit.audit_row import audit_row
from quarterdeck.core.text.titles import title_of
from tests.support.scene import Scene


def token(token_id: str = "t1", verifier: str = "v1", expires_at: float | None = None) -> CreateToken:
    return CreateToken(
        token_id=token_id,
        name="phone",
        scopes=("observe",),
        verifier=verifier,
        by="owner",
        at=5.0,
        expires_at=expires_at,
    )


@pytest.mark.law("A11")
def test_a_token_is_made_and_revoked_on_record() -> None:
    scene = Scene().submits(token()).records("token.create").replies("applied")
    assert scene.state.tokens["t1"].scopes == ("observe",)
    assert scene.last.events[0].event_id == f"{OWN}:R0:E1"
    scene.submits(RevokeToken(token_id="t1", by="owner", at=6.0)).records("token.revoke").replies("applied").folds()
    assert scene.state.tokens == {}
    assert scene.state.sessions == {}


def test_an_id_or_a_secret_is_used_once() -> None:
    scene = Scene().submits(token())
    scene.submits(token(verifier="v2")).replies("invalid").records()
    scene.submits(token(token_id="t2")).replies("invalid").records()


def test_an_unknown_token_cannot_be_revoked() -> None:
    Scene().submits(RevokeToken(token_id="t9", by="owner", at=1.0)).replies("not_found").records()


def test_expired_tokens_leave_when_another_is_made() -> None:
    scene = Scene().submits(token(expires_at=4.0)).submits(token("t2", "v2")).records("token.revoke", "token.create")
    assert list(scene.folds().state.tokens) == ["t2"]


@pytest.mark.law("A11")
def test_a_changed_setting_is_recorded_once_and_back_to_default_too() -> None:
    scene = Scene().submits(DaemonRestarted(at=1.0, settings={"decide.hold": '"never"'})).records("setting.change")
    scene.submits(DaemonRestarted(at=2.0, settings={"decide.hold": '"never"'})).records()
    scene.submits(DaemonRestarted(at=3.0)).records("setting.change").folds()
    assert (scene.last.events[0].data.old, scene.last.events[0].data.new) == ('"never"', None)


@pytest.mark.law("A11")
def test_a_change_of_a_plugin_or_server_is_recorded_with_its_outcome() -> None:
    done = PluginChangeData(action="install", name="demo@lab", scope="user", by="owner via cli", marketplace="lab")
    failed = McpChangeData(action="add", name="s", scope="local", by="ann", outcome="failed", error="no", project="/w")
    scene = Scene().submits(ExtensionChanged(change=done, at=1.0)).records("plugin.change").replies("applied")
    assert (scene.last.events[0].level, title_of(scene.last.events[0])) == (
        "info",
        "· Plugin demo@lab: install (user) by owner via cli",
    )
    scene.submits(ExtensionChanged(change=failed, at=2.0)).records("mcp.change").replies("applied").folds()
    assert (scene.last.events[0].level, title_of(scene.last.events[0])) == (
        "warn",
        "· MCP server s: add (local) by ann, which failed: no",
    )
    row = audit_row(scene.last.events[0], b"")
    assert (row.who, row.what) == (
        "ann",
        {"scope": "local", "action": "add", "name": "s", "project": "/w", "outcome": "failed", "error": "no"},
    )


def test_no_agent_can_use_the_runners_session_id() -> None:
    assert read_hook({"session_id": OWN}, event_id="e", at=0.0).session_id == "unknown"
