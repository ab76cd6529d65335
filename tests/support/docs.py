"""`make docs`: the pages that are made from tables, so that they cannot rot."""

from __future__ import annotations

from pathlib import Path

import msgspec

from quarterdeck.agents.claude.hooks import HOOKS, read_hook
from quarterdeck.core.engine.messages import Heard
from quarterdeck.core.model.agent_state import STATE_AFTER
from quarterdeck.core.model.events import HIDDEN, KINDS
from quarterdeck.core.model.runtime_event import INTERACTIONS, SILENT
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.core.text.titles import UI, Ui
from tests.support.docs_settings import settings_page
from tests.support.docs_tui import tui_page

DOCS = Path(__file__).parents[2] / "docs"

FEED_HEAD = """# The feed

Every event has `seq_no` (its place in this runner's log, without a gap), `event_id` (`{run_id}:E{seq}`), `seq` (counts
within the run), `run_id` (`{session_id}:R{n}`; `R0` is outside any run), `session_id`, `runner_id`, `at` (Unix seconds,
when it was received), `kind`, `level`, `actor_id` (`user`, `agent:root`, `subagent:<id>`, `system`), `cause` (what it
follows from), `data` by kind, and on the first event that knows them the session's surroundings as `context`. `title`,
`body` and `ui` are computed when an event is shown. Order is log order.

| kind | data (`?` may be missing) | agent state | shown |
| --- | --- | --- | --- |
"""

HOOKS_HEAD = """# Claude Code's hooks

How each event of Claude Code 2.1.325 is registered by `qd install`, and what it becomes. An event that is not in this
table is recorded as `unknown.hook` and never waits.

| event | registered | may hold an agent | becomes |
| --- | --- | --- | --- |
"""


def feed_page() -> str:
    rows = []
    for kind, shape in KINDS.items():
        fields = ", ".join(f.name if f.required else f"{f.name}?" for f in msgspec.structs.fields(shape))
        rows.append(f"| `{kind}` | {fields} | {STATE_AFTER.get(kind, '')} | {_shown(kind)} |")
    return FEED_HEAD + "\n".join(rows) + "\n"


def _shown(kind: str) -> str:
    hints = UI.get(kind, Ui())
    words = [hints.badge or "", "collapsed" if hints.collapsed_default else "", "hidden" if kind in HIDDEN else ""]
    return ", ".join(word for word in words if word)


def hooks_page() -> str:
    rows = []
    for name, hook in HOOKS.items():
        since = f", from {hook.since}" if hook.since != "2.1.197" else ""
        why = f" ({hook.why})" if hook.why else ""
        holds = "yes" if INTERACTIONS.get(name, SILENT).expects_decision or hook.holds else ""
        rows.append(f"| {name} | {hook.transport}{since}{why} | {holds} | {_becomes(name)} |")
    return HOOKS_HEAD + "\n".join(rows) + "\n"


def _becomes(name: str) -> str:
    payload = {"session_id": "s", "hook_event_name": name, "task_id": "1", "tool_name": "Bash"}
    if name == "MessageDisplay":
        return "a stream, not the feed"
    result = reduce(State(runner_id="r"), Heard(event=read_hook(payload, event_id="e", at=0.0), attended=True))
    return ", ".join(
        f"`{event.kind}`" for event in result.events if event.kind != "run.start" or name == "UserPromptSubmit"
    )


PAGES = {"feed.md": feed_page, "hooks.md": hooks_page, "settings.md": settings_page, "tui.md": tui_page}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
