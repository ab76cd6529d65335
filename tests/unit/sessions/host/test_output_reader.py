"""Output is read into the replay buffer and flushed in bundles."""

import os

from quarterdeck.sessions.host.output_reader import FLUSH_BYTES, FLUSH_SECONDS, OutputReader
from quarterdeck.sessions.host.replay_buffer import ReplayBuffer


def test_output_is_flushed_when_it_has_been_gathered_for_long_enough() -> None:
    replay = ReplayBuffer(2 * FLUSH_BYTES)
    reader = OutputReader(0, replay)
    assert (reader.flush(10.0), reader.flush_due_at()) == (False, None)
    replay.add(b"one")
    assert reader.flush(10.0)
    replay.add(b"two")
    assert reader.flush_due_at() == 10.0 + FLUSH_SECONDS
    assert not reader.flush(10.0 + FLUSH_SECONDS / 2)
    assert reader.flush(10.1)
    assert reader.flush_due_at() is None


def test_much_output_is_flushed_at_once() -> None:
    replay = ReplayBuffer(4 * FLUSH_BYTES)
    reader = OutputReader(0, replay)
    replay.add(b"x")
    assert reader.flush(10.0)
    replay.add(b"x" * FLUSH_BYTES)
    assert reader.flush(10.0)


def test_the_rest_is_drained_after_the_end() -> None:
    master, program = os.openpty()
    os.set_blocking(master, False)
    replay = ReplayBuffer(FLUSH_BYTES)
    reader = OutputReader(master, replay)
    os.write(program, b"last words")
    os.close(program)
    reader.drain()
    os.close(master)
    assert replay.content(0) == b"last words"
    assert reader.read_at > 0
    assert reader.flush_due_at() is None
