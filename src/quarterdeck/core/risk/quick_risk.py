"""The risk of a request at a glance: cheap enough for the loop, judged once, and kept without the input."""

from __future__ import annotations

from functools import lru_cache

from quarterdeck.core.model.payload import text
from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.assess import Risk, risk_of

KEPT = 4_096
LONGEST = 1_000
"""What is longer is not read at a glance."""
UNREAD = Risk("high", ["is long and not yet looked into"])


class _Asked:
    """What is judged. It is known by its digest, so that its judgement can be kept when its input is gone."""

    def __init__(self, request: Request, cwd: str, home: str, guarded: tuple[str, ...]) -> None:
        self.key = (request.request_id, request.digest, cwd, home, guarded)
        self.request: Request | None = request

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.key == other.key


def glance(request: Request, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> Risk:
    """The risk by the words of a request; a long one is said to be long."""
    return _glanced(_Asked(request, cwd, home, guarded))


@lru_cache(maxsize=KEPT)
def _glanced(asked: _Asked) -> Risk:
    request, asked.request = asked.request, None
    if request is None or any(len(text(request.tool_input, key)) > LONGEST for key in ("command", "cmd", "url")):
        return UNREAD
    _, _, cwd, home, guarded = asked.key
    return risk_of(request.tool_name, request.tool_input, cwd, home, guarded=guarded)
