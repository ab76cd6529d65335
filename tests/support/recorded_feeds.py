"""The feed of every recorded hook payload. After new recordings, or when titles get other words, write it again with
`python -m tests.support.recorded_feeds`, and read the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.core.text.titles import title_of
from quarterdeck.wire import write_json

FOLDER = Path(__file__).parents[1] / "recordings"
FEEDS = FOLDER / "claude-code-feeds.json"
RECORDINGS = sorted((FOLDER / "claude-code-hooks").glob("[A-Z]*.json"))
IN_ONE_SESSION = "all in one session"
LATER = ("tool_kind", "tool_risk")
"""Fields that were added since: they are not compared."""


def feed_of(recording: Path) -> list[dict[str, Any]]:
    """The events of a payload, each with its title."""
    event = read_hook(json.loads(recording.read_text()), event_id="e1", at=1.0)
    result = reduce(State(runner_id="r"), HookReceived(event=event, attended=True))
    return [_shown(made) for made in result.events]


def session_feed() -> list[dict[str, Any]]:
    """The events of all payloads as one session sends them, so that each meets the runs, tool calls and requests of
    those before it."""
    state, made = State(runner_id="r"), list[dict[str, Any]]()
    for number, recording in enumerate(RECORDINGS):
        payload = {**json.loads(recording.read_text()), "session_id": "recorded"}
        event = read_hook(payload, event_id=f"e{number}", at=float(number), entrypoint="cli")
        result = reduce(state, HookReceived(event=event, attended=True))
        state = result.state
        made += [_shown(one) for one in result.events]
    return made


def _shown(made: FeedEvent) -> dict[str, Any]:
    return {"title": title_of(made), **as_stored(made)}


def as_stored(made: FeedEvent) -> dict[str, Any]:
    """An event as the log holds it, without the fields that were added since."""
    event = json.loads(write_json(made))
    return {**event, "data": {key: value for key, value in event["data"].items() if key not in LATER}}


def main() -> None:
    feeds = {recording.stem: feed_of(recording) for recording in RECORDINGS} | {IN_ONE_SESSION: session_feed()}
    lines = (json.dumps({name: feed}, ensure_ascii=False, sort_keys=True)[1:-1] for name, feed in feeds.items())
    FEEDS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
