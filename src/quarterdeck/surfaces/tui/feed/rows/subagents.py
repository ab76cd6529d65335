"""The sub-agents among the rows: which are folded, and the counts of each. Pure."""

from __future__ import annotations

from msgspec import Struct


class SubagentGroup(Struct):
    """A sub-agent: the row under which it folds, and the counts of its rows and tools."""

    head: int = 0
    rows: int = 0
    tools: int = 0
    failed: int = 0
    opened: bool = False


class Subagents:
    """The sub-agents by the code of their actor. `under`: the sub-agent that folds under a row."""

    def __init__(self) -> None:
        self.groups: dict[int, SubagentGroup] = {}
        self.under: dict[int, int] = {}
        self.folded: set[int] = set()

    def start(self, seq_no: int, actor: int) -> None:
        """Fold a sub-agent under the row of its start, unless it was opened."""
        group = self.groups.setdefault(actor, SubagentGroup())
        group.head = seq_no
        self.under[seq_no] = actor
        if not group.opened:
            self.folded.add(actor)

    def count(self, actor: int, kind: str) -> None:
        """Count an event of a sub-agent."""
        group = self.groups.setdefault(actor, SubagentGroup())
        group.rows += 1
        group.tools += kind == "tool.pre"
        group.failed += kind == "tool.failure"

    def fold(self, actor: int, opened: bool) -> None:
        """Show or hide the rows of a sub-agent."""
        self.groups[actor].opened = opened
        (self.folded.discard if opened else self.folded.add)(actor)

    def group_under(self, seq_no: int) -> SubagentGroup | None:
        """The sub-agent that folds under a row."""
        actor = self.under.get(seq_no)
        return None if actor is None else self.groups.get(actor)

    def forget_before(self, first: int) -> None:
        """Forget the sub-agents whose first row has left the window."""
        for head in [head for head in self.under if head < first]:
            actor = self.under.pop(head)
            self.folded.discard(actor)
            self.groups.pop(actor, None)
