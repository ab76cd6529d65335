"""Labels for stopping several sessions at once: what will stop, and how each one went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from quarterdeck.core.text.amounts import cut
from quarterdeck.surfaces.text.labels import project_name
from quarterdeck.views.resources.session_view import StopResult
from quarterdeck.views.session_label import state_word

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


def stop_line(session: StopResult) -> str:
    """One session that will stop: its project, id, state and title."""
    state = state_word(session.agent_state or "unknown", None)
    where = "" if session.mode != "observed" else " · in your terminal"
    title = f"  {cut(session.title, TITLE)}" if session.title else ""
    return f"{state.glyph} {project_name(session.cwd)} ({session.session_id[:8]}) {state.word}{where}{title}"


def stop_result_line(result: StopResult, words: StopWords) -> str:
    """The result for one session, with the reason if it was not stopped."""
    session_id, reason = result.session_id, _reason(result)
    if result.ok:
        return f"{words.done}: {session_id}"
    return f"Not {words.done.lower()}: {reason if reason.startswith(session_id) else f'{session_id}: {reason}'}"


def stop_summary(results: Sequence[StopResult], words: StopWords) -> str:
    """The results of all sessions in one line, with the first reason."""
    failed = [result for result in results if not result.ok]
    done = f"{words.done} {len(results) - len(failed)} of {len(results)}"
    if not failed:
        return done
    session_id, reason = failed[0].session_id, _reason(failed[0])
    return f"{done}; {session_id[:8]}: {reason.removeprefix(session_id).lstrip()}"


def _reason(result: StopResult) -> str:
    return str((result.error or {}).get("message", ""))
