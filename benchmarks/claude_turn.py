"""A turn of 25 tool calls of the real Claude Code, connected to Quarterdeck, against the same turn of a bare one."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.common import Figure, main
from tests.support.claude import ClaudeHome, claude_325
from tests.support.connected_claude import Connected
from tests.support.model_server import Turn, text, tool

ROUNDS = int(os.environ.get("QD_BENCH_ROUNDS", "4"))
TOOLS = 25
GOAL_PERCENT = 3.0
MODEL_SECONDS = 0.5
"""How long the scripted model thinks before each answer. A real one takes longer, and so hides more of the overhead."""
PROMPT = "run the checks"
FLAGS = ("--allowedTools", "Bash(true:*)")


def figures() -> list[Figure]:
    cli = claude_325()
    if cli is None:
        raise SystemExit("the turn needs the Claude Code of claude-agent-sdk; run: make parts")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        connected = stack.enter_context(Connected(Path(folder) / "connected", cli))
        bare = ClaudeHome(Path(folder) / "bare", cli=cli, model_url=connected.model.url)
        found = {}
        for pause in (MODEL_SECONDS, 0.0):
            calls = [Turn(tool("Bash", command=f"true {n}", description="a check"), before=pause) for n in range(TOOLS)]
            connected.model.scripts[PROMPT] = [*calls, Turn(text("all checks pass"), before=pause)]
            found[pause] = [(turn_ms(connected.claude), turn_ms(bare)) for _ in range(ROUNDS + 1)][1:]
        expected = TOOLS * (ROUNDS + 1) * len(found)
        if (recorded := len(connected.daemon.events("tool.post"))) != expected:
            raise RuntimeError(f"{recorded} tool calls were recorded, not {expected}")
    percent = (median(with_daemon / theirs for with_daemon, theirs in found[MODEL_SECONDS]) - 1) * 100
    alone = median(theirs for _, theirs in found[MODEL_SECONDS]) / 1000
    added = median(with_daemon - theirs for with_daemon, theirs in found[0.0]) / TOOLS
    at_once = median(theirs for _, theirs in found[0.0]) / 1000
    return [
        Figure(
            name=f"a turn of {TOOLS} tool calls: overhead",
            value=round(percent, 2),
            unit="%",
            against=f"bare Claude Code, {MODEL_SECONDS:g} s of model a call: {alone:.2f} s",
            goal=f"≤ {GOAL_PERCENT:g}",
            ok=percent <= GOAL_PERCENT,
        ),
        Figure(
            name=f"a turn of {TOOLS} tool calls: added to each call",
            value=round(added, 1),
            unit="ms",
            against=f"bare Claude Code and a model that answers at once: {at_once:.2f} s",
            goal="",
            ok=True,
        ),
    ]


def turn_ms(home: ClaudeHome) -> float:
    """How long the turn took, as Claude Code itself reports it: its start is not part of it."""
    finished = home.run_headless(PROMPT, *FLAGS)
    if finished.text != "all checks pass":
        raise RuntimeError(f"the turn went wrong: {finished}")
    return float(finished.json["duration_ms"])


if __name__ == "__main__":
    main(figures)
