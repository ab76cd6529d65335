"""Search by words: the words of an event, the words of a query, and whether one holds the other. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.titles import title_of

TEXT_LIMIT = 16 * 1024
"""How many characters of one event can be found."""

WORD_LIMIT = 64
QUERY_LIMIT = 1000
PHRASES = 32

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
"""Letters and digits; where a script writes no blanks each sign is a word."""

_PARTED = {n: " " for n in range(128) if not chr(n).isalnum()}

_UNSAID = frozenset(
    {
        "digest",
        "holder",
        "hook_name",
        "linked_event_id",
        "message_id",
        "request_id",
        "tool_use_id",
        "updated_digest",
        "verifier",
    }
)
"""Fields that no person searches by their words."""


class Search(Struct, frozen=True):
    """Phrases that must all occur; the last one may be the beginning of a longer word."""

    phrases: tuple[str, ...]
    prefix: bool


def words(text: str) -> str:
    """The text as it is searched: its words in lower case, one blank between them."""
    found = text.lower().translate(_PARTED).split() if text.isascii() else _WORD.findall(text.casefold())
    return " ".join([word[:WORD_LIMIT] for word in found])


def searched(event: FeedEvent) -> str:
    """The words of an event: its title, and what was asked, run, named, answered and said."""
    return _words_of(title_of(event), event.data)


def searched_view(title: str, data: dict[str, Any]) -> str:
    """The words of an event as the API shows it."""
    return _words_of(title, {name: value for name, value in data.items() if name not in _UNSAID})


def _words_of(title: str, data: Any) -> str:
    parts = [title]
    room = TEXT_LIMIT
    for leaf in _leaves(data):
        parts.append(leaf[:room])
        room -= len(leaf)
        if room <= 0:
            break
    return words("\n".join(parts))


def _leaves(value: Any) -> Iterator[str]:
    """Every text in the data, in its order."""
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            nodes.extend(reversed(node.values()))
        elif isinstance(node, list | tuple):
            nodes.extend(node[TEXT_LIMIT::-1])
        elif isinstance(node, Struct):
            said = [getattr(node, name) for name in node.__struct_fields__ if name not in _UNSAID]
            nodes.extend(reversed(said))


def read_search(query: str) -> Search:
    """What a person typed: words that must all occur, quoted ones in a row. Signs only part words."""
    phrases: list[str] = []
    prefix = False
    for n, part in enumerate(query[:QUERY_LIMIT].split('"')):
        found = [words(part)] if n % 2 else [words(word) for word in part.split()]
        kept = [phrase for phrase in found if phrase]
        phrases += kept
        prefix = not n % 2 if kept else prefix
    return Search(tuple(phrases[:PHRASES]), prefix and len(phrases) <= PHRASES)


def matches(text: str, search: Search) -> bool:
    """Whether the words hold every phrase; a search without a word finds nothing."""
    if not search.phrases:
        return False
    padded = f" {text} "
    *first, last = search.phrases
    return all(f" {phrase} " in padded for phrase in first) and (f" {last}" if search.prefix else f" {last} ") in padded
