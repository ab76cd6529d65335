"""Labels for stopping several sessions at once: what will stop, and how each one went. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from quarterdeck.core.text.amounts import cut
from quarterdeck.surfaces.text.labels import project_name, state_label

TITLE = 40
"""A title is often a whole prompt: a line must not hide the others."""


class StopWords(NamedTuple):
    """The words of one way to stop: its route in the API, its verb and outcome, and what to say if there is nothing."""

    route: str
    verb: str
    done: str
    nothing: str


INTERRUPT = StopWords("interrupt", "Interrupt", "Interrupted", "Nothing to interrupt: no session is at work.")
END = StopWords("end", "End", "Ended", "Nothing to end: no session is running.")


def stop_line(session: Mapping[str, Any]) -> str:
    """One session that will stop: its project, id, state and title."""
    state = state_label({**session, "agent_state": session["agent_state"] or "unknown"})
    where = "" if session["mode"] != "observed" else " · in your terminal"
    title = f"  {cut(session['title'], TITLE)}" if session["title"] else ""
    return f"{state.glyph} {project_name(session['cwd'])} ({session['session_id'][:8]}) {state.word}{where}{title}"


def stop_result_line(result: Mapping[str, Any], words: StopWords) -> str:
    """The result for one session, with the reason if it was not stopped."""
    if result["ok"]:
        return f"{words.done}: {result['session_id']}"
    session_id, reason = result["session_id"], result["error"]["message"]
    return f"Not {words.done.lower()}: {reason if reason.startswith(session_id) else f'{session_id}: {reason}'}"


def stop_summary(results: Sequence[Mapping[str, Any]], words: StopWords) -> str:
    """The results of all sessions in one line, with the first reason."""
    failed = [result for result in results if not result["ok"]]
    done = f"{words.done} {len(results) - len(failed)} of {len(results)}"
    if not failed:
        return done
    session_id, reason = failed[0]["session_id"], failed[0]["error"]["message"]
    return f"{done}; {session_id[:8]}: {reason.removeprefix(session_id).lstrip()}"
