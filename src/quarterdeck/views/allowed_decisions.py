"""The decisions that fit a request."""

from __future__ import annotations

from quarterdeck.core.model.decisions import ACTIONS, Allow, Answer, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.state import Request

_WORDS: dict[type[Decision], str] = {Allow: "allow", Answer: "answer", Deny: "deny", Block: "block", NoOpinion: "pass"}
"""The words of a decision in the API."""


def decisions_for(request: Request, *, has_terminal: bool) -> list[str]:
    """The decisions that a pending request takes. Without a terminal there is no `pass`."""
    if request.status != "pending":
        return []
    actions = ACTIONS.get(request.form or request.kind, {"deny": Deny, "pass": NoOpinion})
    words = dict.fromkeys(_WORDS[one] for one in actions.values())
    return [word for word in words if word != "pass" or has_terminal]
