"""The decisions that fit a request, and what a person must have seen before an allow."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.decisions import ACTIONS, Allow, Answer, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.payload import texts_in
from quarterdeck.core.model.state import Request
from quarterdeck.core.text.sanitize import UNSEEN

_WORDS: dict[type[Decision], str] = {Allow: "allow", Answer: "answer", Deny: "deny", Block: "block", NoOpinion: "pass"}
"""The words of a decision in the API."""


def decisions_for(request: Request, *, has_terminal: bool) -> list[str]:
    """The decisions that a pending request takes. Without a terminal there is no `pass`."""
    if request.status != "pending":
        return []
    actions = ACTIONS.get(request.form or request.kind, {"deny": Deny, "pass": NoOpinion})
    words = dict.fromkeys(_WORDS[one] for one in actions.values())
    return [word for word in words if word != "pass" or has_terminal]


def hidden_parts(tool_input: dict[str, Any], cut_bytes: int | None = None) -> list[str]:
    """The parts of an input that a person would miss, in words: what a list leaves out (of `cut_bytes` in all), and
    characters that do not show."""
    if cut_bytes is not None:
        return [f"{cut_bytes:,} bytes in all"]
    hidden = sum(len(UNSEEN.findall(text)) for text in texts_in(tool_input, keys=True))
    if not hidden:
        return []
    return ["1 hidden character" if hidden == 1 else f"{hidden} hidden characters"]
