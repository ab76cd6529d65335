"""A process that owns sessions in tmux, to be killed: starts one as it is told, says where, and waits."""

import asyncio
import json
import sys
from pathlib import Path

from quarterdeck.core.engine.session_messages import Start
from quarterdeck.sessions.launcher import Kit
from quarterdeck.sessions.tmux.launcher import TmuxWay
from tests.support.ears import Heard


async def main(told: dict[str, str]) -> None:
    way = TmuxWay(Heard(), Path(told["socket"]))
    kit = Kit(
        claude=Path(told["claude"]),
        config_dir=Path(told["config"]),
        environment=json.loads(told["environment"]),
        hooks="",
        folder=Path(told["socket"]).parent,
    )
    start = Start(session_id=told["session_id"], mode="tmux", cwd=told["cwd"], by="ann", at=0.0)
    running = await way.launch(start, kit)
    print(running.process.pid if running.process else 0, flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
