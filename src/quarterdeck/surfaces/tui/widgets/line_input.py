"""A line that is typed into: its keys act in the order in which they come."""

from __future__ import annotations

from textual import events
from textual.widget import Widget
from textual.widgets import Input


class Field(Input):
    """One line."""

    async def on_key(self, event: events.Key) -> None:
        await act_at_once(self, event)


async def act_at_once(widget: Widget, event: events.Key) -> None:
    """A key that edits acts now: on the long way of a binding it is overtaken by what is typed after it."""
    for binding in widget._bindings.key_to_bindings.get(event.key, ())[:1]:
        event.stop()
        event.prevent_default()
        await widget.run_action(binding.action)
