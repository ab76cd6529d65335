"""A row as styled lines of a given width: time, kind, subject and outcome. Pure."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from rich.cells import set_cell_size

from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.durations import duration_words
from quarterdeck.core.text.feed.row_words import CALLS, DECISIONS, OUTCOMES, REQUESTS, short_tool_name
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, cells
from quarterdeck.surfaces.tui.feed.render.cut_text import brief, cut_middle, fitted, spread, width_of
from quarterdeck.surfaces.tui.feed.rows.feed_row import FeedRow
from quarterdeck.surfaces.tui.feed.rows.preview import ASIDE_CELLS, RowPreview, preview_lines, unpacked
from quarterdeck.surfaces.tui.feed.rows.subagents import SubagentGroup
from quarterdeck.surfaces.tui.feed.rows.summary import (
    ASIDE,
    DENIED,
    DONE,
    FADED,
    FAILED,
    PREVIEWED,
    WAITS,
    WIDE_ASIDE,
)

NAME = 8
BADGE = 8
LABEL = 11
"""Cells for the session's name when several sessions are shown."""
KIND = 20
"""Cells for the kind of an event that is shown as it is stored."""
NARROW = 60
LABELLED = 52
"""Width from which on a row names its session when several are shown."""
MOST_ASIDE = 30
"""Cells at the right end of the first line that are left for how a turn ended."""
MIN_VERDICT = 16
"""Cells below which a decision is only a glyph."""
MOST_SUBJECT = 40
"""Cells that the subject of a tool call keeps beside the words of a decision."""
MOST_OUTCOME = 18
"""Cells that the outcome of a tool call keeps beside a longer subject."""
NARROW_ROOM = 44
"""Cells for a text below which a failure takes a line of its own."""
MIN_SUBJECT = 16
"""Cells that the subject of a tool call keeps beside its outcome."""
COMMANDS = frozenset({ToolKind.SHELL, ToolKind.CONSOLE})
"""Tools whose input is shown unchanged."""

KINDS: dict[str, tuple[str, str, str]] = {
    "user.prompt": ("▸", "prompt", "you"),
    "user.expansion": ("▸", "prompt", "you"),
    "message.user": ("▸", "prompt", "you"),
    "message.assistant": ("◂", "speech", "claude"),
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
    "rule.add": ("+", "speech", "rule"),
    "rule.remove": ("−", "speech", "rule"),
    "unknown.hook": ("?", "dim", "hook"),
}
"""Glyph, role and name of each kind; other kinds are shown by the first part of their own name."""

PROMPTS = frozenset({"user.prompt", "message.user"})
ENDS = frozenset({"stop.request", "stop.failure", "run.end", "turn.result"})


class RowLayout(Struct, frozen=True, kw_only=True):
    """The settings that all rows share. `label`: the name of a session, if several are shown. `cwd`: a session's
    folder, if it is known."""

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


def reserved_cells(flags: int, room: int) -> int:
    """The cells that the first line of a preview leaves free at its right end."""
    return min(MOST_ASIDE, room // 3) if flags & WIDE_ASIDE else ASIDE_CELLS if flags & ASIDE else 0


def is_narrow(room: int) -> bool:
    """True if a failure has a line of its own, because it does not fit beside its call."""
    return room < NARROW_ROOM


def row_lines(row: FeedRow, layout: RowLayout) -> list[Row]:
    """The lines of a row, without those of an opened one."""
    if row.stored:
        return [_stored(row, layout)]
    if row.kind == "run.start":
        return [_rule(row, layout)]
    if row.kind in CALLS and row.tool:
        return [_call(row, layout), *_below(row, layout)]
    text = unpacked(row.text)
    parts = preview_lines(text, layout.room, reserved_cells(row.flags, layout.room)) if row.flags & PREVIEWED else []
    role = "prompt" if row.kind in PROMPTS else "preview" if text.line else "text"
    made = [_head(row, text.line or (parts.pop(0) if parts else ""), layout)]
    inner = " " * layout.left + _indent(row)
    return made + [[TextSpan(inner), TextSpan(part, role)] for part in parts]


def _stored(row: FeedRow, layout: RowLayout) -> Row:
    """An event as it is stored: its kind and its title."""
    role = "error" if row.level == 3 else "warn" if row.level == 2 else "dim" if row.flags & FADED else "text"
    kind: Row = [TextSpan(f"{row.kind:<{KIND}} ", "label")] if layout.width >= NARROW else []
    return fitted([*_time_spans(row, layout), *kind, TextSpan(unpacked(row.text).line, role)], layout.width - 1)


def _below(row: FeedRow, layout: RowLayout) -> list[Row]:
    """The lines of an error."""
    after = row.last("tool.failure") if row.state & FAILED else None
    text = unpacked(after.text) if after is not None else RowPreview("")
    below = text.below or (text.line if is_narrow(layout.room) else "")
    lead = " " * layout.lead + _indent(row) + "  "
    lines = below.split("\n") if below else []
    return [fitted([TextSpan(lead), TextSpan(line, "result")], layout.width) for line in lines]


def _indent(row: FeedRow) -> str:
    return "┆ " if row.actor.startswith("subagent:") else ""


def _time_spans(row: FeedRow, layout: RowLayout) -> list[TextSpan]:
    width = layout.time_width
    made = [TextSpan(f" {layout.clock(row.at)[:width]} ", "time") if width else TextSpan(" ")]
    if layout.label is not None and layout.width >= LABELLED:
        made.append(TextSpan(set_cell_size(brief(layout.label(row.session), LABEL), LABEL) + " ", "session"))
    return made


def _head(row: FeedRow, text: str, layout: RowLayout) -> Row:
    glyph, role, name = KINDS.get(row.kind, ("·", "dim", row.kind.partition(".")[0]))
    if row.flags & FADED:
        role = "dim"
    left = [*_time_spans(row, layout), TextSpan(_indent(row), "rule"), TextSpan(f"{glyph} ", role)]
    if layout.width >= NARROW:
        left.append(TextSpan(f"{name:<{NAME}} ", role))
    middle, right = _between(row), _right(row, layout)
    return spread([*left, TextSpan(text, _text_role(row)), *middle], right, layout.width - 1)


def _between(row: FeedRow) -> Row:
    """What follows the text of a sub-agent."""
    if row.kind != "subagent.start" or row.group is None:
        return []
    last = row.last("subagent.stop")
    words = f"  {unpacked(last.text).line}" if last is not None else ""
    return [TextSpan("  "), *_group(row.group), TextSpan(words, "dim")]


def _call(row: FeedRow, layout: RowLayout) -> Row:
    """A tool call with all that became of it: `● Bash  pytest -q  2 passed      ✓ rule Bash(pytest:*)  40 ms`."""
    glyph, role = _tool_mark(row)
    name = brief(short_tool_name(row.tool, row.tool_kind), 24)
    left = [*_time_spans(row, layout), TextSpan(_indent(row), "rule"), TextSpan(f"{glyph} ", role)]
    left.append(TextSpan(f"{name:<{NAME}} " if layout.width >= NARROW else f"{name} ", "tool"))
    head, after = row.parts[0], row.last(*OUTCOMES)
    named = next((part for kind in CALLS[:-2] for part in row.parts if part.kind == kind), head)
    subject = _relative(row, unpacked(named.text).line if named.kind not in OUTCOMES else "", layout)
    state = _tool_state(row)
    room = layout.width - 1 - width_of(left) - (width_of(state) + 1 if state else 0)
    kept = MIN_SUBJECT if row.last("question.decision") is not None else MOST_SUBJECT
    right = [*_verdict(row, room - min(cells(subject) + 2, kept)), *state]
    room -= width_of(right) - width_of(state)
    outcome = unpacked(after.text).line if after is not None else ""
    if row.state & FAILED and is_narrow(layout.room):
        outcome = ""  # on a line of its own
    if row.state & FAILED and outcome:
        share = max(room // 2, room - cells(subject) - 2)
        outcome = cut_middle(outcome, max(share - 2, 8))
        subject = cut_middle(subject, max(room - cells(outcome) - 2, MIN_SUBJECT))
    else:
        kept = min(cells(outcome) + 2, MOST_OUTCOME) if outcome and room > 2 * MOST_OUTCOME else 0
        subject = cut_middle(subject, max(room - kept, MIN_SUBJECT))
    path = "text" if row.tool_kind in COMMANDS else "path"
    joint = "  " if subject and outcome else ""
    result = TextSpan(outcome, "error" if row.state & FAILED else "dim")
    return spread([*left, TextSpan(subject, path), TextSpan(joint), result], right, layout.width - 1)


def _tool_mark(row: FeedRow) -> tuple[str, str]:
    """Glyph and role of a tool call by its state."""
    if row.state & (FAILED | DENIED):
        return ("✗", "error") if row.state & DENIED else ("●", "error")
    if row.state & DONE:
        return "●", "ok"
    if row.over:
        return "●", "dim"
    if row.state & WAITS:
        return ("?", "question") if row.last("question.request") is not None else ("◆", "ask")
    return "●", "running"


def _relative(row: FeedRow, text: str, layout: RowLayout) -> str:
    """The text with paths relative to the agent's folder."""
    cwd = row.cwd or (layout.cwd(row.session) if layout.cwd is not None else "")
    if not cwd or row.tool_kind in COMMANDS:
        return text
    before, inside, path = text.rpartition("  in ")
    if path == cwd:
        return f"{before}{inside}."
    return f"{before}{inside}{path.removeprefix(f'{cwd}/')}"


def _text_role(row: FeedRow) -> str:
    if row.kind in PROMPTS:
        return "prompt"
    return "dim" if row.flags & FADED else "error" if row.level == 3 else "text"


def _right(row: FeedRow, layout: RowLayout) -> Row:
    """The text at the right end: the run of a prompt, how a turn ended, or a badge."""
    if row.kind in PROMPTS:
        is_shown = row.last("run.start") is not None and layout.width >= NARROW
        return [TextSpan(f"run {row.run}", "time")] if is_shown else []
    if row.kind in ENDS:
        return _ending(row, layout)
    if row.kind in REQUESTS and not row.state:
        return _verdict(row, layout.width // 3)
    return [TextSpan(brief(row.badge, BADGE), "badge")] if row.badge not in ("", "TOOL") else []


def _ending(row: FeedRow, layout: RowLayout) -> Row:
    """How a turn ended: what its run did, and what it cost."""
    parts = [row.last(kind) for kind in ("run.end", "turn.result")]
    words = " · ".join(
        unpacked(part.text).line for part in parts if part is not None and part.text and part.seq_no != row.seq_no
    )
    made = [*_verdict(row, layout.width // 3), TextSpan(words, "time")]
    return fitted(made, max(reserved_cells(row.flags, layout.room) - 1, 8)) if row.flags & PREVIEWED else made


def _verdict(row: FeedRow, room: int) -> Row:
    """Who decided; only its glyph where there is no room for more."""
    made = [unpacked(part.text).below for part in row.parts if part.kind in DECISIONS]
    words = next(filter(None, reversed(made)), "")
    role = {"✓": "ok", "✗": "error", "!": "warn"}.get(words[:1], "dim")
    if cells(words) + 2 > room:
        words = _cut_verdict(row, words, room - 2) if room > MIN_VERDICT else words[:1].strip("·")
    return [TextSpan(words, role), TextSpan("  ")] if words else []


def _cut_verdict(row: FeedRow, words: str, room: int) -> str:
    """A decision in less room: the first answers to a question, or the ends of a rule."""
    is_answer = row.last("question.decision") is not None
    return fitted([TextSpan(words)], room)[0].text if is_answer else cut_middle(words, room)


def _tool_state(row: FeedRow) -> Row:
    """The state of a tool call, or its badge and duration. The badge of a success is left out: the glyph shows it."""
    after = row.last(*OUTCOMES)
    if row.state & DONE and after is not None:
        took = after.took if after.took >= 0 else after.at - row.at if after.seq_no != row.seq_no else -1.0
        words: Row = [TextSpan(duration_words(took), "time")] if took >= 0 else []
        return [TextSpan(f"{brief(after.badge, BADGE)}  ", "error"), *words] if after.badge else words
    if row.state & DENIED:
        return [TextSpan("denied", "error")]
    if not row.state and row.last("tool.pre") is None:
        return []
    if row.over:
        return [TextSpan("no result", "dim")]
    if row.state & WAITS:
        if row.last(*DECISIONS) is not None:
            return [TextSpan("waiting", "ask")]
        is_question = row.last("question.request") is not None
        return [TextSpan("asks", "question") if is_question else TextSpan("needs you", "ask")]
    return [TextSpan("running", "running")]


def _rule(row: FeedRow, layout: RowLayout) -> Row:
    left = [*_time_spans(row, layout), TextSpan("── ", "rule"), TextSpan(row.text, "dim"), TextSpan(" ")]
    return [*left, TextSpan("─" * max(layout.width - 1 - width_of(left), 0), "rule")]


def _group(group: SubagentGroup) -> Row:
    words = f"{'▾' if group.opened else '▸'} {group.tools} tool{'' if group.tools == 1 else 's'}"
    return [TextSpan(words, "agent"), *([TextSpan(f", {group.failed} failed", "error")] if group.failed else [])]
