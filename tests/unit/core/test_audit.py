"""What the audit says a deed was about."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model import event_data as d
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.events import AUDIT_KINDS, FeedEvent
from quarterdeck.core.text.audit_row import AskedFor, audit_row
from quarterdeck.core.text.redaction import HIDDEN


def event(kind: str, data: Any) -> FeedEvent[Any]:
    place: dict[str, Any] = {"seq_no": 1, "event_id": "e", "seq": 1, "run_id": "5bcc959a:R0", "at": 1.0}
    who: dict[str, Any] = {"session_id": "5bcc959a-d2e0", "runner_id": "r", "level": "info", "actor_id": "user"}
    return FeedEvent(kind=kind, data=data, **place, **who)


def about(kind: str, data: Any, asked: AskedFor | None = None) -> str:
    return audit_row(event(kind, data), b"", asked).about


def decision(**more: Any) -> d.PermissionDecisionData:
    plain = {"request_id": "r1", "decision_type": "allow", "source": "user", "by": "ann"}
    return d.PermissionDecisionData(**(plain | more))


def test_a_decision_is_about_what_was_asked_for() -> None:
    kind = "permission.decision"
    assert about(kind, decision(), AskedFor("Bash", "git push")) == "git push"
    assert about(kind, decision(), AskedFor("Edit", "/w/a.py")) == "Edit(/w/a.py)"
    assert about(kind, decision(), AskedFor("Task", "")) == "Task"
    assert about(kind, decision()) == "r1"


def test_an_edited_one_is_about_what_ran() -> None:
    edited = decision(updated_input={"command": "git push --dry-run"})
    assert about("permission.decision", edited, AskedFor("Bash", "git push")) == "git push --dry-run"


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("project.trust", d.ProjectTrustData(path="/w/shop", trust="trusted", by="ann"), "/w/shop"),
        ("session.interrupt", d.SessionInterruptData(by="ann"), "session 5bcc959a"),
        ("session.close", o.SessionCloseData(by="ann"), "session 5bcc959a"),
        ("session.send", o.SessionSendData(message_id="m", prompt="fix it\nnow", by="ann"), "fix it⏎now"),
        ("session.launch", o.SessionLaunchData(mode="sdk", by="a", cwd="/w", handle="h", prompt="go"), "/w: go"),
        ("session.launch", o.SessionLaunchData(mode="pty", by="a", cwd="/w", handle="h"), "/w"),
        ("session.exit", o.SessionExitData(mode="sdk", reason="was ended"), "session 5bcc959a was ended"),
        (
            "setting.change",
            d.SettingChangeData(key="decide.hold", old=None, new="never"),
            "decide.hold: default → never",
        ),
        ("log.trim", d.LogTrimData(upto=4, events=3, why="store.max_bytes"), "3 events up to 4"),
        ("token.revoke", d.TokenRevokeData(token_id="t", name="phone", by="ann"), "token phone"),
    ],
)
def test_every_other_deed_names_its_thing(kind: str, data: Any, said: str) -> None:
    assert kind in AUDIT_KINDS
    assert about(kind, data) == said


def test_a_secret_is_not_told_and_what_is_long_is_cut() -> None:
    told = about("permission.decision", decision(), AskedFor("Bash", "curl -H 'Authorization: Bearer abcd1234' x"))
    assert "abcd1234" not in told
    assert HIDDEN in told
    assert len(about("permission.decision", decision(), AskedFor("Bash", "x" * 999))) <= 200
