"""A quick risk of a request: cheap enough for the loop, assessed once, and cached without the input."""

from __future__ import annotations

from functools import lru_cache

from quarterdeck.core.model.payload import text
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.state import Request, Session, Settings
from quarterdeck.core.risk.assess import risk_of

CACHE_SIZE = 4_096
MAX_LENGTH = 1_000
"""Characters of a command or address that are read here. A longer one waits for the full risk."""
TOO_LONG = Risk("high", ["is long and not yet checked"])


class _CacheEntry:
    """A request as a cache key. Equal by its digest, so that the cached risk does not keep the input in memory."""

    def __init__(self, request: Request, cwd: str, home: str, guarded: tuple[str, ...]) -> None:
        self.key = (request.request_id, request.digest, cwd, home, guarded)
        self.request: Request | None = request

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CacheEntry) and self.key == other.key


def quick_risk(request: Request, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> Risk:
    """The risk from the text of a request; `TOO_LONG` if it is long."""
    return _cached_risk(_CacheEntry(request, cwd, home, guarded))


def risk_level(request: Request, session: Session, settings: Settings) -> str:
    """The risk level of a request of this session: the full one, or the quick one until that is assessed."""
    return (request.risk or quick_risk(request, session.context.cwd, settings.home, settings.guarded)).level


# The loop asks about an open request again and again; its risk does not change.
@lru_cache(maxsize=CACHE_SIZE)
def _cached_risk(entry: _CacheEntry) -> Risk:
    request, entry.request = entry.request, None
    if request is None or any(len(text(request.tool_input, key)) > MAX_LENGTH for key in ("command", "cmd", "url")):
        return TOO_LONG
    _, _, cwd, home, guarded = entry.key
    return risk_of(request.tool, request.tool_name, request.tool_input, cwd, home, guarded=guarded)
