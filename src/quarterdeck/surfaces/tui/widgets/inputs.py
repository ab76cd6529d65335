"""Inputs of one line and of several, whose keys act in the order in which they were pressed."""

from __future__ import annotations

from textual import events
from textual.widget import Widget
from textual.widgets import Input, TextArea


class LineInput(Input):
    """An input of one line."""

    async def on_key(self, event: events.Key) -> None:
        await run_key_now(self, event)


class TextBox(TextArea):
    """An input of several lines."""

    async def on_key(self, event: events.Key) -> None:
        await run_key_now(self, event)


async def run_key_now(widget: Widget, event: events.Key) -> None:
    """Run an editing key at once: as a binding it is queued, and text typed after it would overtake it."""
    for binding in widget._bindings.key_to_bindings.get(event.key, ())[:1]:
        event.stop()
        event.prevent_default()
        await widget.run_action(binding.action)
