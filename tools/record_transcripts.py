"""Record small transcripts of the installed CLIs: `python -m tools.record_transcripts`."""

import re
import shutil
import tempfile
from pathlib import Path

from tests.support.claude import ClaudeHome, claude_197, claude_325, version
from tests.support.model_server import ModelServer, Turn, text, tool

RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings" / "transcripts"
LONGEST = 2_000
"""Longer lines are the CLI's own prompts and tool tables, which Quarterdeck does not read."""

FORK = "0f0f0f0f-1111-4222-8333-444444444444"
HELPER = tool("Agent", description="helper", prompt="helper job", subagent_type="general-purpose")
SCRIPTS = {
    "do it": [
        Turn(text("first I look"), tool("Bash", command="echo hi", description="x")),
        Turn(text("then I send"), HELPER),
        Turn(text("all done")),
    ],
    "helper job": [Turn(tool("Bash", command="echo helper", description="x")), Turn(text("helped"))],
    "again": [Turn(text("second answer"))],
    "another way": [Turn(text("third answer"))],
    "broken": [Turn(error=400)],
}


def record(folder: Path, cli: Path) -> Path:
    """Record one session (tools, a sub-agent, a compaction, a name, an API error) and a fork of it. Returns the folder
    of their transcripts."""
    with ModelServer(SCRIPTS) as model:
        home = ClaudeHome(folder, cli=cli, model_url=model.url)
        session_id = str(home.run_headless("do it", "--allowedTools", "Bash,Agent").json["session_id"])
        home.run_headless("/compact", "--resume", session_id)
        home.run_headless("again", "--resume", session_id, "--name", "a name")
        home.run_headless("broken", "--resume", session_id)
        home.run_headless("another way", "--resume", session_id, "--fork-session", "--session-id", FORK)
    (main,) = (home.config / "projects").glob(f"*/{session_id}.jsonl")
    return main.parent


def keep(source: Path, target: Path, folder: Path) -> None:
    lines = [line for line in source.read_text().splitlines() if len(line) <= LONGEST]
    target.parent.mkdir(parents=True, exist_ok=True)
    encoded = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    target.write_text("\n".join(lines).replace(str(folder), "/scratch").replace(encoded, "-scratch") + "\n")


def main() -> None:
    for cli in filter(None, (claude_325(), claude_197())):
        target = RECORDINGS / version(cli)
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch).resolve()
            kept = record(folder, cli)
            (session,) = (file for file in kept.glob("*.jsonl") if file.stem != FORK)
            keep(kept / f"{FORK}.jsonl", target / "fork.jsonl", folder)
            keep(session, target / "session.jsonl", folder)
            for agent in kept.glob("*/subagents/*.jsonl"):
                keep(agent, target / "session" / "subagents" / agent.name, folder)


if __name__ == "__main__":
    main()
