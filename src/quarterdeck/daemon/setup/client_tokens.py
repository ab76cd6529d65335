"""The tokens that clients show: read from the home, watched for rotation, and kept out of the log."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time

from quarterdeck.api.http.credentials import Credentials
from quarterdeck.daemon.ingest.intake import HookIntake
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.drivers.removed_hooks import is_disconnected, removed_digests
from quarterdeck.errors import HomeError

# A token file that another process has changed must be in force within seconds.
REREAD_SECONDS = 1.0
SAVE_USE_EVERY = 60
"""After this many reads the times of last use are saved."""


def read_credentials(home: Home, loop: Loop, redactor: Redactor) -> Credentials:
    """The credentials that the API accepts, with their last use."""
    owner, hook_token = _read_tokens(home, redactor)
    credentials = Credentials(owner, hook_token, lambda: loop.state.tokens)
    credentials.replace(owner, hook_token, removed_digests(home.path, time.time()))
    credentials.used.update(home.read_token_use())
    return credentials


async def watch_tokens(home: Home, credentials: Credentials, intake: HookIntake, redactor: Redactor) -> None:
    """Read the token files again every second: a rotated token is then accepted, and the old one no longer. Hooks that
    need no token are turned away once `qd uninstall` has removed them."""
    saved = dict(credentials.used)
    for second in itertools.count(1):
        intake.is_disconnected = is_disconnected(home.path)
        await asyncio.sleep(REREAD_SECONDS)
        with contextlib.suppress(HomeError, OSError):
            removed = removed_digests(home.path, time.time())
            credentials.replace(*_read_tokens(home, redactor), removed)
            if second % SAVE_USE_EVERY == 0 and credentials.used != saved:
                home.write_token_use(credentials.used)
                saved = dict(credentials.used)


def _read_tokens(home: Home, redactor: Redactor) -> tuple[str, str]:
    owner, hook_token = home.token("token"), home.token("hook-token")
    redactor.learn(owner)
    redactor.learn(hook_token)
    return owner, hook_token
