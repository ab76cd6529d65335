"""The session commands: their keys and words, and which of them a session takes in its state; pure."""

from __future__ import annotations

from urllib.parse import quote

from textual.binding import Binding, BindingType

from quarterdeck.core.engine.session_messages import MODES as MODES
from quarterdeck.core.model.decisions import PERMISSION_MODES as PERMISSION_MODES
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.surfaces.text.person_commands import SESSION_COMMANDS
from quarterdeck.views.resources.session_view import OwnedView, SessionView

ACTIONS = SESSION_COMMANDS
BY_KEY = {action.key: verb for verb, action in ACTIONS.items() if action.key}
BY_COMMAND = {action.command: verb for verb, action in ACTIONS.items()}

FIRST = ("write", "terminal", "resume")


def _bindings(*verbs: str) -> list[BindingType]:
    return [
        Binding(
            action.key,
            f"session_command('{verb}')",
            action.word,
            tooltip=action.help,
            key_display=action.key_shown,
        )
        for verb, action in ACTIONS.items()
        if verb in verbs and action.key
    ]


FIRST_KEYS: list[BindingType] = _bindings(*FIRST)
"""The keys for the most frequent commands, at the front of the footer."""
MORE_KEYS: list[BindingType] = [
    Binding("s", "start", "start", tooltip="start a session in a project"),
    *_bindings(*(verb for verb in ACTIONS if verb not in FIRST)),
]


def actions_for(session: SessionView | None) -> tuple[str, ...]:
    """The commands this session takes, as far as a surface can know; the daemon may still refuse one."""
    if session is None:
        return ()
    owned = session.owned
    if owned is None:
        if session.ended_at is not None:
            return ("resume", "takeover", "fork")
        in_pane = ("write", "terminal", "interrupt") if session.where else ()
        ends = ("end",) if _is_possible("end", session) else ()
        return (*in_pane, *ends, *(("takeover",) if session.agent_state == "unknown" else ()), "fork")
    tree = ("diff", "merge", "discard") if owned.worktree else ()
    if owned.status in ("starting", "up"):
        return (*_running_actions(session, owned), *tree)
    if owned.status == "down":
        return tree if owned.shell else ("resume", "fork", *tree)
    return ()


def _is_possible(name: str, session: SessionView) -> bool:
    """True if the daemon lists an action as possible."""
    return any(action.name == name and action.possible for action in session.actions)


def _running_actions(session: SessionView, owned: OwnedView) -> tuple[str, ...]:
    terminal = ("terminal",) if session.mode in ("pty", "tmux") else ()
    elsewhere = () if owned.shell else ("fork", "switch")
    return ("write", *terminal, "interrupt", "end", *elsewhere)


def is_running_owned(session: SessionView) -> bool:
    """True for an owned session whose agent has not ended."""
    owned = session.owned
    return owned is not None and owned.status in ("starting", "up", "ending")


def blocked_reason(verb: str, session: SessionView | None) -> str:
    """The reason why a session does not take a command, in words; empty when it does."""
    if session is None:
        return "choose a session first: move to it in the list"
    verbs = actions_for(session)
    if verb in verbs:
        return ""
    if verb == "takeover" and session.owned is None:
        return f"{session_label(session)} still runs elsewhere: end it there first, or fork it"
    label, commands = session_label(session), ", ".join(ACTIONS[one].command for one in verbs)
    return f"{label} takes {commands}" if commands else f"{label} takes no commands in this state"


def session_label(session: SessionView) -> str:
    """The project of a session and the start of its id."""
    return f"{project_of(session)} ({session.session_id[:8]})"


def way_back(session: SessionView) -> str:
    """How to come back from the terminal of a session."""
    if session.owned is None:
        return "the detach key of your tmux (Ctrl-b d, unless you changed it) comes back to Quarterdeck"
    return "Ctrl-] comes back to Quarterdeck"


def session_path(session: SessionView) -> str:
    """The path of a session in the API."""
    return f"/sessions/{quote(session.session_id, safe='')}"
