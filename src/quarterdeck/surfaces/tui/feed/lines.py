"""A row as lines of styled text for a width: when, what, about what, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from quarterdeck.surfaces.tui.feed.pieces import Line, Piece, brief, fitted, seconds_words, spread, wrapped
from quarterdeck.surfaces.tui.feed.render.tools import name_of
from quarterdeck.surfaces.tui.feed.summary import (
    COMPACT,
    DENIED,
    DONE,
    FADED,
    FAILED,
    FOOT,
    PREVIEWED,
    SEPARATOR,
    WAITING,
)

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.feed.rows import Group, Row

PREVIEW_LINES = 6
NAME = 8
LABEL = 11
"""Cells that name a session where several are shown."""
NARROW, WIDE = 60, 100
LABELLED = 52
"""From this width on a row says whose it is, where several sessions are shown."""

KINDS: dict[str, tuple[str, str, str]] = {
    "user.prompt": ("▸", "prompt", "you"),
    "user.expansion": ("▸", "prompt", "you"),
    "message.user": ("▸", "prompt", "you"),
    "message.assistant": ("◂", "said", "claude"),
    "tool.pre": ("●", "running", ""),
    "tool.post": ("⎿", "dim", ""),
    "tool.failure": ("⎿", "error", ""),
    "permission.request": ("◆", "ask", ""),
    "permission.denied": ("✗", "error", "denied"),
    "question.request": ("?", "question", "asks"),
    "permission.decision": ("·", "dim", "decided"),
    "question.decision": ("·", "dim", "decided"),
    "stop.decision": ("·", "dim", "decided"),
    "decision.refused": ("✗", "error", "refused"),
    "stop.request": ("■", "stopped", "stop"),
    "stop.failure": ("✕", "error", "error"),
    "subagent.start": ("◇", "agent", "agent"),
    "subagent.stop": ("◇", "agent", "agent"),
    "run.start": ("─", "rule", ""),
    "run.end": ("■", "dim", "run"),
    "session.start": ("○", "dim", "session"),
    "session.end": ("–", "dim", "session"),
    "session.interrupt": ("✕", "warn", "session"),
    "session.summary": ("Σ", "dim", "session"),
    "notification": ("◌", "warn", "note"),
    "compact.pre": ("⇲", "dim", "compact"),
    "compact.post": ("⇲", "dim", "compact"),
    "todo.add": ("◦", "dim", "to-do"),
    "todo.update": ("◦", "dim", "to-do"),
    "todo.done": ("✓", "ok", "to-do"),
    "rule.add": ("+", "said", "rule"),
    "rule.remove": ("−", "said", "rule"),
    "unknown.hook": ("?", "dim", "hook"),
}
"""Glyph, role and name of each kind; a kind that is not here is named by itself."""


class Look(Struct, frozen=True, kw_only=True):
    """What the lines of all rows have in common. `label` names a session where several are shown."""

    width: int
    clock: Callable[[float], str]
    label: Callable[[str], str] | None = None

    @property
    def time_width(self) -> int:
        return 0 if self.width < 40 else 5 if self.width < NARROW else 8

    @property
    def lead(self) -> int:
        """Cells before the glyph: the mark of the cursor, the time, the session."""
        label = LABEL + 1 if self.label is not None and self.width >= LABELLED else 0
        return 1 + (self.time_width + 1 if self.time_width else 0) + label

    @property
    def left(self) -> int:
        """Cells before the text."""
        return self.lead + 2 + (NAME + 1 if self.width >= NARROW else 0)

    @property
    def room(self) -> int:
        """Cells for the text of a preview; a sub-agent's is indented."""
        return max(self.width - self.left - 4, 8)


def preview_height(text: str, room: int) -> int:
    """How many lines a preview adds to its row."""
    line, _, preview = text.partition(SEPARATOR)
    return len(wrapped(preview, room, PREVIEW_LINES)) - (0 if line else 1)


def row_lines(row: Row, look: Look) -> list[Line]:
    """The lines of a row that is not opened."""
    line, _, preview = row.text.partition(SEPARATOR)
    parts = wrapped(preview, look.room, PREVIEW_LINES) if row.flags & PREVIEWED else []
    role = "prompt" if row.kind in ("user.prompt", "message.user") else "preview" if line else "text"
    made = []
    if row.kind == "run.start":
        made.append(_rule(row, look))
    else:
        made.append(_head(row, line or (parts.pop(0) if parts else ""), look))
    inner = " " * look.left + _indent(row)
    made += [[(inner, ""), (part, role)] for part in parts]
    if row.flags & FOOT:
        made.append(fitted(_foot(row, look), look.width))
    return made


def _indent(row: Row) -> str:
    return "┆ " if row.actor.startswith("subagent:") else ""


def _when(row: Row, look: Look) -> Line:
    made: Line = [(f" {look.clock(row.at)[: look.time_width]} ", "time")] if look.time_width else [(" ", "")]
    if look.label is not None and look.width >= LABELLED:
        made.append((f"{brief(look.label(row.session), LABEL)[:LABEL]:<{LABEL + 1}}", "session"))
    return made


def _head(row: Row, text: str, look: Look) -> Line:
    glyph, role, name = KINDS.get(row.kind, ("·", "dim", row.kind.partition(".")[0]))
    if row.kind == "tool.pre":
        glyph, role = _standing(row)
    elif row.flags & FADED:
        role = "dim"
    name = name or brief(name_of(row.tool), 24)
    left: Line = [*_when(row, look), (_indent(row), "rule"), (f"{glyph} ", role)]
    if row.tool or look.width >= NARROW:
        left.append((f"{name:<{NAME}} " if look.width >= NARROW else f"{name} ", "tool" if row.tool else role))
    left.append((_within(row, text), _text_role(row)))
    if row.flags & COMPACT and row.after and not row.flags & FAILED:
        left.append((f"  {row.after}", "dim"))
    return spread(left, _right(row), look.width - 1)


def _standing(row: Row) -> tuple[str, str]:
    """Glyph and role of a tool by how far it is."""
    if row.flags & (FAILED | DENIED):
        return "●", "error"
    if row.flags & DONE:
        return "●", "ok"
    return ("●", "dim") if row.over else ("◆", "ask") if row.flags & WAITING else ("●", "running")


def _within(row: Row, text: str) -> str:
    """Paths are told from where the agent works."""
    return text[len(row.cwd) + 1 :] if row.cwd and row.tool and text.startswith(f"{row.cwd}/") else text


def _text_role(row: Row) -> str:
    if row.kind in ("user.prompt", "message.user"):
        return "prompt"
    return "dim" if row.flags & FADED else "path" if row.flags & COMPACT else "error" if row.level == 3 else "text"


def _right(row: Row) -> Line:
    if row.kind == "tool.pre":
        if row.flags & DONE:
            return [(seconds_words(row.took), "time")] if row.took >= 0 else []
        if row.flags & DENIED:
            return [("denied", "error")]
        if row.over:
            return [("no result", "dim")]
        return [("waiting", "ask")] if row.flags & WAITING else [("running", "running")]
    if row.kind in ("permission.request", "question.request"):
        if row.flags & DONE:
            return []
        return [("not answered", "dim")] if row.over else [("needs you" if row.kind[0] == "p" else "asks", "ask")]
    return [(row.badge, "badge")] if row.badge not in ("", "TOOL") else []


def _rule(row: Row, look: Look) -> Line:
    left: Line = [*_when(row, look), ("── ", "rule"), (row.text, "dim"), (" ", "")]
    return [*left, ("─" * max(look.width - 1 - sum(len(text) for text, _ in left), 0), "rule")]


def _foot(row: Row, look: Look) -> Line:
    lead: Piece = (" " * look.lead + _indent(row) + "⎿ ", "dim")
    if row.kind == "subagent.start" and row.group is not None:
        return [lead, *_group(row.group), (f"  {row.after}", "dim")]
    if row.flags & DONE:
        return [lead, (row.after or "done", _after_role(row))]
    return [lead, ("–" if row.over else "…", "dim")]


def _after_role(row: Row) -> str:
    if row.after_flags & FAILED:
        return "error"
    if row.kind.endswith(".request"):
        return "ok" if row.after.startswith("✓") else "dim"
    return "result" if row.after else "dim"


def _group(group: Group) -> Line:
    words = f"{'▾' if group.opened else '▸'} {group.tools} tool{'' if group.tools == 1 else 's'}"
    return [(words, "agent"), *([(f", {group.failed} failed", "error")] if group.failed else [])]
