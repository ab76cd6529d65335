"""Credentials, failure limits and rate limits against a fixed clock."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.api.http.credentials import (
    Clock,
    Credentials,
    FailureLimit,
    RateLimit,
    csrf_of,
    new_token,
    verifier_of,
)
from quarterdeck.core.model.state import Token

OWNER, HOOK = "o" * 43, "h" * 43


class FakeClock:
    """A clock that a test sets."""

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


def access(fake_clock: FakeClock, *made: Token) -> Credentials:
    tokens: Mapping[str, Token] = {one.token_id: one for one in made}
    return Credentials(OWNER, HOOK, lambda: tokens, fake_clock.clock())


def test_each_credential_has_its_principal() -> None:
    found = access(FakeClock(), token("s1"))
    kinds = {secret: who.kind if (who := found.principal(secret)) else None for secret in (b"s1", b"s2", b"", b"\xff")}
    assert kinds == {b"s1": "token", b"s2": None, b"": None, b"\xff": None}
    owner, hook = found.principal(OWNER.encode()), found.principal(HOOK.encode())
    assert owner is not None
    assert hook is not None
    assert (owner.kind, owner.may("admin"), hook.kind, sorted(hook.scopes)) == ("owner", True, "hook", ["ingest"])


@pytest.mark.law("A8")
def test_a_token_expires_on_time() -> None:
    fake_clock = FakeClock()
    found = access(fake_clock, token("s1", expires_at=1010.0))
    who = found.principal(b"s1")
    assert who is not None
    fake_clock.at = 1009.9
    assert found.current(who)
    fake_clock.at = 1010.0
    assert found.current(who) is None
    assert found.principal(b"s1") is None


def test_a_revoked_token_stops_working_at_once() -> None:
    made = {"t": token("s1")}
    tokens = {"now": dict(made)}
    found = Credentials(OWNER, HOOK, lambda: tokens["now"], FakeClock().clock())
    who = found.principal(b"s1")
    assert who is not None
    tokens["now"] = {}
    assert found.current(who) is None


def test_a_replaced_owner_s_token_no_longer_holds() -> None:
    found = access(FakeClock())
    who = found.principal(OWNER.encode())
    assert who is not None
    found.replace("n" * 43, HOOK)
    assert found.current(who) is None
    assert found.principal(OWNER.encode()) is None
    assert found.principal(b"n" * 43) is not None


def test_a_removed_hook_token_is_known_and_accepted_for_nothing() -> None:
    found = access(FakeClock(), token("s1"))
    found.replace(OWNER, "n" * 43, frozenset({verifier_of(HOOK.encode())}))
    assert found.was_removed(HOOK.encode())
    assert found.principal(HOOK.encode()) is None
    assert not any(map(found.was_removed, (b"", b"s1", OWNER.encode(), b"n" * 43)))


@pytest.mark.law("A10")
def test_failures_are_counted_by_address_and_forgotten_after_a_minute() -> None:
    fake_clock = FakeClock()
    failures = FailureLimit(fake_clock.clock())
    assert [failures.count("a") for _ in range(FailureLimit.LIMIT + 1)] == [False] * FailureLimit.LIMIT + [True]
    assert not failures.count("b")
    fake_clock.at += FailureLimit.SECONDS
    assert not failures.count("a")


def test_failures_of_many_addresses_take_little_memory() -> None:
    failures = FailureLimit(FakeClock().clock())
    for n in range(5 * FailureLimit.ADDRESSES):
        failures.count(str(n))
    assert len(failures._at) == FailureLimit.ADDRESSES


@pytest.mark.law("A10")
@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 3)), max_size=50))
def test_decisions_are_limited_to_a_burst_and_a_rate(steps: list[tuple[int, float]]) -> None:
    fake_clock = FakeClock()
    limit = RateLimit(burst=20, per_second=5, clock=fake_clock.clock())
    done = 0
    for count, seconds in steps:
        done += min(count, 20) if limit.take("one", count) else 0
        assert done <= 20 + 5 * (fake_clock.at - 1000.0) + 1e-6
        fake_clock.at += seconds
    assert limit.take("another", 20)


def test_more_than_a_burst_is_allowed_after_a_pause() -> None:
    fake_clock = FakeClock()
    limit = RateLimit(burst=20, per_second=5, clock=fake_clock.clock())
    assert limit.take("one", 1000)
    assert not limit.take("one")
    fake_clock.at += 0.2
    assert limit.take("one")


def test_secrets_differ_and_a_page_s_csrf_token_is_not_its_secret() -> None:
    (one, one_id), (other, other_id) = new_token(), new_token()
    assert one != other
    assert one_id != other_id
    assert len(one) == len("qdt_") + 43
    who = access(FakeClock(), token(one, kind="page")).principal(one.encode())
    assert who is not None
    assert csrf_of(who) not in (one, who.secret)
    assert one not in repr(who)


def test_a_device_may_do_more_until_its_time_is_up() -> None:
    fake_clock = FakeClock()
    made = replace(token("s1", kind="phone"), extra_scopes=("observe", "control"), extra_until=fake_clock.at + 60)
    found = access(fake_clock, made)
    who = found.principal(b"s1")
    assert who is not None
    assert who.scopes == {"observe", "control"}
    fake_clock.at += 60
    assert (now := found.current(who)) is not None
    assert now.scopes == {"observe"}
