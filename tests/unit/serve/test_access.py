"""Credentials, codes, failures and pace against a clock that stands still."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.api.http.credentials import (
    CODE_SECONDS,
    Access,
    Clock,
    Failures,
    Pace,
    csrf_of,
    new_token,
    verifier_of,
)
from quarterdeck.core.model.state import Token

OWNER, HOOK = "o" * 43, "h" * 43


class Hands:
    """The hands of a clock that a test moves."""

    def __init__(self) -> None:
        self.at = 1000.0

    def clock(self) -> Clock:
        return Clock(lambda: self.at, lambda: self.at)


def token(secret: str, expires_at: float | None = None, kind: str = "token") -> Token:
    return Token(
        token_id="t" + verifier_of(secret.encode())[:6],
        name="deck",
        scopes=("observe",),
        verifier=verifier_of(secret.encode()),
        kind=kind,
        created_at=0.0,
        created_by="owner",
        expires_at=expires_at,
    )


def access(hands: Hands, *made: Token) -> Access:
    tokens: Mapping[str, Token] = {one.token_id: one for one in made}
    return Access(OWNER, HOOK, lambda: tokens, hands.clock())


def test_each_credential_is_somebody() -> None:
    found = access(Hands(), token("s1"))
    kinds = {secret: who.kind if (who := found.who(secret)) else None for secret in (b"s1", b"s2", b"", b"\xff")}
    assert kinds == {b"s1": "token", b"s2": None, b"": None, b"\xff": None}
    owner, hook = found.who(OWNER.encode()), found.who(HOOK.encode())
    assert owner is not None
    assert hook is not None
    assert (owner.kind, owner.may("admin"), hook.kind, sorted(hook.scopes)) == ("owner", True, "hook", ["ingest"])


@pytest.mark.law("A8")
def test_a_token_ends_at_its_second() -> None:
    hands = Hands()
    found = access(hands, token("s1", expires_at=1010.0))
    who = found.who(b"s1")
    assert who is not None
    hands.at = 1009.9
    assert found.still(who)
    hands.at = 1010.0
    assert not found.still(who)
    assert found.who(b"s1") is None


def test_what_leaves_the_record_is_nobody_at_once() -> None:
    made = {"t": token("s1")}
    tokens = {"now": dict(made)}
    found = Access(OWNER, HOOK, lambda: tokens["now"], Hands().clock())
    who = found.who(b"s1")
    assert who is not None
    tokens["now"] = {}
    assert not found.still(who)


def test_a_replaced_owner_s_token_no_longer_holds() -> None:
    found = access(Hands())
    who = found.who(OWNER.encode())
    assert who is not None
    found.replace("n" * 43, HOOK)
    assert not found.still(who)
    assert found.who(OWNER.encode()) is None
    assert found.who(b"n" * 43) is not None


@pytest.mark.law("A14")
def test_a_code_is_good_once_and_for_a_minute() -> None:
    hands = Hands()
    found = access(hands)
    first, second, third = (found.new_code() for _ in range(3))
    assert found.take_code(first)
    assert not found.take_code(first)
    hands.at += CODE_SECONDS - 0.1
    assert found.take_code(second)
    hands.at += 0.1
    assert not found.take_code(third)
    assert not found.take_code("\ud800")


def test_codes_nobody_uses_do_not_pile_up() -> None:
    found = access(Hands())
    codes = [found.new_code() for _ in range(40)]
    assert [found.take_code(code) for code in reversed(codes)] == [True] * 16 + [False] * 24


@pytest.mark.law("A14")
def test_after_five_wrong_codes_none_is_good_until_another_is_made() -> None:
    found = access(Hands())
    code = found.new_code()
    assert not any(found.take_code(f"wrong {n}") for n in range(4))
    assert not any(found.take_code(f"of another site {n}", counts=False) for n in range(9))
    assert found.take_code(code)
    code = found.new_code()
    assert not any(found.take_code(f"wrong {n}") for n in range(5))
    assert not found.take_code(code)
    assert found.take_code(found.new_code())


@pytest.mark.law("A10")
def test_failures_are_counted_by_address_and_forgotten_after_a_minute() -> None:
    hands = Hands()
    failures = Failures(hands.clock())
    assert [failures.count("a") for _ in range(Failures.LIMIT + 1)] == [False] * Failures.LIMIT + [True]
    assert not failures.count("b")
    hands.at += Failures.SECONDS
    assert not failures.count("a")


def test_failures_of_many_addresses_take_little_memory() -> None:
    failures = Failures(Hands().clock())
    for n in range(5 * Failures.ADDRESSES):
        failures.count(str(n))
    assert len(failures._at) == Failures.ADDRESSES


@pytest.mark.law("A10")
@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 3)), max_size=50))
def test_no_more_decisions_than_the_burst_and_the_rate(steps: list[tuple[int, float]]) -> None:
    hands = Hands()
    pace = Pace(burst=20, per_second=5, clock=hands.clock())
    done = 0
    for count, seconds in steps:
        done += min(count, 20) if pace.take("one", count) else 0
        assert done <= 20 + 5 * (hands.at - 1000.0) + 1e-6
        hands.at += seconds
    assert pace.take("another", 20)


def test_more_than_a_burst_fits_when_nothing_was_decided_lately() -> None:
    hands = Hands()
    pace = Pace(burst=20, per_second=5, clock=hands.clock())
    assert pace.take("one", 1000)
    assert not pace.take("one")
    hands.at += 0.2
    assert pace.take("one")


def test_secrets_differ_and_the_proof_of_a_page_is_not_its_secret() -> None:
    (one, one_id), (other, other_id) = new_token(), new_token()
    assert one != other
    assert one_id != other_id
    assert len(one) == len("qdt_") + 43
    who = access(Hands(), token(one, kind="page")).who(one.encode())
    assert who is not None
    assert csrf_of(who) not in (one, who.secret)
    assert one not in repr(who)
