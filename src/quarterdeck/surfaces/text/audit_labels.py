"""Labels for a row of the audit: the action, the actor, the source and the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.decision_words import DECIDED

DONE: Mapping[str, str] = {
    "decision.refused": "refused",
    "rule.add": "rule made",
    "rule.remove": "rule removed",
    "session.launch": "started",
    "session.exit": "over",
    "session.send": "written to",
    "session.interrupt": "interrupted",
    "session.close": "ended",
    "session.change": "changed",
    "session.failed": "failed",
    "worktree.merge": "merged",
    "worktree.discard": "discarded",
    "token.create": "token made",
    "token.elevate": "device may do more",
    "token.revoke": "token revoked",
    "setting.change": "set",
    "log.trim": "trimmed",
}


def audit_action(row: Mapping[str, Any]) -> str:
    """The action of a row in a word or two; an unknown one is shown by its kind."""
    what = row["what"]
    if what.get("decision_type"):
        return _decided(what)
    if row["kind"] == "project.trust":
        return {"full": "trusted", "none": "not trusted"}.get(what["trust"], f"trusted for {what['trust']}")
    if row["kind"] in ("plugin.change", "mcp.change"):
        return str(what["action"]).replace("_", " ") + (" failed" if what.get("outcome") == "failed" else "")
    return DONE.get(row["kind"], str(row["kind"]))


def _decided(what: Mapping[str, Any]) -> str:
    if what.get("status") in ("withdrawn", "expired"):
        return {"withdrawn": "withdrawn", "expired": "not answered"}[what["status"]]
    word = DECIDED.get(what["decision_type"], str(what["decision_type"]))
    return f"too late: {word}" if what.get("late") else word


def audit_actor(row: Mapping[str, Any]) -> str:
    """The actor of a row: a rule by its pattern, a person with the surface that was used."""
    if row["source"] == "rule" and row["what"].get("pattern"):
        return f"rule {row['what']['pattern']}"
    return f"{row['who']} via {row['surface']}" if row["surface"] else str(row["who"])


def audit_source(row: Mapping[str, Any]) -> str:
    """The source of a row: a person, a rule, a time limit, the agent's own terminal, or Quarterdeck."""
    return "terminal" if row["source"] == "elsewhere" else str(row["source"])


def audit_session(row: Mapping[str, Any]) -> str:
    """The start of the id of the session that a row or its rule is about; empty if it is about none."""
    what = row["what"]
    session_id = what.get("scope_id") if what.get("scope") in ("session", "once") else row["session_id"]
    return "" if session_id in (OWN, None) else str(session_id)[:8]
