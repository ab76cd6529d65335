"""The commands of a person on one session: one row for each, from which every surface makes its keys and its help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SessionCommand(NamedTuple):
    """One session command. `action` is its name among the actions of a session, `operations` those of the API that it
    uses, `qd` its name in a shell. In a terminal it has a `key` (if any), its `command` on the `:` line, its footer
    `word`, and its `help`; `line` is the argument that it takes on the `:` line, `plain` in plain mode, None where
    plain mode cannot offer it."""

    action: str
    operations: tuple[str, ...]
    qd: str
    key: str
    command: str
    word: str
    help: str
    line: str = ""
    plain: str | None = "SESSION"

    @property
    def key_shown(self) -> str:
        return ">" if self.key == "greater_than_sign" else self.key


SESSION_COMMANDS: Mapping[str, SessionCommand] = {
    "write": SessionCommand(
        action="send",
        operations=("send_message",),
        qd="send",
        key="greater_than_sign",
        command="write",
        word="write",
        help="send a prompt to the session",
        line="[PROMPT]",
        plain="SESSION PROMPT",
    ),
    "terminal": SessionCommand(
        action="attach",
        operations=("terminal_input", "terminal_resize"),
        qd="attach",
        key="t",
        command="attach",
        word="terminal",
        help="show its terminal here; ^] comes back (in your own tmux: its detach key)",
        plain=None,
    ),
    "resume": SessionCommand(
        action="resume",
        operations=("start_session",),
        qd="resume",
        key="R",
        command="resume",
        word="resume",
        help="continue a conversation that has ended",
        line="[PROMPT]",
        plain="SESSION [PROMPT]",
    ),
    "takeover": SessionCommand(
        action="takeover",
        operations=("takeover_session",),
        qd="takeover",
        key="T",
        command="take-over",
        word="take over",
        help="take over a session that ended in your terminal",
        line="[PROMPT]",
        plain="SESSION [PROMPT]",
    ),
    "interrupt": SessionCommand(
        action="interrupt",
        operations=("interrupt_session",),
        qd="interrupt",
        key="I",
        command="stop-turn",
        word="interrupt",
        help="stop the session's current turn",
    ),
    "end": SessionCommand(
        action="end",
        operations=("end_session",),
        qd="end",
        key="E",
        command="end",
        word="end",
        help="end the session and everything it started",
    ),
    "fork": SessionCommand(
        action="fork",
        operations=("fork_session",),
        qd="fork",
        key="F",
        command="fork",
        word="fork",
        help="continue under a new id; the old conversation is kept",
        line="[PROMPT]",
        plain="SESSION [PROMPT]",
    ),
    "switch": SessionCommand(
        action="switch",
        operations=("change_mode",),
        qd="switch",
        key="M",
        command="switch",
        word="mode",
        help="continue in another mode or with another model",
        plain="SESSION mode|model|permissions VALUE",
    ),
    "diff": SessionCommand(
        action="diff",
        operations=("get_diff",),
        qd="worktrees diff",
        key="W",
        command="diff",
        word="worktree",
        help="show what its worktree has changed; merge or discard it there",
    ),
    "merge": SessionCommand(
        action="merge",
        operations=("merge_worktree",),
        qd="worktrees merge",
        key="",
        command="merge",
        word="merge",
        help="merge its worktree into the branch it started from",
    ),
    "discard": SessionCommand(
        action="discard",
        operations=("discard_worktree",),
        qd="worktrees discard",
        key="",
        command="discard",
        word="discard",
        help="delete its worktree and branch; says first what is lost",
    ),
}
"""In footer order. Most keys are capitals, so that a slip of the finger ends nothing."""
