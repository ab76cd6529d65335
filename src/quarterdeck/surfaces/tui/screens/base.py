"""The common shape of the other screens: a title, what is shown, the keys, and a way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.tui.panes.header import Banner
from quarterdeck.surfaces.tui.widgets.footer import Keys

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp


class PageScreen(Screen[None]):
    """Closes with Escape or q, back to the bridge."""

    heading = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "back", key_display="esc"),
        Binding("ctrl+r,f5", "reload", "read again", show=False),
    ]

    @property
    def face(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def compose(self) -> ComposeResult:
        yield Static(Content(self.heading), classes="title", markup=False, id="title")
        yield Banner()
        yield from self.inside()
        yield Keys(self.face.status.shown)

    def inside(self) -> ComposeResult:
        """What the page holds."""
        yield from ()

    def name_it(self, words: str) -> None:
        """More after the title."""
        for title in self.query("#title").results(Static):  # it may be gone when this comes late
            title.update(Content(one_line(f"{self.heading}  {words}")))

    def trouble(self, words: str) -> None:
        for banner in self.query(Banner):
            banner.tell(words)

    def action_reload(self) -> None:
        """Read what is shown again."""
