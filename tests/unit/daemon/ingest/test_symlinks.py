"""Real paths are resolved in a thread: many at once are all resolved, and no call waits for a hanging file system."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quarterdeck.core.model.runtime_event import Context, EventName, RuntimeEvent
from quarterdeck.daemon.ingest.symlinks import PathResolver


def test_many_paths_at_once_are_all_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    async def find() -> list[str | None]:
        finder = PathResolver()
        found = await asyncio.gather(*(finder.resolve(written(n), str(tmp_path)) for n in range(60)))
        return [places.path for places in found]

    assert asyncio.run(find()) == [str(tmp_path / "real" / f"{n}.py") for n in range(60)]


def written(n: int) -> RuntimeEvent:
    payload = {"tool_name": "Write", "tool_input": {"file_path": f"link/{n}.py", "content": ""}}
    return RuntimeEvent(
        id=f"e{n}",
        at=1.0,
        event=EventName.PERMISSION_ASKED,
        hook_name="PermissionRequest",
        session_id="s",
        payload=payload,
        context=Context(),
    )
