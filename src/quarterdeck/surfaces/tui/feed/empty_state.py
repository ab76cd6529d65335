"""What a feed says where it has no rows to show: why, and what one can do about it. Pure."""

from __future__ import annotations

from msgspec import Struct


class Blank(Struct, frozen=True, kw_only=True):
    """How a window without rows came to be. `narrowed` is the filter in words, `first` the event up to which was looked
    back, `paused` that somebody must ask for more."""

    narrowed: str = ""
    first: int = 0
    paused: bool = False
    one_session: bool = False
    cleared: bool = False
    reading: bool = False
    unread: bool = False

    def words(self) -> str:
        """In a sentence."""
        if self.reading:
            return f"Looking for {self.narrowed} … #{self.first}" if self.narrowed else "Reading the log …"
        if self.unread:
            return "The log could not be read: it is read again when the daemon answers"
        if self.narrowed:
            so_far = f" so far: {looked_words(self.first)}" if self.paused else ""
            return f"Nothing matches {self.narrowed}{so_far}; f changes it, ^r takes it away"
        if self.cleared:
            return "Cleared: what comes next shows here; ^r brings back what was"
        if self.paused:
            return f"Nothing here: {looked_words(self.first)}"
        if self.one_session:
            return "Nothing yet of this session: what it does shows here as it happens; ^r shows all"
        return "Nothing yet: what agents do shows here as it happens"


def looked_words(seq_no: int) -> str:
    """That looking back paused, and what goes on."""
    return f"looked back to #{seq_no}, ↑ looks further"
