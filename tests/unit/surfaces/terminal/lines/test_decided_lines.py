"""Decisions below the card."""

from __future__ import annotations

from quarterdeck.surfaces.client.live import LiveMessage
from quarterdeck.surfaces.terminal.lines.decided_lines import decided_line, empty_desk_lines
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from tests.support.recorded_daemon import NOW, live_message, request, resolved, session
from tests.unit.surfaces.terminal.test_model import connected_model


def lines(model: Model) -> str:
    return plain([row for one in empty_desk_lines(model) for row in fold([one], 200)])


def decided(number: int) -> LiveMessage:
    return live_message("request", resolved(request(f"q{number}", f"make {number}", opened_at=NOW), by="owner via tui"))


def test_an_empty_desk_shows_the_latest_decisions() -> None:
    model = connected_model(sessions=[session("busy", "running")])
    assert lines(model).splitlines() == ["No requests are waiting."]
    for number in range(5):
        model.receive(decided(number), 101.0)
    assert [line.rpartition(" · ")[0][-6:] for line in lines(model).splitlines()[1:]] == ["make 2", "make 3", "make 4"]


def test_a_decision_names_what_it_was_about_and_how_it_went() -> None:
    made = resolved(request("q1", "git push"), by="owner via tui", delivery="overridden")
    text = plain(list(fold([decided_line(made)], 200)))
    assert "from tui" in text
    assert "git push · overridden at the terminal" in text
