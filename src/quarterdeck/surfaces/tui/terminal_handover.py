"""Hand the terminal to another program, like an editor or a session's terminal, until that ends."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import SuspendNotSupported

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.attach import attach_to
from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.terminal.session_actions import session_label, way_back
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]
T = TypeVar("T")

NOTICE_SECONDS = 1.0
"""How long the line that says how to come back is alone on the screen."""


async def suspend_for(app: QuarterdeckApp, work: Callable[[], T]) -> T:
    """Run `work` in a thread that has the terminal to itself.

    The app keeps following the daemon, rings and notifies, but draws nothing. Ctrl-C goes to the other program only."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.suspend(), app.batch_update():
            app.is_suspended = True
            try:
                return await run_in_thread(work)
            finally:
                app.is_suspended = False
    finally:
        signal.signal(signal.SIGINT, before)
        app.refresh(layout=True)


def notice(session: SessionView) -> str:
    """The lines that say how to come back."""
    return f"\r\n{session_label(session)}: {way_back(session)}\r\n"


def _attach(session: SessionView, app: QuarterdeckApp) -> None:
    """Say how to come back, in time to be read, then attach."""
    sys.stdout.write(notice(session))
    sys.stdout.flush()
    time.sleep(NOTICE_SECONDS)
    attach_to(session, app.daemon.where, "tui", is_here=app.daemon.remote is None)


async def attach_terminal(app: QuarterdeckApp, session: SessionView) -> None:
    """Show the terminal of a session until the person comes back with Ctrl-]."""
    try:
        await suspend_for(app, lambda: _attach(session, app))
    except SuspendNotSupported:
        app.say(f"In another terminal: qd attach {session.session_id[:8]}", "warning")
    except (QuarterdeckError, OSError) as error:
        app.say(str(error), "error")
    else:
        app.say(f"Back from {session_label(session)}")
