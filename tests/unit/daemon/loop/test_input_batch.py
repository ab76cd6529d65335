"""A batch of inputs in one transaction."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.state import State
from quarterdeck.daemon.loop.input_batch import record_batch
from quarterdeck.daemon.loop.queued_input import Envelope, QueuedInput
from quarterdeck.store.log import Log


def prompt(text: str, envelope: Envelope | None = None) -> QueuedInput:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": text}
    return QueuedInput(HookReceived(event=read_hook(payload, event_id=text, at=1.0)), envelope)


def test_each_input_is_decided_on_the_state_after_the_one_before(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    batch = [prompt("one", Envelope("r1", b"digest")), prompt("two")]
    recorded = record_batch(State(runner_id="otter"), batch, log, is_heavy=False)
    assert [event.seq_no for event in recorded.events] == list(range(1, recorded.state.seq_no + 1))
    assert log.seq_no == recorded.state.seq_no
    assert log.envelope("r1") == b"digest"
    log.close()
