"""The pages, the dial, the roller and the terminals of editors."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core.engine.deck_messages import SeenTerminal
from quarterdeck.core.engine.messages import DaemonRestarted
from tests.support.deck_scene import LAYOUT, DeckScene

ONE, TWO = SeenTerminal(pid=1, tag="a", name="one", active=True), SeenTerminal(pid=2, tag="b", name="two")


def test_pages_go_round_and_disarm() -> None:
    scene = DeckScene().presses("tests").turns_page(-1).records("operator.arm", "operator.page")
    assert (scene.model.page_index, scene.model.page_count, scene.model.armed) == (2, 3, None)
    assert scene.turns_page(1).model.page_index == 0


def test_a_single_page_does_not_turn() -> None:
    scene = DeckScene(replace(LAYOUT, pages=LAYOUT.pages[:1])).turns_page(1)
    assert (scene.reply.outcome, scene.last.events) == ("applied", [])


def test_a_page_that_is_gone_shows_another() -> None:
    scene = DeckScene().page(2)
    scene.layout = replace(LAYOUT, pages=LAYOUT.pages[:2])
    assert scene.model.page_index == 0


def test_only_what_changed_of_the_terminals_is_recorded() -> None:
    scene = DeckScene().sees_terminals(ONE, TWO).records("terminal.open", "terminal.open")
    assert scene.sees_terminals(TWO, ONE).last.events == []
    scene.sees_terminals(TWO).records("terminal.close")


def test_two_editors_do_not_close_each_others_terminals() -> None:
    scene = DeckScene().sees_terminals(ONE, client_id="a").sees_terminals(TWO, client_id="b")
    scene.sees_terminals(client_id="a")
    assert [t.name for t in scene.state.deck.terminals.values()] == ["two"]


def test_after_a_restart_no_editor_is_there() -> None:
    scene = DeckScene().sees_terminals(ONE, TWO).submits(DaemonRestarted(at=2000.0))
    assert scene.state.deck.terminals == {}


def test_the_roller_goes_round_and_focuses() -> None:
    scene = DeckScene().sees_terminals(ONE, TWO)
    names = []
    for _ in range(3):
        scene.turns("roller")
        assert scene.model.selected is not None
        names.append(scene.model.selected.name)
    assert names == ["two", "one", "two"]
    [command] = scene.editor_commands
    assert (command.kind, command.payload) == ("focus_terminal", {"pid": 2, "tag": "b"})


def test_the_roller_needs_something_to_select() -> None:
    assert DeckScene().turns("roller").reply.outcome == "not_possible"


def test_the_dial_scrolls_in_the_editor_only_if_the_file_says_so() -> None:
    assert DeckScene().sees_terminals(ONE).turns("dial", -3).editor_commands == []
    scene = DeckScene(replace(LAYOUT, dial_mode="vscode_terminal_scroll")).sees_terminals(ONE).turns("dial", -3)
    [command] = scene.editor_commands
    assert (command.kind, command.payload["lines"]) == ("scroll_terminal", -3)
