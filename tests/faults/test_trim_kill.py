"""Killed in the middle of trimming and indexing: the chain is whole, no number comes back, every word is found."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quarterdeck.store.hash_chain import verify
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.store.search_index import SearchIndex
from tests.support.scene import Scene

pytestmark = pytest.mark.faults

EVENTS = 6_000
WORK = """
import sys
from pathlib import Path
from quarterdeck.store.log import Log
from quarterdeck.store.search_index import SearchIndex
log = Log.open(Path(sys.argv[1]))
index = SearchIndex(log.path)
print("ready", flush=True)
while log.trim(int(sys.argv[2]), at=0.0, why="a test") or index.add():
    index.tidy()
    print("a step", flush=True)
"""


def build(path: Path) -> int:
    scene = Scene()
    log = Log.open(path, durability="normal")
    while log.seq_no < EVENTS:
        for _ in range(200):
            scene.receives("UserPromptSubmit", prompt=f"word{scene.state.seq_no % 7} again")
        log.append([Entry(scene.events[log.seq_no :])])
    log.save_snapshot(scene.state)
    log.close()
    return log.seq_no


@pytest.mark.law("E2")
@pytest.mark.law("A11")
def test_a_kill_while_trimming_and_indexing_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    last = build(path)
    draw = random.Random(7)
    for turn in range(1, 13):
        command = [sys.executable, "-c", WORK, str(path), str(turn * last // 14)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as working:
            assert working.stdout is not None
            assert working.stdout.readline() == "ready\n"
            for _ in range(draw.randint(1, 8)):
                working.stdout.readline()
            time.sleep(draw.random() * 0.01)
            working.send_signal(signal.SIGKILL)
        db = sqlite3.connect(path)
        assert verify(db) is None
        kept = db.execute("SELECT count(*) FROM events WHERE body LIKE '%word3%'").fetchone()[0]
        db.close()
        log = Log.open(path)
        assert (log.seq_no, log.damage) == (last, None)
        log.close()
        reader = Reader(path)
        found = reader.feed(FeedQuery(search="word3", before=2**53, limit=EVENTS)).events
        reader.close()
        assert len(found) == kept > 0
    assert log.trimmed > 0
    index = SearchIndex(path)
    while index.add():
        pass
    assert index.seq_no == last
    index.close()
