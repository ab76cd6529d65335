"""Numbers of requests. Each belongs to one request exactly as it was read out, and never to another; pure."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.terminal.request_item import RequestItem

KEPT = 500
"""Requests that are over and still keep their number, so that typing it says how they ended."""


class NumberedRequest(Struct):
    """A request with its number, and when it was announced."""

    number: int
    item: RequestItem
    announced_at: float
    is_announced_over: bool = False


class RequestNumbers:
    """Assigns numbers in the order of arrival. A request that comes again with other content gets another one."""

    def __init__(self) -> None:
        self._last = 0
        self._by_number: dict[int, NumberedRequest] = {}
        self._by_content: dict[tuple[str, str], NumberedRequest] = {}

    def assign(self, item: RequestItem, at: float) -> NumberedRequest:
        """Give the request the next number."""
        self._last += 1
        numbered = NumberedRequest(self._last, item, at)
        self._by_number[numbered.number] = numbered
        self._by_content[_content_key(item)] = numbered
        self._forget()
        return numbered

    def find(self, item: RequestItem) -> NumberedRequest | None:
        """The number of exactly this content."""
        return self._by_content.get(_content_key(item))

    def find_request(self, request_id: str) -> NumberedRequest | None:
        """The latest number of a request."""
        matches = [numbered for (key, _), numbered in self._by_content.items() if key == request_id]
        return matches[-1] if matches else None

    @property
    def waiting(self) -> list[NumberedRequest]:
        """The requests that wait, in order, without those whose decision is being sent."""
        return [one for one in self._by_number.values() if one.item.is_pending and not one.item.sending]

    def find_named(self, text: str) -> list[NumberedRequest]:
        """The requests for numbers like `3` or `2,3,5`. Raises `CommandEnded` when any of them names none."""
        parts = [part for part in text.split(",") if part]
        requests: list[NumberedRequest] = []
        for part in dict.fromkeys(parts):
            request = self._by_number.get(read_number(part) or 0)
            if request is None:
                raise CommandEnded(f"There is no request {part}; list names them")
            requests.append(request)
        if not requests:
            raise CommandEnded("Name a request by its number; list names them")
        return requests

    def _forget(self) -> None:
        over = [one for one in self._by_number.values() if not one.item.is_pending]
        for one in over[: max(0, len(over) - KEPT)]:
            del self._by_number[one.number]
            self._by_content.pop(_content_key(one.item), None)


def read_number(text: str, most: int = 10**9) -> int | None:
    """The text as a number from 1 to `most`; None if it is none."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
    return number if 1 <= number <= most else None


def _content_key(item: RequestItem) -> tuple[str, str]:
    return item.request_id, str(item.view["digest"])
