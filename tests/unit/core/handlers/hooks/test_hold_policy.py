"""When a request is held for a person."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.hooks.hold_policy import should_hold, should_hold_at_gate
from tests.support.scene import Scene, bash

HEADLESS = {"entrypoint": "sdk-cli"}
TERMINAL = {"entrypoint": "cli"}
SUB_AGENT = {**TERMINAL, "agent": "a1"}


def holds(hold: str, *, attended: bool, waiter: str = "http", entrypoint: str, **more: Any) -> tuple[bool, bool]:
    """Whether a permission is held, and whether the same call is held at the gate."""
    scene = Scene(hold=hold).receives("UserPromptSubmit", prompt="go")
    received = scene.hook_received("PermissionRequest", "r1", "", entrypoint, bash("ls", **more))
    received = replace(received, attended=attended, waiter=waiter)
    step = Step(scene.state, scene.session_id, 1.0)
    return should_hold(step, received), should_hold_at_gate(step, received)


@pytest.mark.parametrize(
    ("who", "attended", "held"),
    [
        (HEADLESS, True, (True, True)),
        (HEADLESS, False, (False, False)),
        (TERMINAL, True, (True, False)),
        (TERMINAL, False, (True, False)),
        (SUB_AGENT, True, (True, True)),
        (SUB_AGENT, False, (False, False)),
    ],
)
def test_auto_holds_where_a_dialog_is_shown_or_somebody_watches(
    who: dict[str, str], attended: bool, held: tuple[bool, bool]
) -> None:
    assert holds("auto", attended=attended, **who) == held


@pytest.mark.parametrize("who", [HEADLESS, TERMINAL, SUB_AGENT])
def test_never_holds_nothing_and_always_holds_unless_a_dialog_asks_at_the_gate(who: dict[str, str]) -> None:
    assert holds("never", attended=True, **who) == (False, False)
    assert holds("always", attended=False, **who) == (True, who is not TERMINAL)


def test_a_session_over_the_sdk_has_no_dialog_but_this_one() -> None:
    assert holds("auto", attended=False, waiter="sdk", **HEADLESS)[0]
