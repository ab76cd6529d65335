"""A row as lines of styled text for a width: when, what, about what, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import set_cell_size

from quarterdeck.surfaces.tui.feed.render.registry import name_of
from quarterdeck.surfaces.tui.feed.render.styled_pieces import (
    Line,
    Piece,
    brief,
    cells,
    fitted,
    seconds_words,
    spread,
    squeezed,
    width_of,
)
from quarterdeck.surfaces.tui.feed.rows.preview import ASIDE_CELLS, kept, preview_lines
from quarterdeck.surfaces.tui.feed.rows.summary import (
    ASIDE,
    COMPACT,
    DENIED,
    DONE,
    FADED,
    FAILED,
    FOOT,
    PREVIEWED,
    WAITING,
)

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.feed.rows.rows import Group, Row

NAME = 8
BADGE = 8
LABEL = 11
"""Cells that name a session where several are shown."""
NARROW, WIDE = 60, 100
LABELLED = 52
"""From this width on a row says whose it is, where several sessions are shown."""
LEAST = 16
"""Cells that what a tool is about keeps beside its outcome."""
COMMANDS = frozenset({"Bash", "PowerShell"})
"""Tools whose input is told as it is."""

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
    """What the lines of all rows have in common. `label` names a session where several are shown; `cwd` is where one
    works, as far as that is known."""

    width: int
    clock: Callable[[float], str]
    label: Callable[[str], str] | None = None
    cwd: Callable[[str], str] | None = None

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


def aside_of(flags: int) -> int:
    """How many cells the first line of a preview leaves to what stands at its right end."""
    return ASIDE_CELLS if flags & ASIDE else 0


def row_lines(row: Row, look: Look) -> list[Line]:
    """The lines of a row that is not opened."""
    text = kept(row.text)
    parts = preview_lines(text, look.room, aside_of(row.flags)) if row.flags & PREVIEWED else []
    role = "prompt" if row.kind in ("user.prompt", "message.user") else "preview" if text.line else "text"
    made = []
    if row.kind == "run.start":
        made.append(_rule(row, look))
    else:
        made.append(_head(row, text.line or (parts.pop(0) if parts else ""), look))
    inner = " " * look.left + _indent(row)
    made += [[(inner, ""), (part, role)] for part in parts]
    if row.flags & FOOT:
        made.append(fitted(_foot(row, look), look.width))
    return made + _below(row, look)


def _below(row: Row, look: Look) -> list[Line]:
    """Lines of what went wrong."""
    lead = " " * look.lead + _indent(row) + "  "
    return [fitted([(lead, ""), (line, "result")], look.width) for line in row.below.split("\n")] if row.below else []


def _indent(row: Row) -> str:
    return "┆ " if row.actor.startswith("subagent:") else ""


def _when(row: Row, look: Look) -> Line:
    made: Line = [(f" {look.clock(row.at)[: look.time_width]} ", "time")] if look.time_width else [(" ", "")]
    if look.label is not None and look.width >= LABELLED:
        made.append((set_cell_size(brief(look.label(row.session), LABEL), LABEL) + " ", "session"))
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
    right = _right(row, look)
    after = f"  {row.after}" if row.flags & COMPACT and row.after and not row.flags & FAILED else ""
    if row.tool:
        room = look.width - 1 - width_of(left) - (width_of(right) + 1 if right else 0)
        text = squeezed(_within(row, text, look), max(room - cells(after), LEAST))
    return spread([*left, (text, _text_role(row)), (after, "dim")], right, look.width - 1)


def _standing(row: Row) -> tuple[str, str]:
    """Glyph and role of a tool by how far it is."""
    if row.flags & (FAILED | DENIED):
        return "●", "error"
    if row.flags & DONE:
        return "●", "ok"
    return ("●", "dim") if row.over else ("◆", "ask") if row.flags & WAITING else ("●", "running")


def _within(row: Row, text: str, look: Look) -> str:
    """Paths are told from where the agent works."""
    cwd = row.cwd or (look.cwd(row.session) if look.cwd is not None else "")
    if not cwd or row.tool in COMMANDS:
        return text
    before, inside, path = text.rpartition("  in ")
    if path == cwd:
        return f"{before}{inside}."
    return f"{before}{inside}{path.removeprefix(f'{cwd}/')}"


def _text_role(row: Row) -> str:
    if row.kind in ("user.prompt", "message.user"):
        return "prompt"
    return "dim" if row.flags & FADED else "path" if row.flags & COMPACT else "error" if row.level == 3 else "text"


def _right(row: Row, look: Look) -> Line:
    if row.kind == "tool.pre":
        return _came(row)
    if row.kind in ("permission.request", "question.request"):
        if row.flags & DONE:
            return [(brief(row.badge, BADGE), "dim")] if look.width >= WIDE else []
        return [("unanswered", "dim")] if row.over else [("needs you" if row.kind[0] == "p" else "asks", "ask")]
    return [(brief(row.badge, BADGE), "badge")] if row.badge not in ("", "TOOL") else []


def _came(row: Row) -> Line:
    """How far a tool is, or that it failed and how long it took. That it is a tool is said by its glyph."""
    if row.flags & DONE:
        took: Line = [(seconds_words(row.took), "time")] if row.took >= 0 else []
        return [(f"{brief(row.after_badge, BADGE)}  ", "error"), *took] if row.after_badge else took
    if row.flags & DENIED:
        return [("denied", "error")]
    if row.over:
        return [("no result", "dim")]
    return [("waiting", "ask")] if row.flags & WAITING else [("running", "running")]


def _rule(row: Row, look: Look) -> Line:
    left: Line = [*_when(row, look), ("── ", "rule"), (row.text, "dim"), (" ", "")]
    return [*left, ("─" * max(look.width - 1 - width_of(left), 0), "rule")]


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
