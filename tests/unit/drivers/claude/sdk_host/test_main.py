"""The program that keeps an agent: its record, its socket and its size."""

from __future__ import annotations

import stat
from pathlib import Path

from quarterdeck.sessions.pty.host_registry import read_records
from quarterdeck.system import process_table
from tests.support.hosted_script import HostedScript
from tests.support.session_listener import eventually

MEGABYTE = 1024 * 1024


async def test_it_writes_private_files_stays_small_and_removes_them_at_the_end(tmp_path: Path) -> None:
    script = HostedScript("read line", tmp_path)
    await script.pipe.connect()
    [record] = read_records(script.folder)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in script.folder.iterdir()}
    assert modes == {f"{record.name}.json": 0o600, f"{record.name}.s": 0o600}
    assert (process_table.resident(record.host) or 0) < 15 * MEGABYTE
    await script.pipe.close()
    assert await eventually(lambda: not process_table.runs(record.host))
    assert list(script.folder.iterdir()) == []
