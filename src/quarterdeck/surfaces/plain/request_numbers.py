"""Numbers that name requests: each belongs to one request as it was read out, and never to another; pure."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.surfaces.terminal.model import Asked

KEPT = 500
"""Numbers of requests that are over of which it is still known how they ended."""


class Numbered(Struct):
    """A request under its number, and when it was read out."""

    number: int
    asked: Asked
    said_at: float
    is_told_over: bool = False


class Numbers:
    """Given out in the order in which requests come. One that comes again with other content gets another."""

    def __init__(self) -> None:
        self._last = 0
        self._by_number: dict[int, Numbered] = {}
        self._by_content: dict[tuple[str, str], Numbered] = {}

    def give(self, asked: Asked, at: float) -> Numbered:
        """The next number."""
        self._last += 1
        made = Numbered(self._last, asked, at)
        self._by_number[made.number] = made
        self._by_content[_content(asked)] = made
        self._forget()
        return made

    def of(self, asked: Asked) -> Numbered | None:
        """What this very content was read out as."""
        return self._by_content.get(_content(asked))

    def of_request(self, request_id: str) -> Numbered | None:
        """What a request was last read out as."""
        found = [one for (key, _), one in self._by_content.items() if key == request_id]
        return found[-1] if found else None

    @property
    def waiting(self) -> list[Numbered]:
        """Those that wait for a decision that is not on its way yet, in their order."""
        return [one for one in self._by_number.values() if one.asked.is_pending and not one.asked.sending]

    def named(self, text: str) -> list[Numbered] | str:
        """The requests that numbers name, like `3` or `2,3,5`; or why they name none, in words."""
        parts = [part for part in text.split(",") if part]
        found: list[Numbered] = []
        for part in dict.fromkeys(parts):
            one = self._by_number.get(read_number(part) or 0)
            if one is None:
                return f"there is no request {part}; list names them"
            found.append(one)
        return found or "name a request by its number; list names them"

    def _forget(self) -> None:
        over = [one for one in self._by_number.values() if not one.asked.is_pending]
        for one in over[: max(0, len(over) - KEPT)]:
            del self._by_number[one.number]
            self._by_content.pop(_content(one.asked), None)


def read_number(text: str, most: int = 10**9) -> int | None:
    """The number from 1 to `most` that a text is, if it is one."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
    return number if 1 <= number <= most else None


def _content(asked: Asked) -> tuple[str, str]:
    return asked.request_id, str(asked.view["digest"])
