"""The line at the bottom: the keys that work now. It is one row of text, since keys change with every card."""

from __future__ import annotations

from collections.abc import Iterator

from textual.events import Resize
from textual.screen import Screen

from quarterdeck.surfaces.tui.lines import Row, Span
from quarterdeck.surfaces.tui.wall import Wall


def key_spans(screen: Screen[object]) -> Iterator[Span]:
    """Every key that is shown and acts, each of which can be clicked."""
    told: set[str] = set()
    for found in screen.active_bindings.values():
        binding = found.binding
        if binding.show and found.enabled and binding.action not in told:
            told.add(binding.action)
            press = f"app.simulate_key('{binding.key}')"
            yield Span(screen.app.get_key_display(binding), "key", press)
            yield Span(f" {binding.description}", "", press)
            yield Span("  ")


class Keys(Wall, can_focus=False):
    """Follows the focus."""

    DEFAULT_CSS = "Keys { dock: bottom; height: 1; background: $panel; overflow: hidden; }"

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.tell())
        self.call_after_refresh(self.tell)

    def on_resize(self, event: Resize) -> None:
        self.tell()

    def tell(self) -> None:
        """Draw the keys anew, where they have changed."""
        if not self.is_attached or not self.screen.is_current:
            return
        row: Row = (Span(" "), *key_spans(self.screen))
        if self.rows != [row]:
            self.show_rows([row])
