"""Pairing codes and step-ups against a fixed clock."""

from __future__ import annotations

import pytest

from quarterdeck.api.http.credentials import SCOPES, verifier_of
from quarterdeck.api.http.pairing_codes import (
    ASK_SECONDS,
    COOKIE_KINDS,
    PAGE_SCOPES,
    PURPOSES,
    TOKEN_KINDS,
    PairingCodes,
    StepUps,
)


class Ticks:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def codes_at(ticks: Ticks) -> PairingCodes:
    return PairingCodes(ticks, verifier_of)


@pytest.mark.law("A9")
def test_a_phone_may_watch_and_decide_and_a_page_all_but_admin() -> None:
    assert {"observe", "approve"} == {*PURPOSES["phone"].scopes} == {*PURPOSES["deck"].scopes}
    assert {*PURPOSES["page"].scopes} == {*SCOPES} - {"ingest", "admin"}
    assert all({*purpose.scopes} <= {*PAGE_SCOPES} for purpose in PURPOSES.values())


def test_each_purpose_has_a_way_to_sign_in() -> None:
    assert {name for name, purpose in PURPOSES.items() if purpose.by_link or purpose.by_token} == {*PURPOSES}
    assert {"page", "phone"}.isdisjoint(TOKEN_KINDS)
    assert "editor" not in COOKIE_KINDS


@pytest.mark.law("A14")
@pytest.mark.parametrize("name", PURPOSES)
def test_a_code_is_good_once_and_for_its_time(name: str) -> None:
    ticks = Ticks()
    codes = codes_at(ticks)
    first, second, third = (codes.new(name) for _ in range(3))
    assert codes.take(first) == PURPOSES[name]
    assert codes.take(first) is None
    ticks.at += PURPOSES[name].code_seconds - 0.1
    assert codes.take(second) == PURPOSES[name]
    ticks.at += 0.1
    assert codes.take(third) is None
    assert codes.take("\ud800") is None


def test_a_code_may_be_good_for_longer() -> None:
    ticks = Ticks()
    codes = codes_at(ticks)
    code = codes.new("page", 600.0)
    ticks.at += 599.0
    assert codes.take(code) is not None


def test_unused_codes_do_not_pile_up() -> None:
    codes = codes_at(Ticks())
    made = [codes.new() for _ in range(40)]
    assert [codes.take(code) is not None for code in reversed(made)] == [True] * 16 + [False] * 24


@pytest.mark.law("A14")
def test_after_five_wrong_codes_none_is_good_until_another_is_made() -> None:
    codes = codes_at(Ticks())
    code = codes.new("phone")
    assert not any(codes.take(f"wrong {n}") for n in range(4))
    assert not any(codes.take(f"of another site {n}", counts=False) for n in range(9))
    assert codes.take(code) is not None
    code = codes.new("phone")
    assert not any(codes.take(f"wrong {n}") for n in range(5))
    assert codes.take(code) is None
    assert codes.take(codes.new()) is not None


def test_a_step_up_is_confirmed_once_with_the_number_that_the_device_shows() -> None:
    step_ups = StepUps(Ticks())
    number = step_ups.ask("t1").number
    assert step_ups.number("t1") == number
    assert not step_ups.take("t1", f"{(int(number) + 1) % 10_000:04}")
    assert not step_ups.take("t2", number)
    assert step_ups.take("t1", number)
    assert not step_ups.take("t1", number)
    assert step_ups.number("t1") is None


def test_a_step_up_expires_and_only_so_many_wait() -> None:
    ticks = Ticks()
    step_ups = StepUps(ticks)
    for n in range(100):
        step_ups.ask(f"t{n}")
    assert sum(step_ups.number(f"t{n}") is not None for n in range(100)) == 32
    ticks.at += ASK_SECONDS
    assert step_ups.number("t99") is None
