"""`reduce()` an event with 200 live sessions, early and late in a long log."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

from benchmarks.common import Figure, main, percentile
from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce

SESSIONS = 200
EARLY, LATE, WINDOW = 10_000, 1_000_000, 20_000
CALL = {"tool_name": "Bash", "tool_input": {"command": "pytest tests/auth -q", "description": "run tests"}}


def payloads() -> Iterator[dict[str, object]]:
    """A believable mix: prompts, tool calls and results, stops, over all sessions in turn."""
    turn = 0
    while True:
        turn += 1
        for session in range(SESSIONS):
            base = {"session_id": f"session-{session}", "cwd": "/home/dev/project", "permission_mode": "default"}
            yield {**base, "hook_event_name": "UserPromptSubmit", "prompt": "make the tests pass"}
            for n in range(4):
                use = {"tool_use_id": f"toolu_{turn}_{n}", **base, **CALL}
                yield {**use, "hook_event_name": "PreToolUse"}
                yield {**use, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "ok"}}
            yield {**base, "hook_event_name": "Stop"}


def hooks_received(count: int, source: Iterator[dict[str, object]], first: int) -> list[HookReceived]:
    return [
        HookReceived(event=read_hook(next(source), event_id=f"e{first + n}", at=float(first + n))) for n in range(count)
    ]


def per_event(state: State, inputs: list[HookReceived]) -> tuple[State, float]:
    """The state after the inputs, and the seconds of CPU per recorded event."""
    before, started = state.seq_no, time.process_time()
    for message in inputs:
        state = reduce(state, message).state
    return state, (time.process_time() - started) / (state.seq_no - before)


def figures() -> list[Figure]:
    gc.freeze()
    source, state, count = payloads(), State(runner_id="bench"), 0
    early: list[float] = []
    late: list[float] = []
    while state.seq_no < LATE:
        inputs = hooks_received(WINDOW, source, count)
        count += WINDOW
        state, seconds = per_event(state, inputs)
        if EARLY <= state.seq_no <= EARLY + 10 * WINDOW:
            early.append(seconds)
        if state.seq_no > LATE - 10 * WINDOW:
            late.append(seconds)
    at_first, at_last = percentile(early, 50) * 1e6, percentile(late, 50) * 1e6
    floor = _floor()
    return [
        Figure(
            name="reduce() with 200 sessions",
            value=round(at_last, 2),
            unit="µs",
            against="",
            goal="≤ 25",
            ok=at_last <= 25,
        ),
        Figure(
            name="reduce() from 10k to 1M events",
            value=round(at_last / at_first, 3),
            unit="×",
            against="itself at 10k",
            goal="≤ 1.2",
            ok=at_last / at_first <= 1.2,
        ),
        Figure(
            name="reduce() against copying a dict of 200",
            value=round(at_last / floor, 1),
            unit="×",
            against="dict.copy()",
            goal="",
            ok=True,
        ),
    ]


def _floor() -> float:
    sessions = dict.fromkeys(range(SESSIONS))
    started = time.process_time()
    for _ in range(20_000):
        sessions.copy()
    return (time.process_time() - started) / 20_000 * 1e6


if __name__ == "__main__":
    main(figures)
