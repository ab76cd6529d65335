"""Who may come in, and what for: the owner, the hooks, tokens somebody made, and pages that signed in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping

from msgspec import Struct

from quarterdeck.core.model.state import Token

SCOPES = ("ingest", "observe", "approve", "edit", "prompt", "control", "admin")
ALL = frozenset(SCOPES)
PAGE_SCOPES = tuple(scope for scope in SCOPES if scope not in ("ingest", "admin"))
"""What a page signed in on this machine may do."""

PAGE_SECONDS = 30 * 86400.0
CODE_SECONDS = 60.0
CODE_TRIES = 5
MAX_CODES = 16
PREFIX = "qdt_"


class Principal(Struct, frozen=True, kw_only=True):
    """Somebody who came in: `name` stands in the record, `secret` is the digest of what they showed."""

    name: str
    kind: str
    scopes: frozenset[str]
    secret: str
    token_id: str | None = None

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def verifier_of(secret: bytes) -> str:
    """What is kept of a credential: it proves it, and does not give it back."""
    return hashlib.sha256(secret).hexdigest()


def csrf_of(principal: Principal) -> str:
    """What a signed-in page must show beside its cookie when it changes something."""
    return hashlib.sha256(f"csrf:{principal.secret}".encode()).hexdigest()[:32]


def new_token() -> tuple[str, str]:
    """A credential of 256 bits and its id."""
    return PREFIX + secrets.token_urlsafe(32), "t" + secrets.token_hex(6)


class Clock(Struct, frozen=True):
    """Where the time comes from: `now` for what stands in the record, `ticks` for what never goes back."""

    now: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic


class Access:
    """Knows every credential, and counts wrong ones. `tokens` gives the made ones as they stand in the record."""

    def __init__(
        self, owner: str, hook: str, tokens: Callable[[], Mapping[str, Token]], clock: Clock | None = None
    ) -> None:
        self.used: dict[str, float] = {}
        self._clock = clock or Clock()
        self.failures = Failures(self._clock)
        self._tokens = tokens
        self._made: Mapping[str, Token] | None = None
        self._by_verifier: dict[str, Token] = {}
        self._codes: dict[str, float] = {}
        self._tries = 0
        self.replace(owner, hook)

    def replace(self, owner: str, hook: str) -> None:
        """The tokens of the home; either may be replaced while we run."""
        self._owner = owner.encode()
        self._hook = hook.encode()
        self._as_owner = Principal(name="owner", kind="owner", scopes=ALL, secret=verifier_of(self._owner))
        self._as_hook = Principal(
            name="hooks", kind="hook", scopes=frozenset({"ingest"}), secret=verifier_of(self._hook)
        )

    def who(self, secret: bytes) -> Principal | None:
        """Who shows this credential; None when it is not, or no longer, one."""
        if hmac.compare_digest(secret, self._hook):
            return self._as_hook
        if hmac.compare_digest(secret, self._owner):
            return self._as_owner
        return self._who_made(verifier_of(secret))

    def still(self, principal: Principal) -> bool:
        """Whether a credential that came in earlier still holds."""
        if principal.kind in ("owner", "hook"):
            return principal.secret in (self._as_owner.secret, self._as_hook.secret)
        return self._who_made(principal.secret) is not None

    def _who_made(self, verifier: str) -> Principal | None:
        made = self._tokens()
        if made is not self._made:
            self._made = made
            self._by_verifier = {token.verifier: token for token in made.values()}
        token = self._by_verifier.get(verifier)
        now = self._clock.now()
        if token is None or (token.expires_at is not None and token.expires_at <= now):
            return None
        self.used[token.token_id] = now
        return Principal(
            name=token.name,
            kind=token.kind,
            scopes=frozenset(token.scopes),
            secret=verifier,
            token_id=token.token_id,
        )

    def new_code(self) -> str:
        """A one-time code that signs a page in within a minute."""
        now = self._clock.ticks()
        self._codes = {code: until for code, until in self._codes.items() if until > now}
        while len(self._codes) >= MAX_CODES:
            del self._codes[next(iter(self._codes))]
        self._tries = 0
        code = secrets.token_urlsafe(32)
        self._codes[verifier_of(code.encode())] = now + CODE_SECONDS
        return code

    def take_code(self, code: str, *, counts: bool = True) -> bool:
        """Use a code up; False when it is wrong, used or too old. After five wrong ones none is good any more."""
        until = self._codes.pop(verifier_of(code.encode(errors="replace")), None)
        if until is None and counts:
            self._tries += 1
            if self._tries >= CODE_TRIES:
                self._codes.clear()
        return until is not None and until > self._clock.ticks()


class Failures:
    """Counts wrong credentials per address; whoever shows a good one is never kept out."""

    LIMIT = 100
    SECONDS = 60.0
    ADDRESSES = 1000

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._at: dict[str, list[float]] = {}

    def count(self, address: str) -> bool:
        """Count one; whether there were too many lately."""
        now = self._clock.ticks()
        recent = [at for at in self._at.pop(address, []) if at > now - self.SECONDS][-self.LIMIT :]
        recent.append(now)
        self._at[address] = recent
        while len(self._at) > self.ADDRESSES:
            del self._at[next(iter(self._at))]
        return len(recent) > self.LIMIT


class Pace:
    """How fast one credential may decide: a burst for a full desk, then a steady rate."""

    def __init__(self, burst: float = 20_000.0, per_second: float = 500.0, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._burst = burst
        self._rate = per_second
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str, count: int = 1) -> bool:
        """Whether so many decisions fit now; more than a burst fit when the whole burst is there."""
        now = self._clock.ticks()
        left, at = self._left.get(who, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        needed = min(count, self._burst)
        self._left[who] = (left - needed if left >= needed else left, now)
        return left >= needed
