"""The screen is handed over to the terminal of a session, and comes back with Ctrl-]."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.attaching import attach_to
from quarterdeck.surfaces.tui.session_orders import called

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]


def hand_over(app: QuarterdeckApp, session: Json) -> None:
    """Until the person comes back. Nothing of ours is drawn meanwhile, since nothing of ours runs."""
    try:
        with app.suspend():
            trouble = _attached(app, session)
    except SuspendNotSupported:
        app.say(f"In another terminal: qd attach {session['session_id'][:8]}", "warning")
        return
    if trouble:
        app.say(trouble, "error")
    else:
        app.say(f"Back from {called(session)}")


def _attached(app: QuarterdeckApp, session: Json) -> str:
    """Attach in a thread of its own, for the event loop of this one is the face's; what went wrong, in words."""
    troubles: list[str] = []

    def attach() -> None:
        try:
            attach_to(session, app.talk.where, "tui")
        except (QuarterdeckError, OSError) as error:
            troubles.append(str(error))

    attaching = threading.Thread(target=attach)
    attaching.start()
    attaching.join()
    return "".join(troubles)
