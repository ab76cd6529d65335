"""Rows of the audit: the subject of an event, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.event_data.admin_data import (
    LogTrimData,
    ProjectTrustData,
    SettingChangeData,
    TokenRevokeData,
)
from quarterdeck.core.model.event_data.owned_session_data import (
    SessionCloseData,
    SessionExitData,
    SessionLaunchData,
    SessionSendData,
)
from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.event_data.session_data import SessionInterruptData
from quarterdeck.core.model.events import AUDIT_KINDS, FeedEvent
from quarterdeck.core.text.audit.audit_row import AuditSubject, audit_row
from quarterdeck.core.text.audit.redaction import HIDDEN


def event(kind: str, data: Any) -> FeedEvent[Any]:
    place: dict[str, Any] = {"seq_no": 1, "event_id": "e", "seq": 1, "run_id": "5bcc959a:R0", "at": 1.0}
    who: dict[str, Any] = {"session_id": "5bcc959a-d2e0", "runner_id": "r", "level": "info", "actor_id": "user"}
    return FeedEvent(kind=kind, data=data, **place, **who)


def about(kind: str, data: Any, subject: AuditSubject | None = None) -> str:
    return audit_row(event(kind, data), b"", subject).about


def decision(**fields: Any) -> DecisionData:
    plain = {"request_id": "r1", "decision_type": "allow", "source": "user", "by": "ann"}
    return DecisionData(**(plain | fields))


def test_a_decision_shows_the_subject_of_its_request() -> None:
    kind = "permission.decision"
    assert about(kind, decision(), AuditSubject("Bash", "git push", "shell")) == "git push"
    assert about(kind, decision(), AuditSubject("Edit", "/w/a.py")) == "Edit(/w/a.py)"
    assert about(kind, decision(), AuditSubject("Task", "")) == "Task"
    assert about(kind, decision()) == "r1"


def test_an_edited_decision_shows_the_command_that_ran() -> None:
    edited = decision(updated_input={"command": "git push --dry-run"})
    assert about("permission.decision", edited, AuditSubject("Bash", "git push", "shell")) == "git push --dry-run"


@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [
        ("project.trust", ProjectTrustData(path="/w/shop", trust="trusted", by="ann"), "/w/shop"),
        ("session.interrupt", SessionInterruptData(by="ann"), "session 5bcc959a"),
        ("session.close", SessionCloseData(by="ann"), "session 5bcc959a"),
        ("session.send", SessionSendData(message_id="m", prompt="fix it\nnow", by="ann"), "fix it⏎now"),
        ("session.launch", SessionLaunchData(mode="sdk", by="a", cwd="/w", handle="h", prompt="go"), "/w: go"),
        ("session.launch", SessionLaunchData(mode="pty", by="a", cwd="/w", handle="h"), "/w"),
        ("session.exit", SessionExitData(mode="sdk", reason="was ended"), "session 5bcc959a was ended"),
        (
            "setting.change",
            SettingChangeData(key="decide.hold", old=None, new="never"),
            "decide.hold: default → never",
        ),
        ("log.trim", LogTrimData(upto=4, events=3, why="store.max_bytes"), "3 events up to 4"),
        ("token.revoke", TokenRevokeData(token_id="t", name="phone", by="ann"), "token phone"),
    ],
)
def test_every_other_event_names_its_subject(kind: str, data: Any, line: str) -> None:
    assert kind in AUDIT_KINDS
    assert about(kind, data) == line


def test_secrets_are_hidden_and_long_texts_are_cut() -> None:
    line = about(
        "permission.decision", decision(), AuditSubject("Bash", "curl -H 'Authorization: Bearer abcd1234' x", "shell")
    )
    assert "abcd1234" not in line
    assert HIDDEN in line
    assert len(about("permission.decision", decision(), AuditSubject("Bash", "x" * 999))) <= 200
