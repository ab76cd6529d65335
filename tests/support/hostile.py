"""Hostile texts: control sequences, hidden characters and markup that no surface may interpret."""

from __future__ import annotations

HOSTILE = {
    "markup": "[/] [bold]x[/bold] [link=file:///etc]y[/] [@click=app.quit]z[/] {x} \\[",
    "close tag": "[/]",
    "half a tag": "[/",
    "colour": "[bold red]not markup[/bold red]",
    "action": "[@click=app.quit]press[/]",
    "escape": "\x1b[2J\x1b]0;owned\x07\x1b]52;c;ZWNobw==\x07",
    "control": "a\x00b\x08c\x0bd\x7fe\x85f\x9bg",
    "bidi": "user\u202e\u2066 // check\u2069 \u2066admin\u200f",
    "zero width": "al\u200blow\u2060\ufeff\u00ad\u034f",
    "tags": "a\U000e0061\U000e0062\U000e007f",
    "surrogate": "lone \ud800 and \udfff",
    "lines": "one\r\ntwo\rthree\u2028four\u2029five\x0csix",
    "wide": "日本語のテキスト" * 40,
    "marks": "Z" + "\u0301\u0316" * 300,
    "emoji": "👩\u200d👩\u200d👧 ✈\ufe0f",
    "tabs": "\ta\tb",
    "empty": "",
    "blank": "   \n\n  ",
    "shell": "$(touch /tmp/x) `id` && rm -rf ~",
    "format": "%s %n {} {0} \\x1b",
    "long": "a" * 5000,
}
"""The texts by what they attempt."""

TEXTS = tuple(HOSTILE.values())
SENT = tuple(text for name, text in HOSTILE.items() if name != "surrogate")
"""The texts that JSON can carry."""

HUGE = "x" * 10_000_000
"""A line of 10 MB."""
