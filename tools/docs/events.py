"""The kinds of events, and what each hook of Claude Code becomes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quarterdeck.agents.claude.hooks import HOOKS, Hook, read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.agent_state import STATE_AFTER
from quarterdeck.core.model.events import HIDDEN, KINDS, RESERVED
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.core.text.titles import UI_HINTS, UiHints
from tools.docs.tables import table

OLDEST = "2.1.197"
"""The oldest Claude Code that is supported: an event that came with it needs no note."""


def event_table() -> str:
    """Every kind of event with its data, the state it leads to and how the feed shows it."""
    return table(("kind", "data (`?`: may be missing)", "agent state", "shown"), _event_rows())


def _event_rows() -> Iterator[tuple[str, str, str, str]]:
    for kind, shape in KINDS.items():
        fields = ", ".join(f"{f.name}" if f.required else f"{f.name}?" for f in msgspec.structs.fields(shape))
        yield f"`{kind}`", f"`{fields}`" if fields else "", STATE_AFTER.get(kind, ""), _shown(kind)


def _shown(kind: str) -> str:
    hints = UI_HINTS.get(kind, UiHints())
    if kind in RESERVED:
        return "reserved: not recorded yet"
    words = [hints.badge or "", "collapsed" if hints.collapsed_default else "", "hidden" if kind in HIDDEN else ""]
    return ", ".join(word for word in words if word)


def hook_table() -> str:
    """Every hook event of Claude Code: how it is registered and which events it becomes."""
    return table(("hook event", "registered", "may wait for a decision", "becomes"), _hook_rows())


def _hook_rows() -> Iterator[tuple[str, str, str, str]]:
    for name, hook in HOOKS.items():
        since = f", from {hook.since}" if hook.since != OLDEST else ""
        why = f" ({hook.why})" if hook.why else ""
        yield name, f"{_registered(hook)}{since}{why}", "yes" if hook.holds else "", _becomes(name)


def _registered(hook: Hook) -> str:
    if hook.transport != "http":
        return hook.transport
    always_waits = hook.holds and not hook.only and not hook.optional
    return "command" if always_waits else "command or http"


def _becomes(name: str) -> str:
    """The events that the core makes of such a hook."""
    payload = {"session_id": "s", "hook_event_name": name, "task_id": "1", "tool_name": "Bash"}
    if name == "MessageDisplay":
        return "a stream, not the feed"
    result = reduce(State(runner_id="r"), HookReceived(event=read_hook(payload, event_id="e", at=0.0), attended=True))
    return ", ".join(
        f"`{event.kind}`" for event in result.events if event.kind != "run.start" or name == "UserPromptSubmit"
    )
