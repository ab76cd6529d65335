"""The previous version's core and the current one give the same feed and the same answers for what an agent sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived, SendAnswer
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.wire import write_json
from tests.support.daemon import Json
from tests.support.examples import examples
from tests.support.previous_version import unpack
from tests.support.recorded_feeds import RECORDINGS, as_stored

STEPS = st.lists(st.tuples(st.sampled_from(RECORDINGS), st.sampled_from("ab"), st.booleans()), min_size=20, max_size=60)
"""Recorded payloads in any order, sent by two sessions, each while a person watches or not."""

PREVIOUS = """
import json, sys
from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.commands import Answer, Heard
from quarterdeck.core.reduce import reduce
from quarterdeck.core.state import State
from quarterdeck.wire import write_json

for line in sys.stdin:
    state, events, answers = State(runner_id="r"), [], []
    for number, (payload, attended) in enumerate(json.loads(line)):
        event = read_hook(payload, event_id=f"e{number}", at=float(number), entrypoint="cli")
        result = reduce(state, Heard(event=event, attended=attended))
        state = result.state
        events += [json.loads(write_json(made)) for made in result.events]
        answers += [json.loads(write_json(one.decision)) for one in result.effects if isinstance(one, Answer)]
    print(json.dumps([events, answers]), flush=True)
"""
"""The program that the previous version runs: one story a line, with its events and its decisions as the reply."""


class PreviousCore:
    """The previous version in a process of its own."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin, self._stdout = stdin, stdout

    def feed(self, story: list[tuple[Json, bool]]) -> Any:
        self._stdin.write(json.dumps(story) + "\n")
        self._stdin.flush()
        return json.loads(self._stdout.readline())


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreviousCore]:
    environment = {**os.environ, "PYTHONPATH": str(unpack(tmp_path_factory.mktemp("previous")))}
    command = [sys.executable, "-c", PREVIOUS]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield PreviousCore(process.stdin, process.stdout)
        process.stdin.close()
        assert process.wait(60) == 0


def without_later_fields(event: Json) -> Json:
    """An event without what the previous version did not write: the transcript in its cause."""
    if event.get("cause") is None:
        return event
    return {**event, "cause": {key: value for key, value in event["cause"].items() if key != "transcript_path"}}


def present_feed(story: list[tuple[Json, bool]]) -> Any:
    state, events, answers = State(runner_id="r"), list[Json](), list[Json]()
    for number, (payload, attended) in enumerate(story):
        event = read_hook(payload, event_id=f"e{number}", at=float(number), entrypoint="cli")
        result = reduce(state, HookReceived(event=event, attended=attended))
        state = result.state
        events += [without_later_fields(as_stored(made)) for made in result.events]
        answers += [json.loads(write_json(one.decision)) for one in result.effects if isinstance(one, SendAnswer)]
    return [events, answers]


def story_of(steps: list[tuple[Path, str, bool]]) -> list[tuple[Json, bool]]:
    return [({**json.loads(path.read_text()), "session_id": session}, attended) for path, session, attended in steps]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("attended", [True, False], ids=["watched", "alone"])
def test_every_recorded_payload_gives_the_same_feed_and_answer(
    previous: PreviousCore, recording: Path, attended: bool
) -> None:
    story = story_of([(recording, "a", attended)])
    assert present_feed(story) == previous.feed(story)


@examples(4)
@given(steps=STEPS)
def test_recorded_payloads_in_any_order_give_the_same_feed_and_answers(
    previous: PreviousCore, steps: list[tuple[Path, str, bool]]
) -> None:
    story = story_of(steps)
    assert present_feed(story) == previous.feed(story)
