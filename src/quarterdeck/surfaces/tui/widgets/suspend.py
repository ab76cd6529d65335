"""The screen is lent to another program, like the terminal of a session or an editor, and comes back when it ends."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import SuspendNotSupported

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.attach import attach_to
from quarterdeck.surfaces.terminal.session_actions import called

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]
T = TypeVar("T")


async def lend_screen(app: QuarterdeckApp, work: Callable[[], T]) -> T:
    """Do something in a thread that has the terminal to itself. The face goes on hearing the daemon, rings and
    notifies, and draws nothing. Ctrl-C is for whoever has the screen."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.suspend(), app.batch_update():
            app.is_lent = True
            try:
                return await asyncio.to_thread(work)
            finally:
                app.is_lent = False
    finally:
        signal.signal(signal.SIGINT, before)
        app.refresh(layout=True)


async def hand_over(app: QuarterdeckApp, session: Json) -> None:
    """To the terminal of a session, until the person comes back with Ctrl-]."""
    try:
        await lend_screen(app, lambda: attach_to(session, app.talk.where, "tui"))
    except SuspendNotSupported:
        app.say(f"In another terminal: qd attach {session['session_id'][:8]}", "warning")
    except (QuarterdeckError, OSError) as error:
        app.say(str(error), "error")
    else:
        app.say(f"Back from {called(session)}")
