"""Session commands in plain mode: list sessions, start them, and control each one."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from quarterdeck.core.text.durations import age_words
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import Handler, PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.plain.start_session import post_session, start
from quarterdeck.surfaces.terminal.actions.session_lookup import find_session
from quarterdeck.surfaces.terminal.actions.stop_actions import plan_stop, stop_sessions
from quarterdeck.surfaces.terminal.actions.worktree_actions import discard_worktree, merge_worktree, read_worktree
from quarterdeck.surfaces.terminal.lines.worktree_lines import worktree_lines
from quarterdeck.surfaces.terminal.session_actions import (
    ACTIONS,
    MODES,
    PERMISSION_MODES,
    actions_for,
    blocked_reason,
    session_label,
    session_path,
)
from quarterdeck.surfaces.text.labels import problem_text, state_label
from quarterdeck.surfaces.text.session_order import state_since
from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, stop_line
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
SessionCommand = Callable[[PlainApp, SessionView, str], Awaitable[None]]
TODO = {"done": "done", "doing": "doing", "in_progress": "doing"}
NEEDS_SCREEN = ("terminal",)
"""Commands that plain mode cannot offer."""


async def _sessions(app: PlainApp, rest: str) -> None:
    sessions = app.model.shown_sessions(ended=rest == "all")
    if not sessions:
        app.say("No session is live. qd install connects Claude Code; qd demo plays one.")
    for session in map(app.model.with_terminal_command, sessions):
        since = age_words(time.time() - state_since(session))
        state = state_label(session).word
        commands = ", ".join(ACTIONS[verb].command for verb in actions_for(session) if verb not in NEEDS_SCREEN)
        problem = problem_text(session)
        why = f" {one_line(problem)}." if problem else ""
        sentence = f"{session_label(session)}: {state} for {since}.{why} {session.title}".rstrip(" .")
        app.say(f"{sentence}. {f'It takes: {commands}.' if commands else ''}".rstrip())


async def _tasks(app: PlainApp, rest: str) -> None:
    sessions = [s for s in app.model.shown_sessions(ended=True) if s.todos]
    for session in sessions:
        app.say(f"{session_label(session)}:")
        for todo in session.todos:
            app.say(f"  {TODO.get(todo.status, 'to do')}: {todo.text}")
    if not sessions:
        app.say("No agent has made a to-do list yet.")


def _about_one(verb: str, run: SessionCommand) -> Handler:
    """The command for the session that its first word names, with the other words."""

    async def handle(app: PlainApp, rest: str) -> None:
        name, _, words = rest.partition(" ")
        session = find_session(app.model, name)
        if why := blocked_reason(verb, session):
            raise CommandEnded(why[:1].upper() + why[1:])
        await run(app, session, words.strip())

    return handle


async def _post(app: PlainApp, session: SessionView, route: str, body: Json, done: str) -> None:
    await app.daemon.long_call("POST", f"{session_path(session)}/{route}", body)
    app.say(f"{done} {session_label(session)}")


async def _write(app: PlainApp, session: SessionView, words: str) -> None:
    prompt = words or await app.ask(f"Prompt for {session_label(session)}?")
    if not prompt:
        raise CommandEnded("Nothing was sent.")
    await _post(app, session, "messages", {"prompt": prompt}, "Sent to")


async def _interrupt(app: PlainApp, session: SessionView, words: str) -> None:
    await _post(app, session, "interrupt", {}, "Interrupted")


async def _end(app: PlainApp, session: SessionView, words: str) -> None:
    if await app.is_sure(f"End {session_label(session)} and everything it started?"):
        await _post(app, session, "end", {}, "Ending")


async def _stop_all(app: PlainApp, rest: str) -> None:
    """Read out what would stop, then stop what the person confirms: all turns, or else all sessions."""
    plan = await plan_stop(app.daemon)
    for words in (INTERRUPT, END):
        sessions = plan[words.route]
        if not sessions:
            app.say(words.nothing)
            continue
        for session in sessions:
            app.say(stop_line(session))
        count = "this session" if len(sessions) == 1 else f"these {len(sessions)} sessions"
        if await app.is_sure(f"{words.verb} {count}?"):
            app.say(await stop_sessions(app.daemon, sessions, words))
            return


async def _resume(app: PlainApp, session: SessionView, words: str) -> None:
    body = _continue_body(session, words) | {"resume": session.session_id}
    await post_session(app, "/sessions", body, session.cwd)


async def _fork(app: PlainApp, session: SessionView, words: str) -> None:
    await post_session(app, f"{session_path(session)}/fork", _continue_body(session, words), session.cwd)


async def _takeover(app: PlainApp, session: SessionView, words: str) -> None:
    """Take a session over. When that is refused, as while it still runs elsewhere, offer to fork it."""
    try:
        await post_session(app, f"{session_path(session)}/takeover", _continue_body(session, words), session.cwd)
    except QuarterdeckError as error:
        if await app.is_sure(f"Not taken over: {error}. Fork it instead?"):
            await _fork(app, session, words)


def _continue_body(session: SessionView, prompt: str) -> Json:
    """The body that continues a conversation: in its own mode, if Quarterdeck offers that one."""
    mode = session.mode if session.mode in MODES else MODES[0]
    return {"mode": mode} | ({"prompt": prompt} if prompt else {})


async def _switch(app: PlainApp, session: SessionView, words: str) -> None:
    what, _, value = words.partition(" ")
    field = {"mode": "mode", "model": "model", "permissions": "permission_mode"}.get(what)
    known = {"mode": MODES, "permissions": PERMISSION_MODES}.get(what, (value,))
    if not field or not value or value not in known:
        raise CommandEnded(f"mode {'|'.join(MODES)}, model NAME, or permissions {'|'.join(PERMISSION_MODES)}")
    await _post(app, session, "mode", {field: value}, "Changed")


async def _diff(app: PlainApp, session: SessionView, words: str) -> None:
    await app.read_out(worktree_lines(*await read_worktree(app, session)))


async def _merge(app: PlainApp, session: SessionView, words: str) -> None:
    await merge_worktree(app, session)


async def _discard(app: PlainApp, session: SessionView, words: str) -> None:
    await discard_worktree(app, session)


_ABOUT_ONE: dict[str, SessionCommand] = {
    "write": _write,
    "interrupt": _interrupt,
    "end": _end,
    "resume": _resume,
    "fork": _fork,
    "takeover": _takeover,
    "switch": _switch,
    "diff": _diff,
    "merge": _merge,
    "discard": _discard,
}
COMMANDS: dict[str, Handler] = {"sessions": _sessions, "tasks": _tasks, "start": start, "stop-all": _stop_all}
COMMANDS |= {ACTIONS[verb].command: _about_one(verb, run) for verb, run in _ABOUT_ONE.items()}
