"""The session that a deck shows, and what is known of its state. What cannot be proved is unknown."""

from __future__ import annotations

from typing import Literal, NamedTuple

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import EditorTerminal, Session, State

ENDED_SECONDS = 600.0
"""How long a deck shows that the last session has ended."""

HooksMode = Literal["active", "absent"]
WITHOUT_HOOKS = frozenset({AgentState.UNKNOWN, AgentState.SENT, AgentState.ENDED})
"""The only states that may show while no hook reports what the agent does."""


class Target(NamedTuple):
    """One thing that the roller can choose: a terminal of an editor, or a session in no such terminal."""

    what: Literal["terminal", "session"]
    id: str
    name: str


class ShownState(NamedTuple):
    """A state with its source and the time since when it is so; 0 when that is not known."""

    agent_state: AgentState
    source: str
    since: float


NOTHING = ShownState(AgentState.UNKNOWN, "none", 0.0)


def hooks_mode(session: Session | None) -> HooksMode:
    """Active once a hook came in this life of the agent's process; absent before, after its end, and once its process
    has changed while no hook came."""
    if session is None or session.ended_at is not None:
        return "absent"
    return "active" if session.hook_at > session.hooks_lost_at else "absent"


def terminal_name(terminal: EditorTerminal) -> str:
    """The name of a terminal for a person."""
    return terminal.name or terminal.terminal_id


def session_of_terminal(state: State, terminal: EditorTerminal) -> Session | None:
    """The live session that runs in a terminal: the only one with its tag, or whose process is the terminal's."""
    found = [session for session in state.sessions.values() if _runs_in(session, terminal)]
    return found[0] if len(found) == 1 else None


def _runs_in(session: Session, terminal: EditorTerminal) -> bool:
    if terminal.tag and session.context.tag == terminal.tag:
        return True
    pids = {session.context.pid, session.process.pid if session.process is not None else 0}
    return terminal.pid is not None and terminal.pid > 0 and terminal.pid in pids


def terminal_of_session(state: State, session: Session) -> EditorTerminal | None:
    """The terminal of an editor that a session runs in; None when that is not proved."""
    for terminal in state.deck.terminals.values():
        if session_of_terminal(state, terminal) is session:
            return terminal
    return None


def targets(state: State) -> list[Target]:
    """All that the roller can choose, in an order that does not change when another one ends: terminals, then sessions
    that run in none of them, oldest first."""
    terminals = list(state.deck.terminals.values())
    found = [Target("terminal", one.terminal_id, terminal_name(one)) for one in terminals]
    in_terminals = {session.session_id for one in terminals if (session := session_of_terminal(state, one)) is not None}
    others = [one for one in state.sessions.values() if one.session_id not in in_terminals]
    others.sort(key=lambda one: (one.started_at, one.session_id))
    return found + [_of_session(one) for one in others]


def _of_session(session: Session) -> Target:
    return Target("session", session.session_id, session.title or session.session_id[:8])


def selected_target(state: State) -> Target | None:
    """What the operator or the editor chose last; None when neither did, or it has gone."""
    deck = state.deck
    active = next((t for t in deck.terminals.values() if t.active), None)
    chosen = deck.terminals.get(deck.selected_terminal or "")
    by_operator: Target | None = None
    if chosen is not None:
        by_operator = Target("terminal", chosen.terminal_id, terminal_name(chosen))
    elif (session := state.sessions.get(deck.selected_session or "")) is not None:
        by_operator = _of_session(session)
    if active is not None and (by_operator is None or deck.active_at > deck.selected_at):
        return Target("terminal", active.terminal_id, terminal_name(active))
    return by_operator


def shown_session(state: State, at: float) -> Session | None:
    """The session that a deck shows: the only live one; of several the selected one, if that is proved; with none the
    one that ended last, for a while."""
    live = state.sessions
    if len(live) == 1:
        return next(iter(live.values()))
    if not live:
        last = max(state.ended.values(), key=lambda one: one.ended_at or 0.0, default=None)
        return last if last is not None and at - (last.ended_at or 0.0) < ENDED_SECONDS else None
    target = selected_target(state)
    if target is None:
        return None
    if target.what == "session":
        return live.get(target.id)
    return session_of_terminal(state, state.deck.terminals[target.id])


def shown_state(session: Session | None) -> ShownState:
    """What a deck may say about a session. Only hooks prove what an agent does; without them there is only what was
    sent to it, and its end."""
    if session is None:
        return NOTHING
    if session.ended_at is not None:
        return ShownState(AgentState.ENDED, session.state_source, session.ended_at)
    if hooks_mode(session) == "active":
        state = AgentState.UNKNOWN if session.agent_state is AgentState.SENT else session.agent_state
        return ShownState(state, session.state_source, session.state_at)
    if session.agent_state is AgentState.SENT:
        return ShownState(AgentState.SENT, "operator", session.state_at)
    return NOTHING
