"""The mark of an unclean stop."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.config.settings import StoreSettings
from quarterdeck.core.model.state import State
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.service import HookCalls, StoreMaintenance
from quarterdeck.daemon.telemetry.counters import Histogram
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


class Scene:
    """The maintenance of an empty log, and the mark beside it."""

    def __init__(self, folder: Path) -> None:
        self.log = Log.open(folder / "events.db")
        self.reader = Reader(folder / "events.db")
        self.mark = folder / "unclean"
        disk = DiskReserve(folder)
        loop = Loop(State(runner_id="otter"), self.log, self.reader, Deadlines(SessionsFolder(folder)), disk)
        self.work = StoreMaintenance(loop, self.log, self.reader, disk, StoreSettings(), self.mark)

    def stop(self) -> bool:
        """Stop it; True if the mark is left."""
        self.work.stop()
        self.reader.close()
        self.log.close()
        return self.mark.exists()


async def test_the_mark_exists_while_it_works(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.work.start()
    assert scene.mark.exists()
    assert not scene.stop()


async def test_a_start_that_failed_leaves_the_mark_of_an_unclean_stop(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.mark.touch()
    assert scene.stop()


async def test_a_check_that_could_not_finish_is_due_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.mark.touch()
    scene.work.start()
    assert scene.stop()


def test_hook_calls_are_taken_once() -> None:
    seconds = Histogram((0.1, 1.0))
    calls = HookCalls(seconds)
    seconds.observe(0.25)
    seconds.observe(0.5)
    assert calls.take() == (2, 0.75)
    assert calls.take() == (0, 0.0)
    seconds.observe(0.125)
    assert calls.take() == (1, 0.125)
