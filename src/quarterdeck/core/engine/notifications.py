"""What a notification says of requests that wait: who, what kind, how risky; the agent's own words only on wish."""

from __future__ import annotations

import posixpath as paths

from msgspec import Struct

from quarterdeck.core.model.state import Request, Session, Settings
from quarterdeck.core.model.unattended_policy import rank
from quarterdeck.core.risk.quick_risk import glance
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import cut, subject_of

LINES = 5
NAME = 60
ABOUT = 200

WORDS = {"questions": "a question", "plan": "a plan", "elicitation": "a form", "stop": "a stop"}


class Waits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request as it may be told outside; `about` is what the tool was asked to do, where that may leave."""

    request_id: str
    session_id: str
    project: str
    kind: str
    tool_name: str
    risk: str
    opened_at: float
    about: str | None = None


class Notice(Struct, frozen=True, kw_only=True):
    """A notification. `notice_id` stays the same when it is sent again."""

    notice_id: str
    at: float
    risk: str
    title: str
    message: str
    requests: tuple[Waits, ...]


def level_of(request: Request, session: Session, settings: Settings) -> str:
    """The risk of a request of this session."""
    return glance(request, session.context.cwd, settings.home, settings.guarded).level


def waits_of(request: Request, session: Session, settings: Settings) -> Waits:
    """A request in the words that may leave this machine, each on one line and short."""
    about = _short(subject_of(request.tool_input), ABOUT) if settings.unattended.include_input else ""
    return Waits(
        request_id=request.request_id,
        session_id=request.session_id,
        project=_short(paths.basename(session.context.cwd.rstrip("/"))) or "an agent",
        kind=request.form or request.kind,
        tool_name=_short(request.tool_name),
        risk=level_of(request, session, settings),
        opened_at=request.opened_at,
        about=about or None,
    )


def _short(text: str, width: int = NAME) -> str:
    """Cut before it is made visible, which takes time, and after, which makes it longer."""
    return cut(one_line(cut(text, width)), width)


def notice_of(notice_id: str, at: float, requests: tuple[Waits, ...]) -> Notice:
    """One notification for all of them."""
    highest = max((one.risk for one in requests), key=rank)
    lines = [_line(one) for one in requests[:LINES]]
    if len(requests) > LINES:
        lines.append(f"… and {len(requests) - LINES} more")
    if len(requests) == 1:
        title = f"{requests[0].project} waits for you: {_what(requests[0])} ({highest} risk)"
    else:
        title = f"{len(requests)} requests wait for you (highest risk: {highest})"
    return Notice(notice_id=notice_id, at=at, risk=highest, title=title, message="\n".join(lines), requests=requests)


def _what(one: Waits) -> str:
    return WORDS.get(one.kind, one.tool_name)


def _line(one: Waits) -> str:
    words = f"{one.project} · {_what(one)} · {one.risk} risk"
    return f"{words} · {one.about}" if one.about else words
