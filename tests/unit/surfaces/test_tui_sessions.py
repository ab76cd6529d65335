"""The list of sessions in a place of changing size."""

from __future__ import annotations

from textual.app import App, ComposeResult

from quarterdeck.surfaces.tui.panes.session_list import Sessions


class Alone(App[None]):
    """The list and nothing beside it."""

    def compose(self) -> ComposeResult:
        yield Sessions()


async def test_rows_that_were_told_in_a_narrow_place_are_whole_in_a_wide_one() -> None:
    async with Alone().run_test(size=(8, 10)) as pilot:
        listed = pilot.app.query_one(Sessions)
        listed.tell([], {}, 0.0)
        assert "everything" not in _first_row(listed)
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert "everything" in _first_row(listed)


def _first_row(listed: Sessions) -> str:
    return "".join(span.text for span in listed.rows[0])
