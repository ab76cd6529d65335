"""Whole rulebooks against the corpora of shell texts: no bypass is allowed, everyday lines get the expected verdict."""

from __future__ import annotations

import pytest

from tests.support.corpora import (
    DANGEROUS_CORPORA,
    EVASIONS,
    EVERYDAY,
    EXPECTED,
    RISK_CORPORA,
    held_out_outcomes,
    outcome,
    risk_levels,
)
from tests.support.shell_corpus import corpus


@pytest.mark.law("R2")
@pytest.mark.law("R3")
def test_no_bypass_is_allowed() -> None:
    lines = list(corpus("shell_bypasses.txt"))
    assert len(lines) >= 300
    assert [line for made, line in lines if outcome(made, line) == "allow"] == []


def test_everyday_lines_get_the_verdict_a_person_expects() -> None:
    lines = [(made, line[:1], line[1:].strip()) for made, line in corpus("shell_everyday.txt")]
    assert len(lines) >= 200
    surprising = [(line, sign) for made, sign, line in lines if outcome(made, line) != EXPECTED[sign]]
    assert surprising == []


@pytest.mark.law("R8")
def test_of_the_held_out_evasions_at_most_one_in_a_hundred_is_allowed() -> None:
    counts = held_out_outcomes(*EVASIONS)
    assert counts.total() >= 350
    assert counts["allow"] <= counts.total() * 0.01


def test_of_the_held_out_everyday_lines_few_ask() -> None:
    counts = held_out_outcomes(*EVERYDAY)
    assert counts.total() >= 350
    assert counts["ask"] <= counts.total() * 0.08


def test_few_everyday_commands_are_called_high_and_few_dangerous_ones_are_not() -> None:
    everyday, dangerous = risk_levels(*RISK_CORPORA), risk_levels(*DANGEROUS_CORPORA)
    assert min(everyday.total(), dangerous.total()) >= 300
    assert everyday["high"] + everyday["critical"] <= everyday.total() * 0.015
    assert dangerous["low"] <= dangerous.total() * 0.005
    assert dangerous["low"] + dangerous["medium"] <= dangerous.total() * 0.06
