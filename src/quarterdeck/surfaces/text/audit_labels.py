"""The words for a row of the audit: what was done, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECIDED: Mapping[str, str] = {
    "allow": "allowed",
    "deny": "denied",
    "answer": "answered",
    "block": "told to go on",
    "ask": "left to the terminal",
    "no_opinion": "passed on",
}
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
    "token.revoke": "token revoked",
    "setting.change": "set",
    "log.trim": "trimmed",
}


def deed(row: Mapping[str, Any]) -> str:
    """What was done, in a word or two; a deed that nobody here knows is shown by its kind."""
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


def doer(row: Mapping[str, Any]) -> str:
    """Who did it, and through what."""
    return f"{row['who']} via {row['surface']}" if row["surface"] else str(row["who"])
