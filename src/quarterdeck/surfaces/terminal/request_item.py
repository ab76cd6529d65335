"""One request as a terminal surface keeps it: its view, its details, and what the person has seen of it; pure."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.terminal.lines.request_input import concealed_parts

Json = dict[str, Any]


class RequestItem:
    """A request on the desk."""

    def __init__(self, view: Json) -> None:
        self.view = view
        self.details: Json | None = None
        self.is_fetched = False
        self.is_outcome_fetched = False
        self.patterns: list[str] = []
        self.trust: str | None = None
        self.seen = False
        self.overflow = ""
        self.sending = ""
        self.drafts: dict[str, str] = {}
        """Unsent text by the dialog it was typed into, so that it is there again when sending failed."""
        self.over_at: float | None = None
        self._concealed: tuple[bool, list[str]] | None = None

    @property
    def request_id(self) -> str:
        return str(self.view["request_id"])

    @property
    def shown(self) -> Json:
        """The request with its details; status and decision come from the latest view."""
        if self.details is None:
            return self.view
        return {**self.details, **{key: self.view[key] for key in ("status", "decision")}}

    @property
    def is_pending(self) -> bool:
        return bool(self.view["status"] == "pending")

    @property
    def is_unexplained(self) -> bool:
        """True when it is over and its outcome is not known."""
        return not self.is_pending and self.view["decision"] is None

    def accept_details(self, details: Json) -> bool:
        """Keep the details. False if the request has changed since it was shown."""
        if details["digest"] != self.view["digest"]:
            return False
        self.details = details
        rule = details["rule"]
        if rule is not None and details["kind"] == "permission":
            self.patterns = list(rule["patterns"])
            self.trust = rule.get("trust")
        return True

    @property
    def hides(self) -> list[str]:
        """The parts that must be expanded before a decision; none once they were."""
        if self.seen:
            return []
        has_details = self.details is not None
        if self._concealed is None or self._concealed[0] != has_details:
            self._concealed = has_details, concealed_parts(self.shown)
        return [*self._concealed[1], *([self.overflow] if self.overflow else [])]
