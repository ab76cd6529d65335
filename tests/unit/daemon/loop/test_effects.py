"""The table of performers."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from quarterdeck.core.engine.messages import Effect, Notify, TimePassed
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import Result
from quarterdeck.core.text.notifications import Notice
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.effects import EffectPerformer
from quarterdeck.daemon.loop.queued_input import QueuedInput
from quarterdeck.daemon.loop.waiters import Waiters
from quarterdeck.drivers.claude.session_files import SessionsFolder

NOTICE = Notice(notice_id="n1", at=1.0, risk="low", title="one waits", message="Bash", requests=())


def performer(folder: Path) -> EffectPerformer:
    return EffectPerformer(Waiters(), Deadlines(SessionsFolder(folder)), lambda: None)


def test_every_effect_has_a_performer(tmp_path: Path) -> None:
    assert performer(tmp_path)._performers.keys() == set(get_args(Effect))


def test_an_effect_goes_to_the_part_that_is_assigned_to_its_type(tmp_path: Path) -> None:
    sent: list[Notify] = []
    effects = performer(tmp_path)
    effects.assign(sent.append, Notify)
    notify = Notify(channels=("desktop",), notice=NOTICE)
    result = Result(State(runner_id="otter"), [], [notify], {}, {})
    effects.perform(QueuedInput(TimePassed(at=1.0)), result)
    assert sent == [notify]
