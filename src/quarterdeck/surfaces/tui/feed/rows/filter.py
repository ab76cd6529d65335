"""Which events are shown: by kind, tool, actor and level. Pure."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.model.events import HIDDEN

LEVELS = ("debug", "info", "warn", "error")


class Wanted(Struct, frozen=True, kw_only=True):
    """An empty set asks for everything. A kind may name a group: `tool` is every `tool.…`. Kinds that repeat what
    another event says are left out unless named or `hidden` is set."""

    kinds: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    level: str = "debug"
    hidden: bool = False

    @property
    def everything(self) -> bool:
        return not (self.kinds or self.tools or self.actors) and self.level == LEVELS[0]

    @property
    def words(self) -> str:
        """The filter as one types it; nothing for everything."""
        parts = (("kind", self.kinds), ("tool", self.tools), ("actor", self.actors))
        made = [f"{name}={','.join(sorted(values))}" for name, values in parts if values]
        return " ".join([*made, *([f"level={self.level}"] if self.level != LEVELS[0] else [])])

    def kind(self, name: str) -> bool:
        if self.kinds:
            return name in self.kinds or name.partition(".")[0] in self.kinds
        return self.hidden or name not in HIDDEN

    def tool(self, name: str) -> bool:
        return not self.tools or name in self.tools

    def actor(self, name: str) -> bool:
        return not self.actors or name in self.actors or name.partition(":")[0] in self.actors

    def lowest(self) -> int:
        """The level from which on events are shown, as a number."""
        return LEVELS.index(self.level) if self.level in LEVELS else 0
