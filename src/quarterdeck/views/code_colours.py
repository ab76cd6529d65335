"""The colours of code: the pieces of a line by its file name, and those of a diff."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_COLOURED = 400
"""Characters of a line beyond which it is not coloured: it is seldom code, and lexers may be slow on it."""

LINES = 500
"""Lines of a text that are coloured; lexing more would cost time for lines that few people read."""

ROLES = (
    ("Comment", "comment"),
    ("Keyword", "keyword"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "name"),
    ("Name.Decorator", "decorator"),
    ("Name.Builtin", "name"),
    ("Name.Variable", "name"),
    ("Name.Attribute", "decorator"),
    ("Operator.Word", "keyword"),
    ("Generic.Heading", "name"),
    ("Generic.Subheading", "name"),
)

ColouredLine = list[tuple[int, str]]
"""The lengths of the pieces of a line, each with its role; empty for a line without colours."""


@lru_cache(maxsize=64)  # finding a lexer scans all of them
def lexer_for(ending: str) -> Lexer | None:
    """The lexer for file names with this ending; None for an unknown language."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(f"x{ending}", stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def ending_of(path: str) -> str:
    """The ending of a file name, which tells its language; for a Makefile or Dockerfile the name itself."""
    name = path.rpartition("/")[2][-60:]
    _, dot, ending = name.rpartition(".")
    return (
        f".{ending.lower()}" if dot and ending.isalnum() else f"/{name}" if name in ("Makefile", "Dockerfile") else ""
    )


@lru_cache(maxsize=256)  # asked for every token of every line, and there are few types
def _role(token: str) -> str:
    """The role of a token type."""
    for name, role in ROLES:
        if token.startswith(f"Token.{name}"):
            return role
    return ""


def coloured(line: str, ending: str) -> list[tuple[str, str]]:
    """One line of code in pieces, each with its role. Each line is lexed by itself, so that the work is bounded by the
    lines that are shown."""
    lexer = lexer_for(ending) if ending and len(line) <= MAX_COLOURED else None
    if lexer is None:
        return [(line, "")]
    return [(text.replace("\n", ""), _role(str(token))) for token, text in lexer.get_tokens(line.rstrip("\r\n"))]


def diff_colours(path: str, diff: str) -> list[ColouredLine]:
    """The colours of each line of a unified diff below the names of the files, without the sign at its start. Lengths
    are counted in UTF-16, as a browser does."""
    ending = ending_of(path)
    if not ending or not diff:
        return []
    return [_lengths(line, ending) for line in islice(diff.removesuffix("\n").split("\n"), 2, 2 + LINES)]


def _lengths(line: str, ending: str) -> ColouredLine:
    if line[:1] not in ("+", "-", " "):
        return []
    pieces = coloured(line[1:], ending)
    return list(_joined(pieces)) if any(role for _, role in pieces) else []


def _joined(pieces: Iterable[tuple[str, str]]) -> ColouredLine:
    """The lengths of the pieces; neighbours with the same role are one."""
    made: ColouredLine = []
    for text, role in pieces:
        length = len(text) + sum(char > "\uffff" for char in text)
        if made and made[-1][1] == role:
            made[-1] = (made[-1][0] + length, role)
        elif length:
            made.append((length, role))
    return made
