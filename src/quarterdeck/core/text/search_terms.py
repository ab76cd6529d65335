"""Word search: the searchable text of an event, the phrases of a query, and their match. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.titles import title_of

TEXT_LIMIT = 16 * 1024
"""Characters of one event that can be found."""

WORD_LIMIT = 64
"""Characters of a word: longer ones are encoded data, which would fill the index."""

QUERY_LIMIT = 1000
PHRASE_LIMIT = 32
"""Each phrase is searched for in every event that is read."""

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
"""A run of letters and digits. In scripts without blanks, such as Chinese, each sign is a word."""

_SEPARATORS = {n: " " for n in range(128) if not chr(n).isalnum()}

_UNSEARCHED_FIELDS = frozenset(
    {
        "digest",
        "holder",
        "hook_name",
        "linked_event_id",
        "message_id",
        "request_id",
        "tool_kind",
        "tool_risk",
        "tool_use_id",
        "updated_digest",
        "verifier",
    }
)
"""IDs, digests and the like, which no person searches for."""


class SearchQuery(Struct, frozen=True):
    """Phrases that must all occur. With `prefix`, the last one may end within a word."""

    phrases: tuple[str, ...]
    prefix: bool


def words(text: str) -> str:
    """Normalise text for search: its words in lower case, with one blank between them. Nearly every text is ASCII: a
    table and a split read that about four times as fast as the regular expression that other texts need."""
    parts = text.lower().translate(_SEPARATORS).split() if text.isascii() else _WORD.findall(text.casefold())
    return " ".join([word[:WORD_LIMIT] for word in parts])


def searchable_text(event: FeedEvent) -> str:
    """The words of an event: its title and every text in its data."""
    return _words_of(title_of(event), event.data)


def searchable_view_text(title: str, data: dict[str, Any]) -> str:
    """The words of an event as the API shows it."""
    return _words_of(title, {name: value for name, value in data.items() if name not in _UNSEARCHED_FIELDS})


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
    """Yield every text in the data, in order. Iterative, since nested input can be deeper than the call stack."""
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
            values = [getattr(node, name) for name in node.__struct_fields__ if name not in _UNSEARCHED_FIELDS]
            nodes.extend(reversed(values))


def read_search(query: str) -> SearchQuery:
    """Read a typed query: all words must occur, and quoted words in a row. Other signs only separate words."""
    phrases: list[str] = []
    prefix = False
    for n, part in enumerate(query[:QUERY_LIMIT].split('"')):
        found = [words(part)] if n % 2 else [words(word) for word in part.split()]
        kept = [phrase for phrase in found if phrase]
        phrases += kept
        prefix = not n % 2 if kept else prefix
    return SearchQuery(tuple(phrases[:PHRASE_LIMIT]), prefix and len(phrases) <= PHRASE_LIMIT)


def matches(text: str, search: SearchQuery) -> bool:
    """True if the text contains every phrase. A query without words matches nothing."""
    if not search.phrases:
        return False
    padded = f" {text} "
    *first, last = search.phrases
    return all(f" {phrase} " in padded for phrase in first) and (f" {last}" if search.prefix else f" {last} ") in padded
