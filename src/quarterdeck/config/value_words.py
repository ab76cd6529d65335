"""What a wrong value must be, in plain words instead of a validator's. Without imports, for a fast command line."""

from __future__ import annotations

import re

WORDS = (
    (r"(?:Input should be|Value error,) ", ""),
    (r"greater than or equal to ", "at least "),
    (r"less than or equal to ", "at most "),
    (r"greater than ", "above "),
    (r"less than ", "below "),
    (r"a (?:valid )?(?:integer|int)\b.*", "a whole number"),
    (r"a valid (?:number|float)\b.*", "a number"),
    (r"a valid boolean\b.*", "true or false"),
    (r"a valid string\b.*", "text"),
    (r"a valid (?:list|tuple|set)\b.*", "a list"),
    (r"a valid (?:dictionary|mapping)\b.*", "a section"),
)


def demand(message: str) -> str:
    """The words after "must be", from the message of a validator: `at least 1`, `sdk, tmux or pty`."""
    for pattern, words in WORDS:
        message = re.sub(pattern, words, message)
    listed = re.fullmatch(r".*is not one of (.+?)\.?|('[^']*'(?:(?:,| or) '[^']*')*)", message)
    if listed is None:
        return message
    *names, last = re.findall(r"'([^']*)'", listed[1] or listed[2])
    return f"{', '.join(names)} or {last}" if names else last
