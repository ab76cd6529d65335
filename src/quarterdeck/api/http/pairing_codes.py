"""Pairing: one-time codes that sign in a browser, a phone, an editor or a key deck; and more rights for a device."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from msgspec import Struct

DAY = 86400.0
CODE_TRIES = 5
MOST_CODES = 16
STEP_UP_SECONDS = 3600.0
"""How long a device has the rights that a person confirmed on the machine."""
ASK_SECONDS = 300.0
"""How long a device waits for that confirmation."""
MOST_ASKING = 32
READING_AND_DECIDING = ("observe", "approve")
PAGE_SCOPES = (*READING_AND_DECIDING, "edit", "prompt", "control")
"""The scopes of a page that signed in on this machine, and the most that a step-up gives."""


class Purpose(Struct, frozen=True, kw_only=True):
    """What a code is for: how long it can be used, what the device may do then, and for how long. A device with a
    cookie signs in by opening the link; one with a token sends its code to `POST /pair`."""

    name: str
    label: str
    code_seconds: float
    device_seconds: float
    scopes: tuple[str, ...]
    by_link: bool = False
    by_token: bool = False


_ROWS = (
    Purpose(
        name="page",
        label="a browser on this machine",
        code_seconds=60.0,
        device_seconds=30 * DAY,
        scopes=PAGE_SCOPES,
        by_link=True,
    ),
    Purpose(
        name="phone",
        label="a phone",
        code_seconds=300.0,
        device_seconds=90 * DAY,
        scopes=READING_AND_DECIDING,
        by_link=True,
    ),
    Purpose(
        name="editor",
        label="an editor",
        code_seconds=300.0,
        device_seconds=365 * DAY,
        scopes=PAGE_SCOPES,
        by_token=True,
    ),
    Purpose(
        name="deck",
        label="a key deck",
        code_seconds=300.0,
        device_seconds=365 * DAY,
        scopes=READING_AND_DECIDING,
        by_link=True,
        by_token=True,
    ),
)
PURPOSES: Mapping[str, Purpose] = {row.name: row for row in _ROWS}
"""Every purpose by its name, which is also the kind of the device's credential."""

COOKIE_KINDS = frozenset(row.name for row in _ROWS if row.by_link)
TOKEN_KINDS = frozenset(row.name for row in _ROWS if row.by_token) | {"token"}
"""The kinds of credentials that are accepted in a cookie, and in an Authorization header."""


class WaitingCode(Struct, frozen=True):
    """A code that was not used yet."""

    purpose: Purpose
    until: float


class PairingCodes:
    """The codes that were made and not used. Only their digests are kept. `ticks` is a clock that never goes back."""

    def __init__(self, ticks: Callable[[], float], digest: Callable[[bytes], str]) -> None:
        self._ticks = ticks
        self._digest = digest
        self._codes: dict[str, WaitingCode] = {}
        self._tries = 0

    def new(self, purpose: str = "page", seconds: float | None = None) -> str:
        """Make a code; the oldest ones are dropped when there are too many."""
        now, kind = self._ticks(), PURPOSES[purpose]
        self._codes = {code: waiting for code, waiting in self._codes.items() if waiting.until > now}
        while len(self._codes) >= MOST_CODES:
            del self._codes[next(iter(self._codes))]
        self._tries = 0
        code = secrets.token_urlsafe(32)
        self._codes[self._digest(code.encode())] = WaitingCode(kind, now + (seconds or kind.code_seconds))
        return code

    def take(self, code: str, *, counts: bool = True) -> Purpose | None:
        """Use up a code; None when it is wrong, used or expired. After five wrong tries every code is void; tries with
        `counts` false do not count."""
        waiting = self._codes.pop(self._digest(code.encode(errors="replace")), None)
        if waiting is None and counts:
            self._tries += 1
            if self._tries >= CODE_TRIES:
                self._codes.clear()
        return waiting.purpose if waiting is not None and waiting.until > self._ticks() else None


class StepUpRequest(Struct, frozen=True):
    """A device that asks for more rights: the number that it shows, and until when it waits."""

    number: str
    until: float


class StepUps:
    """The devices that ask for more rights. A person confirms one on the machine, where the number must be the same as
    on the device, so that nobody confirms another device by mistake."""

    def __init__(self, ticks: Callable[[], float]) -> None:
        self._ticks = ticks
        self._asking: dict[str, StepUpRequest] = {}

    def ask(self, device_id: str) -> StepUpRequest:
        """Ask for more rights. A device that asks again gets a new number."""
        self._asking.pop(device_id, None)
        while len(self._asking) >= MOST_ASKING:
            del self._asking[next(iter(self._asking))]
        request = StepUpRequest(f"{secrets.randbelow(10_000):04}", self._ticks() + ASK_SECONDS)
        self._asking[device_id] = request
        return request

    def number(self, device_id: str) -> str | None:
        """The number that a device shows while it waits; None when it does not."""
        request = self._asking.get(device_id)
        return request.number if request is not None and request.until > self._ticks() else None

    def take(self, device_id: str, number: str) -> bool:
        """Use up a request; False when the device does not wait or the number is wrong."""
        is_right = self.number(device_id) == number
        if is_right:
            del self._asking[device_id]
        return is_right
