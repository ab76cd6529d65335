"""What can be ordered of a session, by how it is, and the keys for it; pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from textual.binding import Binding, BindingType

from quarterdeck.surfaces.text.labels import project_of

Json = dict[str, Any]
MODES = ("sdk", "tmux", "pty")
PERMISSION_MODES = ("default", "acceptEdits", "plan", "dontAsk", "auto")


class SessionOrder(NamedTuple):
    """One order: its key if it has one, the command that gives it, a word for the foot, and what it does."""

    key: str
    command: str
    word: str
    does: str

    @property
    def key_shown(self) -> str:
        return ">" if self.key == "greater_than_sign" else self.key


ORDERS = {
    "write": SessionOrder("greater_than_sign", "write", "write", "write to the session"),
    "terminal": SessionOrder(
        "t", "attach", "terminal", "its terminal on this screen; ^] comes back, from a tmux of yours its own key"
    ),
    "resume": SessionOrder("R", "resume", "resume", "go on with a conversation that has ended"),
    "takeover": SessionOrder("T", "take-over", "take over", "make a session of ours of one that has ended elsewhere"),
    "interrupt": SessionOrder("I", "stop-turn", "interrupt", "make the session stop what it does"),
    "end": SessionOrder("E", "end", "end", "end the session, with everything it started"),
    "fork": SessionOrder("F", "fork", "fork", "go on under a new id; the old conversation stays as it is"),
    "switch": SessionOrder("M", "switch", "mode", "let it go on in another mode, or with another model"),
    "diff": SessionOrder("W", "diff", "worktree", "what its worktree has changed; merge or discard it there"),
    "merge": SessionOrder("", "merge", "merge", "merge its worktree into the branch it began on"),
    "discard": SessionOrder("", "discard", "discard", "take its worktree and branch away; says first what is lost"),
}
"""In the order of the foot. Capitals, since a slip of the finger must not end anything."""
BY_KEY = {order.key: verb for verb, order in ORDERS.items() if order.key}
BY_COMMAND = {order.command: verb for verb, order in ORDERS.items()}

FIRST = ("write", "terminal", "resume")


def _keys(*verbs: str) -> list[BindingType]:
    return [
        Binding(order.key, f"steer('{verb}')", order.word, tooltip=order.does, key_display=order.key_shown)
        for verb, order in ORDERS.items()
        if verb in verbs and order.key
    ]


FIRST_KEYS: list[BindingType] = _keys(*FIRST)
"""What one wants most of a session stands at the front of the foot."""
MORE_KEYS: list[BindingType] = [
    Binding("s", "start", "start", tooltip="start a session in a project"),
    *_keys(*(verb for verb in ORDERS if verb not in FIRST)),
]


def orders_for(session: Json | None) -> tuple[str, ...]:
    """What this session takes, as far as the face can know; the daemon may still refuse."""
    if session is None:
        return ()
    owned = session.get("owned")
    if owned is None:
        if session["ended_at"] is not None:
            return ("resume", "takeover", "fork")
        shown = ("terminal",) if session.get("where") else ()
        return (*shown, *(("takeover",) if session["agent_state"] == "unknown" else ()), "fork")
    tree = ("diff", "merge", "discard") if owned.get("worktree") else ()
    if owned["status"] in ("starting", "up"):
        return (*_of_running(session, owned), *tree)
    if owned["status"] == "down":
        return tree if owned["shell"] else ("resume", "fork", *tree)
    return ()


def _of_running(session: Json, owned: Json) -> tuple[str, ...]:
    terminal = ("terminal",) if session["mode"] in ("pty", "tmux") else ()
    elsewhere = () if owned["shell"] else ("fork", "switch")
    return ("write", *terminal, "interrupt", "end", *elsewhere)


def runs_here(session: Json) -> bool:
    """Whether it is a session of ours whose agent has not ended."""
    owned = session.get("owned")
    return owned is not None and owned["status"] in ("starting", "up", "ending")


def why_not(verb: str, session: Json | None) -> str:
    """Why a session does not take an order, in words; empty when it does."""
    if session is None:
        return "choose a session first: move to it in the list"
    fitting = orders_for(session)
    if verb in fitting:
        return ""
    if verb == "takeover" and session.get("owned") is None:
        return f"{called(session)} still runs elsewhere: end it there first, or fork it"
    words = ", ".join(ORDERS[one].command for one in fitting)
    return f"{called(session)} takes {words}" if words else f"{called(session)} takes no orders as it is"


def called(session: Json) -> str:
    """A session by its project and the start of its id."""
    return f"{project_of(session)} ({session['session_id'][:8]})"
