"""The other screens, by the command that opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quarterdeck.surfaces.tui.screens.help import HelpPage
from quarterdeck.surfaces.tui.screens.page import PageScreen

PAGES: Mapping[str, Callable[[], PageScreen]] = {"help": HelpPage}
