"""Syntax colours: a line of code as pieces, by the name of its file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line

if TYPE_CHECKING:
    from pygments.lexer import Lexer

COLOURED = 400
"""A line longer than this is not parsed: it is seldom code, and lexers may be slow on it."""

LINES = 500
"""So many lines of a text are coloured: nobody admires more."""

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


@lru_cache(maxsize=64)
def lexer_for(ending: str) -> Lexer | None:
    """The lexer for files that end so; None when their language is not known."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(f"x{ending}", stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def ending_of(path: str) -> str:
    """The ending of a file's name that tells its language."""
    name = path.rpartition("/")[2][-60:]
    _, dot, ending = name.rpartition(".")
    return (
        f".{ending.lower()}" if dot and ending.isalnum() else f"/{name}" if name in ("Makefile", "Dockerfile") else ""
    )


@lru_cache(maxsize=256)
def _role(token: str) -> str:
    for name, role in ROLES:
        if token.startswith(f"Token.{name}"):
            return role
    return ""


def coloured(line: str, ending: str) -> Line:
    """One line of code. Each line is read by itself, so that work is bounded by what is visible."""
    lexer = lexer_for(ending) if ending and len(line) <= COLOURED else None
    if lexer is None:
        return [(line, "")]
    made: Line = []
    for token, text in lexer.get_tokens(line.rstrip("\r\n")):
        made.append((text.replace("\n", ""), _role(str(token))))
    return made


def code_lines(text: str, ending: str, first: int = 1) -> Iterator[Line]:
    """Code with the numbers of its lines, lazily."""
    start, number = 0, first
    while start < len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        yield [(f"{number:>5} ", "lineno"), *coloured(text[start:stop], ending if number - first < LINES else "")]
        start, number = stop + 1, number + 1
