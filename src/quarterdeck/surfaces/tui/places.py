"""Where keys work: the tables the help is made from."""

from __future__ import annotations

from quarterdeck.surfaces.tui.bridge import Bridge
from quarterdeck.surfaces.tui.desk import Desk
from quarterdeck.surfaces.tui.dialogs.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.edit import EditDialog
from quarterdeck.surfaces.tui.sessions import Sessions
from quarterdeck.surfaces.tui.stand_in import FeedView

PLACES = (
    ("Everywhere", Bridge.BINDINGS),
    ("On the desk", Desk.BINDINGS),
    ("In the sessions", Sessions.BINDINGS),
    ("In the feed", FeedView.BINDINGS),
    ("Editing an input", EditDialog.BINDINGS),
    ("Many at once", BatchDialog.BINDINGS),
)
