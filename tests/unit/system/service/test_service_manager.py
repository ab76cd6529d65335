"""Commands to a service manager, run and refused."""

from __future__ import annotations

import os

import pytest

from quarterdeck.errors import Refused
from quarterdeck.system.service.service_manager import carry_out


def test_the_first_command_that_fails_is_named_with_its_words() -> None:
    fails = ("sh", "-c", "echo some words; echo no such unit >&2; exit 4")
    with pytest.raises(Refused, match=r"no such unit$"):
        carry_out([("true",), fails, ("sh", "-c", "exit 9")], os.environ)


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(Refused, match="no-such-program could not be started"):
        carry_out([("no-such-program",)], os.environ)
