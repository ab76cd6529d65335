"""A shell line taken apart for a reader, and what else is found out about one request before a person decides."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.risk.assess import Risk, risk_of_call
from quarterdeck.core.shell.script import read_script
from quarterdeck.core.text.file_diff import Change

MOST_CALLS = 200


class AnnotatedCall(Struct, frozen=True, kw_only=True):
    """One command of a line: as written, in words, what runs it, whether it reads the one before, and its risk."""

    text: str
    words: tuple[str, ...]
    via: str
    piped: bool
    risk: Risk


class Annotated(Struct, frozen=True, kw_only=True):
    """A line: its commands, why it is not clear, and where it writes. `more` commands are left out."""

    calls: tuple[AnnotatedCall, ...]
    doubts: tuple[str, ...]
    writes: tuple[str, ...]
    more: int = 0


class Insight(Struct, frozen=True, kw_only=True):
    """What a look into a request gives."""

    risk: Risk
    change: Change | None = None
    command: Annotated | None = None


def annotated(command: str, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> Annotated:
    """A line, taken apart."""
    script = read_script(command)
    calls = tuple(
        AnnotatedCall(
            text=call.source,
            words=call.words,
            via=call.via,
            piped=call.piped,
            risk=risk_of_call(call, cwd, home, guarded),
        )
        for call in script.calls[:MOST_CALLS]
    )
    more = max(0, len(script.calls) - MOST_CALLS)
    return Annotated(calls=calls, doubts=script.doubts, writes=script.writes, more=more)
