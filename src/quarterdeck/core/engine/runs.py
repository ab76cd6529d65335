"""Opening a session's run: one prompt until its stop."""

from __future__ import annotations

from quarterdeck.core.engine.fold import preview
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.agent_state import RESTING
from quarterdeck.core.model.event_data.session_data import RunStartData, Trigger
from quarterdeck.core.model.events import SYSTEM, USER


def start_run(step: Step, trigger: str, prompt: str | None = None) -> None:
    """Open a run; only a prompt that a person wrote makes the person its actor."""
    short = preview(prompt) if prompt else None
    data = RunStartData(trigger=Trigger(type=trigger, prompt_preview=short))
    step.emit("run.start", data, actor=USER if trigger == "user_prompt_submit" else SYSTEM)


def ensure_run(step: Step) -> None:
    """Open a run unless one is open: the agent works."""
    if step.session.run is None:
        start_run(step, "other")


def ensure_run_unless_resting(step: Step) -> None:
    """Open a run unless one is open or the agent has stopped: a result that comes after the stop belongs to no run."""
    if step.session.agent_state not in RESTING:
        ensure_run(step)
