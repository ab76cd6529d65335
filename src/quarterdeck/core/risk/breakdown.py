"""The details a person sees before deciding on a request: its risk, the file change, the shell line command by
command."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.risk.assess import risk_of_call
from quarterdeck.core.shell.script import read_script
from quarterdeck.core.text.file_diff import FileDiff

MAX_CALLS = 200


class AnnotatedCall(Struct, frozen=True, kw_only=True):
    """One command of a line, with its risk. `text`: as written. `words`: as the shell splits it. `via`: what runs it.
    `piped`: it reads the command before."""

    text: str
    words: tuple[str, ...]
    via: str
    piped: bool
    risk: Risk


class AnnotatedCommand(Struct, frozen=True, kw_only=True):
    """A shell line: its commands, the doubts about it, and the files it writes. `more`: the number of commands left
    out."""

    calls: tuple[AnnotatedCall, ...]
    doubts: tuple[str, ...]
    writes: tuple[str, ...]
    more: int = 0


class RequestBreakdown(Struct, frozen=True, kw_only=True):
    """The full risk of a request, with the file change or the commands behind it."""

    risk: Risk
    change: FileDiff | None = None
    command: AnnotatedCommand | None = None


def annotate(command: str, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> AnnotatedCommand:
    """Split a line into its commands, each with its risk."""
    script = read_script(command)
    calls = tuple(
        AnnotatedCall(
            text=call.source,
            words=call.words,
            via=call.via,
            piped=call.piped,
            risk=risk_of_call(call, cwd, home, guarded),
        )
        for call in script.calls[:MAX_CALLS]
    )
    more = max(0, len(script.calls) - MAX_CALLS)
    return AnnotatedCommand(calls=calls, doubts=script.doubts, writes=script.writes, more=more)
