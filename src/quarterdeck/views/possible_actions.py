"""What a person can do with a session in its state, and the reason when something is not possible now."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Capabilities, Session

VERBS = (
    "send",
    "attach",
    "interrupt",
    "end",
    "resume",
    "takeover",
    "fork",
    "switch",
    "diff",
    "merge",
    "discard",
)
"""In the order in which they are offered."""


_NOTHING: frozenset[str] = frozenset()


class SessionActionView(Struct, kw_only=True, frozen=True):
    """One thing that a person can do with a session; `reason` says why it is not `possible` now. The daemon may still
    refuse it: a surface learns only then what happened in the meantime."""

    name: str
    possible: bool
    reason: str | None = None


class _Facts(NamedTuple):
    """What the actions of a session depend on."""

    status: str | None
    mode: str
    has_pane: bool
    has_process: bool
    has_worktree: bool
    is_shell: bool
    has_ended: bool
    is_unknown: bool
    agent: str
    lacks: frozenset[str]


def session_actions(
    session: Session, can: Capabilities | None = None, *, has_pane: bool = False
) -> list[SessionActionView]:
    """All actions, without those that the agent cannot do. `has_pane` says that an observed session runs in a tmux pane
    of the person, which can be shown and takes keys."""
    owned = session.owned
    facts = _Facts(
        status=owned.status if owned else None,
        mode=session.mode,
        has_pane=has_pane,
        has_process=session.process is not None,
        has_worktree=owned is not None and bool(owned.worktree),
        is_shell=owned is not None and owned.shell,
        has_ended=session.ended_at is not None,
        is_unknown=session.agent_state == AgentState.UNKNOWN,
        agent=can.label if can else "",
        lacks=_lacking(can) if can else _NOTHING,
    )
    return _actions(facts)


def _lacking(can: Capabilities) -> frozenset[str]:
    """The actions that an agent cannot do in any state. A switch continues the conversation in another mode."""
    if can.resumes and can.forks and len(can.modes) > 1:  # nearly always, and asked of every session in a list
        return _NOTHING
    continues = ("resume", "takeover", "switch") if not can.resumes else ()
    switches = ("switch",) if len(can.modes) < 2 else ()
    return frozenset((*continues, *switches, *(("fork",) if not can.forks else ())))


@lru_cache(maxsize=1024)  # a list of all sessions is made often, and there are few combinations
def _actions(facts: _Facts) -> list[SessionActionView]:
    possible = _possible(facts) - facts.lacks
    return [
        SessionActionView(name=verb, possible=verb in possible, reason=None if verb in possible else _why(verb, facts))
        for verb in VERBS
    ]


def _possible(facts: _Facts) -> set[str]:
    if facts.status is None:
        if facts.has_ended:
            return {"resume", "takeover", "fork"}
        in_pane = {"attach", "send", "interrupt"} if facts.has_pane else set()
        ends = {"end"} if facts.has_process else set()
        return {"fork"} | in_pane | ends | ({"takeover"} if facts.is_unknown else set())
    tree = {"diff", "merge", "discard"} if facts.has_worktree else set()
    if facts.status in ("starting", "up"):
        terminal = {"attach"} if facts.mode in ("pty", "tmux") else set()
        return {"send", "interrupt", "end"} | terminal | (set() if facts.is_shell else {"fork", "switch"}) | tree
    if facts.status == "down":
        return tree if facts.is_shell else {"resume", "fork"} | tree
    return set()


def _why(verb: str, facts: _Facts) -> str:
    """The reason why an action is not possible."""
    if verb in facts.lacks:
        return f"{facts.agent} cannot do this"
    if verb in ("diff", "merge", "discard") and not facts.has_worktree:
        return "the session has no worktree of its own"
    if facts.status is None:
        return _why_observed(verb, facts)
    if facts.status == "moved":
        return "the session continues under another id"
    if facts.status == "ending":
        return "the session is ending"
    if facts.is_shell and verb in ("resume", "fork", "switch", "takeover"):
        return "the session is a plain shell, without a conversation"
    if facts.status == "down":
        return "the session has ended: resume it first"
    return "the session has no terminal" if verb == "attach" else "Quarterdeck already runs the session"


def _why_observed(verb: str, facts: _Facts) -> str:
    if facts.has_ended:
        return "the session has ended: resume or take it over first"
    return _OBSERVED.get(verb, "the session runs in its own terminal: take it over, or use that terminal")


_OBSERVED = {
    "takeover": "the session still runs in its terminal: end it there first, or fork it",
    "resume": "the session still runs in its terminal",
    "attach": "the session runs in a terminal that Quarterdeck cannot show",
    "send": "the session runs in a terminal that Quarterdeck cannot type into: use that terminal",
    "interrupt": "the session runs in a terminal that Quarterdeck cannot type into: press Escape there",
    "end": "the session's process is not known: end it in its terminal",
}
