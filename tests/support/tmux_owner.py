"""A process that owns a session in tmux, for tests to kill: starts one, prints its pid, and waits."""

import asyncio
import json
import sys
from pathlib import Path

from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.sessions.launcher import LaunchSpec
from quarterdeck.sessions.tmux.launcher import TmuxLauncher
from tests.support.session_listener import ReportRecorder


async def main(options: dict[str, str]) -> None:
    launcher = TmuxLauncher(ReportRecorder(), Path(options["socket"]))
    spec = LaunchSpec(
        agent="claude",
        program=Path(options["claude"]),
        config_dir=Path(options["config"]),
        environment=json.loads(options["environment"]),
        hooks="",
        folder=Path(options["socket"]).parent,
    )
    start = StartSession(session_id=options["session_id"], mode="tmux", cwd=options["cwd"], by="ann", at=0.0)
    running = await launcher.launch(start, spec)
    print(running.process.pid if running.process else 0, flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
