"""The text of a notification: project, kind and risk of each waiting request; the tool's input only when configured."""

from __future__ import annotations

import posixpath as paths

from msgspec import Struct

from quarterdeck.core.model.state import Request, Session, Settings
from quarterdeck.core.model.unattended_policy import rank
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import subject_of

MAX_LINES = 5
MAX_NAME = 60
MAX_INPUT = 200
"""A phone shows no more, and push services refuse messages of a few thousand bytes."""

LABELS = {"questions": "a question", "plan": "a plan", "elicitation": "a form", "stop": "a stop"}


class WaitingRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request as it may leave this machine; `about` is the tool's input, if `include_input` allows it, and
    `agent_label` the name of its agent for a person, empty where only one agent is known."""

    request_id: str
    session_id: str
    agent: str
    agent_label: str = ""
    project: str
    kind: str
    tool_name: str
    risk: str
    opened_at: float
    about: str | None = None


class Notice(Struct, frozen=True, kw_only=True):
    """A notification. `notice_id` stays the same when it is sent again, so that receivers can drop the second."""

    notice_id: str
    at: float
    risk: str
    title: str
    message: str
    requests: tuple[WaitingRequest, ...]


def request_summary(request: Request, session: Session, risk: str, settings: Settings) -> WaitingRequest:
    """The parts of a request that may leave this machine, each short and on one line."""
    about = _short(subject_of(request.tool_input), MAX_INPUT) if settings.unattended.include_input else ""
    agents = settings.capabilities
    named = len(agents) > 1 and session.agent in agents
    return WaitingRequest(
        request_id=request.request_id,
        session_id=request.session_id,
        agent=session.agent,
        agent_label=agents[session.agent].label if named else "",
        project=_short(paths.basename(session.context.cwd.rstrip("/"))) or "an agent",
        kind=request.form or request.kind,
        tool_name=_short(request.tool_name),
        risk=risk,
        opened_at=request.opened_at,
        about=about or None,
    )


def _short(text: str, width: int = MAX_NAME) -> str:
    """Cut twice: before `one_line`, which is slow for long texts, and after it, since it can make the text longer."""
    return cut(one_line(cut(text, width)), width)


def notice_for(notice_id: str, at: float, requests: tuple[WaitingRequest, ...]) -> Notice:
    """One notification for all these requests."""
    highest = max((one.risk for one in requests), key=rank)
    lines = [_line(one) for one in requests[:MAX_LINES]]
    if len(requests) > MAX_LINES:
        lines.append(f"… and {len(requests) - MAX_LINES} more")
    if len(requests) == 1:
        one = requests[0]
        waiting = f"{one.agent_label} in {one.project}" if one.agent_label else one.project
        title = f"{waiting} waits for you: {_label(one)} ({highest} risk)"
    else:
        title = f"{len(requests)} requests wait for you (highest risk: {highest})"
    return Notice(notice_id=notice_id, at=at, risk=highest, title=title, message="\n".join(lines), requests=requests)


def _label(one: WaitingRequest) -> str:
    return LABELS.get(one.kind, one.tool_name)


def _line(one: WaitingRequest) -> str:
    return " · ".join(filter(None, (one.project, one.agent_label, _label(one), f"{one.risk} risk", one.about)))
