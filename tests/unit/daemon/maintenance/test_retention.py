"""Retention: events that the settings do not keep are trimmed, on record and a few at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.config.settings import SMALLEST_LOG, StoreSettings
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.state import Settings
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.retention import DAY, Retention
from quarterdeck.daemon.setup.state_rebuild import recover
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.counts.counts_file import settled_upto
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.counts.series_reader import read_series
from quarterdeck.store.hash_chain import verify
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader
from quarterdeck.views.counts.series import SeriesQuery
from quarterdeck.wire import write_json


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[Loop, Log, Reader]]:
    log = Log.open(folder / "events.db", durability="normal")
    reader = Reader(log.path)
    loop = Loop(
        recover(log, "r", Settings(hold="always")), log, reader, Deadlines(SessionsFolder(folder)), DiskReserve(folder)
    )
    yield loop, log, reader
    loop.stop()
    reader.close()
    log.close()


async def submit_prompt(loop: Loop, words: str, at: float, hook: str = "UserPromptSubmit") -> None:
    body = {"session_id": "s1", "hook_event_name": hook, "prompt": words, "tool_name": "Bash", "tool_input": {}}
    await loop.receive(HookReceived(event=read_hook(body, event_id=f"{at}{words[:9]}", at=at), attended=True))


@pytest.mark.law("E13")
async def test_events_are_trimmed_by_age(tmp_path: Path) -> None:
    async with running(tmp_path) as (loop, log, reader):
        now = time.time()
        for days in (9, 8, 7.5, 3, 8, 1):
            await submit_prompt(loop, f"{days} days ago", now - days * DAY)
        kept = [e for e in log.events_after(0) if e.seq_no > reader.last_before(now - 7 * DAY)]
        await Retention(loop, log, reader, StoreSettings(retention_days=7)).trim_by_settings()
        left = list(log.events_after(0))
        assert left[:-1] == kept, "what stands behind a younger event stays: order is log order"
        assert (left[-1].kind, left[-1].data.upto, left[-1].data.why) == (
            "log.trim",
            kept[0].seq_no - 1,
            "store.retention_days",
        )
        state = loop.state
    async with running(tmp_path) as (loop, log, reader):
        assert log.damage is None
        assert write_json(loop.state) == write_json(state)


async def test_events_are_trimmed_by_size(tmp_path: Path) -> None:
    async with running(tmp_path) as (loop, log, reader):
        for n in range(300):
            await submit_prompt(loop, f"{n} " + "x" * 10_000, float(n))
        assert log.used_bytes() > 2 * SMALLEST_LOG
        keeping = Retention(loop, log, reader, StoreSettings(max_bytes=2 * SMALLEST_LOG))
        await keeping.trim_by_settings()
        assert SMALLEST_LOG < log.used_bytes() <= 2 * SMALLEST_LOG
        trimmed = log.trimmed
        await keeping.trim_by_settings()
        assert log.trimmed == trimmed > 0
        with sqlite3.connect(log.path) as db:
            assert verify(db) is None
        db.close()


async def test_a_pending_request_keeps_the_log(tmp_path: Path) -> None:
    async with running(tmp_path) as (loop, log, reader):
        await submit_prompt(loop, "first", 1.0)
        await submit_prompt(loop, "asks", 2.0, "PermissionRequest")
        [request] = loop.state.requests.values()
        await submit_prompt(loop, "last", 3.0)
        await Retention(loop, log, reader, StoreSettings(retention_days=1)).trim_by_settings()
        assert log.trimmed == request.seq_no - 1


async def test_nothing_is_trimmed_by_default(tmp_path: Path) -> None:
    async with running(tmp_path) as (loop, log, reader):
        await submit_prompt(loop, "old", 1.0)
        await Retention(loop, log, reader, StoreSettings()).trim_by_settings()
        assert log.trimmed == 0


async def test_events_stay_until_they_were_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as (loop, log, reader):
        now = time.time()
        for days in (9, 8, 1):
            await submit_prompt(loop, f"{days} days ago", now - days * DAY)
        counter = EventCounter(log.path)
        seen: list[int] = []

        def counted() -> int:
            """The counts, which are behind the first time."""
            upto = settled_upto(log.path)
            seen.append(upto)
            counter.add()
            return upto

        await Retention(loop, log, reader, StoreSettings(retention_days=7), counted).trim_by_settings()
        counter.close()
        assert (seen[0], log.trimmed > 0) == (0, True)
        assert seen[-1] >= log.trimmed
        query = SeriesQuery(metric="prompts", since=now - 30 * DAY, until=now)
        (prompts,) = read_series(log.path, query).series
        assert prompts.total == 3
