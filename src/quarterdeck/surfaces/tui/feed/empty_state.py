"""The text of a feed without rows: why there are none, and what you can do. Pure."""

from __future__ import annotations

from msgspec import Struct


class EmptyState(Struct, frozen=True, kw_only=True):
    """The reasons for a window without rows. `filter_text`: the filter as it was typed. `first`: the oldest event read.
    `paused`: reading back waits for a key press."""

    filter_text: str = ""
    first: int = 0
    paused: bool = False
    one_session: bool = False
    cleared: bool = False
    reading: bool = False
    read_failed: bool = False

    def text(self) -> str:
        """The reason as a sentence."""
        if self.reading:
            return f"Looking for {self.filter_text} … #{self.first}" if self.filter_text else "Reading the log …"
        if self.read_failed:
            return "The log could not be read. It is read again when the daemon answers"
        if self.filter_text:
            so_far = f" so far: {paused_text(self.first)}" if self.paused else ""
            return f"Nothing matches {self.filter_text}{so_far}; f changes the filter, ^r removes it"
        if self.cleared:
            return "Cleared: new events show here; ^r shows the old ones again"
        if self.paused:
            return f"Nothing here: {paused_text(self.first)}"
        if self.one_session:
            return "Nothing yet from this session: what it does shows here as it happens; ^r shows all"
        return "Nothing yet: what agents do shows here as it happens"


def paused_text(seq_no: int) -> str:
    """The oldest event read, and the key that reads on."""
    return f"read back to #{seq_no}, ↑ reads on"
