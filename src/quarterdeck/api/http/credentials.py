"""Credentials and their scopes: the owner, the hooks, created tokens, and signed-in pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping

from msgspec import Struct

from quarterdeck.api.http.pairing_codes import PairingCodes, StepUps
from quarterdeck.core.model.state import Token

SCOPES = ("ingest", "observe", "approve", "edit", "prompt", "control", "admin")
ALL = frozenset(SCOPES)
PREFIX = "qdt_"


class Principal(Struct, frozen=True, kw_only=True):
    """An authenticated caller: `name` appears in the record, `secret` is the digest of the credential."""

    name: str
    kind: str
    scopes: frozenset[str]
    secret: str
    token_id: str | None = None

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def verifier_of(secret: bytes) -> str:
    """The digest that is stored instead of a credential: enough to verify it, not to recover it."""
    return hashlib.sha256(secret).hexdigest()


def csrf_of(principal: Principal) -> str:
    """The token that a signed-in page must send beside its cookie when it changes something."""
    return hashlib.sha256(f"csrf:{principal.secret}".encode()).hexdigest()[:32]


def new_token() -> tuple[str, str]:
    """A credential of 256 bits and its id."""
    return PREFIX + secrets.token_urlsafe(32), "t" + secrets.token_hex(6)


class Clock(Struct, frozen=True):
    """A source of time: `now` for the record, `ticks` for durations, as it never goes back."""

    now: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic


class Credentials:
    """Every credential, the codes that make one, and a count of wrong ones. `tokens` returns the created tokens as
    recorded."""

    def __init__(
        self, owner: str, hook: str, tokens: Callable[[], Mapping[str, Token]], clock: Clock | None = None
    ) -> None:
        self.used: dict[str, float] = {}
        self._clock = clock or Clock()
        self.failures = FailureLimit(self._clock)
        self._tokens = tokens
        self._created: Mapping[str, Token] | None = None
        self._by_verifier: dict[str, Token] = {}
        self.codes = PairingCodes(self._clock.ticks, verifier_of)
        self.step_ups = StepUps(self._clock.ticks)
        self.replace(owner, hook)

    def replace(self, owner: str, hook: str, removed: frozenset[str] = frozenset()) -> None:
        """Set the tokens of the home; either file may be replaced while the daemon runs. `removed` are the digests of
        hook tokens that an uninstall removed."""
        self._removed = removed
        self._owner = owner.encode()
        self._hook = hook.encode()
        self._as_owner = Principal(name="owner", kind="owner", scopes=ALL, secret=verifier_of(self._owner))
        self._as_hook = Principal(
            name="hooks", kind="hook", scopes=frozenset({"ingest"}), secret=verifier_of(self._hook)
        )

    def principal(self, secret: bytes) -> Principal | None:
        """The owner of this credential; None when it is unknown, revoked or expired."""
        if hmac.compare_digest(secret, self._hook):
            return self._as_hook
        if hmac.compare_digest(secret, self._owner):
            return self._as_owner
        return self._token_principal(verifier_of(secret))

    def was_removed(self, secret: bytes) -> bool:
        """True for a hook token that an uninstall removed: a session that still runs calls with it."""
        return verifier_of(secret) in self._removed

    def current(self, principal: Principal) -> Principal | None:
        """An earlier caller with the rights that its credential has now; None when it is no longer accepted."""
        if principal.kind in ("owner", "hook"):
            is_valid = principal.secret in (self._as_owner.secret, self._as_hook.secret)
            return principal if is_valid else None
        return self._token_principal(principal.secret)

    def _token_principal(self, verifier: str) -> Principal | None:
        tokens = self._tokens()
        if tokens is not self._created:  # the state is replaced, never changed: the same object holds the same tokens
            self._created = tokens
            self._by_verifier = {token.verifier: token for token in tokens.values()}
        token = self._by_verifier.get(verifier)
        now = self._clock.now()
        if token is None or (token.expires_at is not None and token.expires_at <= now):
            return None
        self.used[token.token_id] = now
        return Principal(
            name=token.name,
            kind=token.kind,
            scopes=frozenset(token.scopes_at(now)),
            secret=verifier,
            token_id=token.token_id,
        )


class FailureLimit:
    """Counts wrong credentials per address. A caller with a valid credential is never blocked."""

    LIMIT = 100
    SECONDS = 60.0
    ADDRESSES = 1000

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._at: dict[str, list[float]] = {}

    def count(self, address: str) -> bool:
        """Count one failure; True when there were too many in the last minute."""
        now = self._clock.ticks()
        recent = [at for at in self._at.pop(address, []) if at > now - self.SECONDS][-self.LIMIT :]
        recent.append(now)
        self._at[address] = recent
        while len(self._at) > self.ADDRESSES:
            del self._at[next(iter(self._at))]
        return len(recent) > self.LIMIT


class RateLimit:
    """Limits how fast one credential may decide: a burst for a long list of requests, then a steady rate."""

    def __init__(self, burst: float = 20_000.0, per_second: float = 500.0, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._burst = burst
        self._rate = per_second
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, credential: str, count: int = 1) -> bool:
        """Take this many decisions from the allowance; False when it is used up. More than a burst is allowed when the
        whole burst is left."""
        now = self._clock.ticks()
        left, at = self._left.get(credential, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        needed = min(count, self._burst)
        self._left[credential] = (left - needed if left >= needed else left, now)
        return left >= needed
