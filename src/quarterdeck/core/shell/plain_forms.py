"""Rewrites forms whose meaning is certain, but which the two parsers refuse, into plain commands.

These are `time` and harmless variables in front of a command, tests in brackets, and the here-document that Claude
Code writes for a message: `git commit -m "$(cat <<'EOF' …)"`. A rewritten text counts only if both parsers then agree
on it; otherwise the text stays as unclear as it was.
"""

from __future__ import annotations

import re

from quarterdeck.core.programs.operands.checks import HARMLESS_ASSIGNMENT

# Text in which every quote is whole and nothing is special, so that what follows an operator begins a command.
_QUOTED = r"'[^'\n]*+'|\"[^\"$`\\\n]*+\""
_PART = rf"(?:[A-Za-z0-9_@%+:,./=~*?\- ]|{_QUOTED}|>&[0-9]|> ?/dev/null)*+"
_NEXT = re.compile(rf"{_PART}(?:&&|\|\||[;|\n])[ \n]*+")
_PIPED = re.compile(r"(?<!\|)\|[ \n]*+\Z")
_NAME = r"(?=[A-Za-z./_])"
_TIMED = re.compile(rf"time (?:-p )?{_NAME}(?!time )")
_ASSIGNED = re.compile(rf"(?:{HARMLESS_ASSIGNMENT.pattern} ++)++{_NAME}")
_WORD = rf"(?:[A-Za-z0-9_./@%+:,][A-Za-z0-9_./@%+:,-]*+|{_QUOTED})"
_TESTED = re.compile(
    rf"\[ ((?:! )?(?:-[defhLnrswxz] {_WORD}|{_WORD} (?:==?|!=) {_WORD}|\d+ -(?:eq|ne|lt|gt|le|ge) \d+)) \]"
    r"(?=[ ]*(?:&&|\|\||[;\n]|\Z))"
)
_MESSAGE = re.compile(
    rf"(?P<before>(?:{_PART}(?:&&|;) *)*+"
    r"(?:git (?:commit|tag|merge|notes add)|gh (?:pr|issue|release) (?:create|edit|comment))"
    rf" (?:(?:[A-Za-z0-9_@%+:,./=~-]++|{_QUOTED}) )*?(?:-a?m|--message|--body|--notes|--title|-[bnt])[ =])"
    r"\"\$\(cat <<(?P<quote>['\"])(?P<end>\w+)(?P=quote)\n(?P<body>.*?)\n(?P=end)\n? *\)\"(?P<after>.*)",
    re.DOTALL,
)
_UNSAFE_IN_OLD_SHELLS = re.compile(r"[$`\\]")
_REPLACED = re.compile(r"['\"`\\$@]")


def plainer(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The text without these forms, and the shell's own words that were left out; None if it has none of them."""
    found = _without_message(text) or text
    rest, made, left_out = found, "", []
    while rest:
        made_part, rest, words = _begin(rest, in_pipe=bool(_PIPED.search(made)))
        left_out += words
        following = _NEXT.match(rest)
        size = following.end() if following else len(rest)
        made += made_part + rest[:size]
        rest = rest[size:]
    return (made, tuple(left_out)) if made != text else None


def _begin(text: str, in_pipe: bool) -> tuple[str, str, list[str]]:
    """Read the forms at the beginning of a command: the text in their place, what follows, and words left out. In a
    pipe `time` is a program."""
    words = []
    if not in_pipe and (timed := _TIMED.match(text)):
        words.append("time")
        text = text[timed.end() :]
    if assigned := _ASSIGNED.match(text):
        text = text[assigned.end() :]
    if tested := _TESTED.match(text):
        return f"test {tested[1]}", text[tested.end() :], [*words, "["]
    return "", text, words


def _without_message(text: str) -> str | None:
    """The text with the message of a here-document as one quoted word."""
    match = _MESSAGE.fullmatch(text) if "<<" in text else None
    if match is None or match["end"] in match["body"].split("\n") or not _is_literal(match["body"], match["after"]):
        return None
    message = _REPLACED.sub("_", match["body"])
    return f"{match['before']}'{message}'{match['after']}"


def _is_literal(body: str, after: str) -> bool:
    """True if every shell takes the body as text. Old ones, such as bash 3.2, look for the closing parenthesis inside
    the here-document; what follows it would then be read in double quotes."""
    if '"' in body or ("'" in body and "'" in after):
        return False
    if not _UNSAFE_IN_OLD_SHELLS.search(body):
        return True
    depth = 0
    for sign in body:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0 and "'" not in body
