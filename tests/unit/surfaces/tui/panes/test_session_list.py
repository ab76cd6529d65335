"""The list of sessions when its size changes."""

from __future__ import annotations

from textual.app import App, ComposeResult

from quarterdeck.surfaces.tui.panes.session_list import SessionPane


class ListApp(App[None]):
    """An app with only the list."""

    def compose(self) -> ComposeResult:
        yield SessionPane()


async def test_rows_drawn_at_a_small_width_are_drawn_again_at_a_larger_one() -> None:
    async with ListApp().run_test(size=(8, 10)) as pilot:
        pane = pilot.app.query_one(SessionPane)
        pane.update([], {}, 0.0)
        assert "everything" not in _first_row(pane)
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert "everything" in _first_row(pane)


def _first_row(pane: SessionPane) -> str:
    return "".join(span.text for span in pane.rows[0])
