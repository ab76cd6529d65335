"""Real places are found aside: many at once all get theirs, and none waits for a file system that hangs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quarterdeck.core.model.runtime_event import Context, RuntimeEvent
from quarterdeck.daemon.ingest.symlinks import PlaceFinder


def test_many_at_once_are_all_looked_up(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    async def find() -> list[str | None]:
        finder = PlaceFinder()
        found = await asyncio.gather(*(finder.find(written(n), str(tmp_path)) for n in range(60)))
        return [places.path for places in found]

    assert asyncio.run(find()) == [str(tmp_path / "real" / f"{n}.py") for n in range(60)]


def written(n: int) -> RuntimeEvent:
    payload = {"tool_name": "Write", "tool_input": {"file_path": f"link/{n}.py", "content": ""}}
    return RuntimeEvent(
        id=f"e{n}", at=1.0, hook_name="PermissionRequest", session_id="s", payload=payload, context=Context()
    )
