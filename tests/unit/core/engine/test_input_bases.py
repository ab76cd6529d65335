"""What inputs have in common, over all of them."""

from __future__ import annotations

from typing import get_args

from quarterdeck.core.engine.input_bases import RequestInput, SessionInput, SignedInput, SignedSessionInput, TimedInput
from quarterdeck.core.engine.messages import Command, ExtensionChanged, HookReceived, Input, InputRefused, TrimLog


def test_every_input_says_when_it_came_and_a_hook_call_has_its_own_time() -> None:
    without = {kind for kind in get_args(Input) if not issubclass(kind, TimedInput)}
    assert without == {HookReceived, InputRefused}


def test_a_session_or_request_is_named_only_by_inputs_that_are_about_it() -> None:
    timed = [kind for kind in get_args(Input) if issubclass(kind, TimedInput)]
    assert all(issubclass(kind, SessionInput) for kind in timed if "session_id" in kind.__struct_fields__)
    required = {kind for kind in timed if "request_id" in kind.__struct_fields__ and not kind.__struct_defaults__}
    assert all(issubclass(kind, RequestInput) for kind in required)


def test_every_command_of_a_client_is_signed() -> None:
    unsigned = {kind for kind in get_args(Command) if "by" not in kind.__struct_fields__}
    assert unsigned == {TrimLog, ExtensionChanged}
    signed = (SignedInput, SignedSessionInput)
    assert {kind.__name__ for kind in get_args(Command) if not issubclass(kind, signed)} == {
        "Decide",
        "ExtensionChanged",
        "TrimLog",
    }
