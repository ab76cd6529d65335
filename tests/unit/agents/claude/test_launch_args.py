"""The command line that starts Claude Code in a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.agents.claude.launch_args import terminal_arguments
from quarterdeck.core.engine.session_messages import StartSession

START = StartSession(session_id="new", mode="tmux", cwd="/p", by="ann", at=0.0)


def test_a_new_session_has_the_chosen_id() -> None:
    assert terminal_arguments(START) == ["--session-id=new"]


def test_a_resumed_session_keeps_its_id_and_a_fork_has_a_new_one() -> None:
    assert terminal_arguments(replace(START, session_id="old", resume="old")) == ["--resume=old"]
    forked = terminal_arguments(replace(START, resume="old", fork=True))
    assert forked == ["--resume=old", "--session-id=new", "--fork-session"]


def test_no_value_from_outside_is_read_as_a_flag() -> None:
    start = replace(START, model="--print", permission_mode="plan")
    words = terminal_arguments(start, settings="/s.json", prompt="--dangerously-skip-permissions")
    assert words[-2:] == ["--", "--dangerously-skip-permissions"]
    assert words[:-2] == ["--model=--print", "--permission-mode=plan", "--session-id=new", "--settings=/s.json"]
