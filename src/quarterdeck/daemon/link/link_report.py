"""The report on the link: one set of numbers and words for `qd status`, the doctor, the API and the header."""

from __future__ import annotations

from typing import Any

from quarterdeck.link.runner_link import LinkState, RunnerLink

WARN_AT = 0.8
"""The part of the backlog's room from which on every surface warns."""


def link_report(
    url: str | None,
    link: RunnerLink,
    *,
    since: float,
    last: int,
    event_bytes: float,
    room: int,
    may: list[str],
    share: str,
    folders: dict[str, str],
    people: int,
    rules_refused: int,
    trouble: str | None,
) -> dict[str, Any] | None:
    """What is known about the link; None for a machine without a hub. `behind` counts the events that the hub has not
    acknowledged, `event_bytes` is the usual size of one."""
    if url is None and trouble is None:
        return None
    behind = max(0, last - link.cursor)
    used = min(1.0, behind * event_bytes / room)
    kind, reason = (None, None) if link.state is LinkState.READY else link.trouble or (None, None)
    return {
        "url": url,
        "state": str(link.state),
        "since": since,
        "epoch": link.epoch,
        "acknowledged": link.cursor,
        "behind": behind,
        "backlog_bytes": int(behind * event_bytes),
        "backlog_used": round(used, 4),
        "backlog_warning": used >= WARN_AT,
        "trouble": trouble or reason,
        "trouble_kind": "config" if trouble else kind,
        "may": may,
        "share": share,
        "shared_folders": folders,
        "people": people,
        "rules_refused": rules_refused,
    }
