"""The filter of the feed, by kind, tool, actor and level. Pure."""

from __future__ import annotations

from msgspec import Struct

LEVELS = ("debug", "info", "warn", "error")


class FeedFilter(Struct, frozen=True, kw_only=True):
    """An empty set means everything. A kind may name a group: `tool` is every `tool.…`. Events at level debug are left
    out unless their kind or that level is named."""

    kinds: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    level: str = ""

    @property
    def text(self) -> str:
        """The filter as you would type it; empty for everything."""
        parts = (("kind", self.kinds), ("tool", self.tools), ("actor", self.actors))
        made = [f"{name}={','.join(sorted(values))}" for name, values in parts if values]
        return " ".join([*made, *([f"level={self.level}"] if self.level else [])])

    def kind(self, name: str) -> bool:
        return not self.kinds or name in self.kinds or name.partition(".")[0] in self.kinds

    def tool(self, name: str) -> bool:
        return not self.tools or name in self.tools

    def actor(self, name: str) -> bool:
        return not self.actors or name in self.actors or name.partition(":")[0] in self.actors

    def lowest(self) -> int:
        """The lowest level that is shown, as a number."""
        return LEVELS.index(self.level) if self.level in LEVELS else 0 if self.kinds else 1
