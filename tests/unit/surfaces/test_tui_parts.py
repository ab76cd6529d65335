"""Small pure parts of the terminal face: folding, words, commands, notifications, edits, answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.surfaces.terminal.commands import COMMANDS, read_command, read_filter
from quarterdeck.surfaces.terminal.model import Metrics, Model
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.terminal.styled_text import Line, Span, exact_lines, fold, plain
from quarterdeck.surfaces.text.labels import STATES, about, outcome
from quarterdeck.surfaces.tui.dialogs.decisions.answer import answer_to
from quarterdeck.surfaces.tui.dialogs.decisions.edit import read_back, written
from quarterdeck.surfaces.tui.dialogs.decisions.form import read_value
from quarterdeck.surfaces.tui.dialogs.decisions.remember import sentence, simulated, trusts
from quarterdeck.surfaces.tui.dialogs.manage.rules import read_input
from quarterdeck.surfaces.tui.key_tables import PLACES
from quarterdeck.surfaces.tui.panes.feed_pane import wanted
from quarterdeck.surfaces.tui.panes.header import header_row
from quarterdeck.surfaces.tui.panes.request_pane import VERBS
from quarterdeck.surfaces.tui.panes.session_list import session_rows
from quarterdeck.surfaces.tui.screens.health import health_lines
from quarterdeck.surfaces.tui.screens.rules import explained_lines, rule_rows, simulated_lines
from quarterdeck.surfaces.tui.terminal_notify import BEL, Notifier, notification, title
from quarterdeck.surfaces.tui.widgets.footer import keys_row, said_rows
from quarterdeck.surfaces.tui.widgets.status_line import Status
from quarterdeck.surfaces.tui.widgets.themes import PALETTES, style_of
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.tui import NOW, over, request, session


@given(st.text(max_size=400), st.integers(10, 80))
def test_exact_lines_lose_nothing_and_no_row_is_wider_than_there_is_room(text: str, width: int) -> None:
    rows = list(fold(exact_lines(text), width))
    assert all(sum(cell_len(span.text) for span in row) <= width for row in rows)
    assert "".join(s.text for row in rows for s in row[1:]) == visible(text).replace("\t", "    ").replace("\n", "")


@given(st.lists(st.text("ab 漢", max_size=20), max_size=20), st.integers(10, 60))
def test_words_fold_between_words_and_keep_their_styles(parts: list[str], width: int) -> None:
    one = Line(tuple(Span(part, f"style{n}") for n, part in enumerate(parts)))
    rows = list(fold([one], width))
    assert "".join(span.text for row in rows for span in row) == "".join(parts)
    styles = {span.style: span for row in rows for span in row}
    assert set(styles) <= {f"style{n}" for n in range(len(parts))}


def test_a_line_of_megabytes_is_folded_a_block_at_a_time() -> None:
    lines = list(exact_lines("x" * 1_000_000))
    assert len(lines) > 200
    assert sum(len(one.spans[0].text) for one in lines) == 1_000_000


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_the_header_never_leaves_out_who_waits(width: int) -> None:
    figures = Metrics(sessions=12, running=3, waiting=2, tools=412, failures=3, tokens=1200000, cost=1.84)
    row = header_row(figures, "otter", True, width)
    text = "".join(span.text for span in row)
    assert "2 need you" in text or width < 40
    assert cell_len(text) == width or width < 60


def test_the_header_shows_every_figure_where_there_is_room() -> None:
    figures = Metrics(
        sessions=3, running=1, waiting=2, tools=412, failures=3, tokens=12_000, cost=1.84, overhead_seconds=0.0009
    )
    text = "".join(span.text for span in header_row(figures, "otter", False, 160))
    for words in (
        "3 sessions",
        "1 running",
        "2 need you",
        "412 tools",
        "3 failed",
        "12k tokens",
        "$1.84",
        "+0.9 ms",
        "otter ✕",
    ):
        assert words in text


@pytest.mark.parametrize("state", STATES)
def test_a_session_row_shows_glyph_word_and_name_whatever_its_width(state: str) -> None:
    for width in (30, 44, 80):
        rows = list(session_rows(session(state=state), Name("shop"), NOW, width, True))
        assert all(sum(cell_len(span.text) for span in row) <= width for row in rows)
        text = plain(rows)
        assert STATES[state].glyph in text
        assert STATES[state].word in text
        assert "shop" in text


SPENT = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.61}


def row_of(view: dict[str, Any], width: int = 36, *, tall: bool = False, name: str = "shop") -> str:
    rows = list(session_rows(view, Name(name), NOW, width, tall))
    assert all(sum(cell_len(span.text) for span in row) == width for row in rows)
    return plain(rows)


def test_a_session_that_runs_shows_how_long_its_run_takes_and_others_how_long_they_are_so() -> None:
    began: dict[str, Any] = {"run_started_at": NOW - 240, "state_at": NOW - 3}
    assert row_of(session(state="running", **began)).endswith(" running     4 m")
    assert row_of(session(state="idle", **began)).endswith(" idle      3.0 s")
    assert row_of(session(state="running", run_started_at=None, state_at=NOW - 3)).endswith("3.0 s")


def test_where_a_session_has_one_row_it_tells_how_many_wait_and_the_cost() -> None:
    view = session(pending=3, usage=SPENT)
    assert row_of(view) == " ◆ shop    ×3 $0.61 needs you  12 s"
    assert row_of(view, name="a-name-that-is-long") == " ◆ a-name…s-long ×3 needs you  12 s"
    assert "login" in row_of(view, 60)
    assert "×" not in row_of(session(pending=1))
    assert "×3" in row_of(view, 30)


@pytest.mark.parametrize(
    ("text", "found"),
    [("allow", "allow"), (":deny no", "deny"), ("heal", "health"), ("go", "go-on"), ("  quit ", "quit")],
)
def test_a_command_may_be_begun(text: str, found: str) -> None:
    read = read_command(text)
    assert isinstance(read, tuple)
    assert read[0].name == found


def test_what_is_no_command_says_so() -> None:
    assert "no such command" in str(read_command("fly"))
    assert "health or help" in str(read_command("he"))
    assert "name a command" in str(read_command(":"))
    assert read_command("deny not on main")[1] == "not on main"
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def test_a_filter_names_what_it_narrows() -> None:
    assert read_filter("kind=tool tool=Bash,Edit") == {"kind": "tool", "tool": "Bash,Edit"}
    assert "not a filter" in str(read_filter("colour=red"))
    made = wanted({"tool": "Bash,Edit", "level": "warn"})
    assert not isinstance(made, str)
    assert made.tools == {"Bash", "Edit"}
    assert "levels are" in str(wanted({"level": "loud"}))


@pytest.mark.law("I6")
@pytest.mark.parametrize("text", TEXTS, ids=list(HOSTILE))
def test_a_notification_carries_no_order_from_outside(text: str) -> None:
    said = notification(text, {})
    assert said.count("\x1b]") == 2
    assert said.count(BEL) == 2
    inside = said.replace("\x1b]9;", "").replace("\x1b]777;notify;Quarterdeck;", "").replace(BEL, "")
    assert not UNSEEN.search(inside)
    assert ";" not in inside
    wrapped = notification(text, {"TMUX": "1"})
    assert wrapped.count("\x1bPtmux;") == wrapped.count("\x1b\\") == 2


def test_each_request_rings_once_and_the_title_counts() -> None:
    written_: list[str] = []
    notifier = Notifier(written_.append)
    notifier.tell({})
    assert written_ == [title(0)]
    notifier.tell({"a": lambda: "shop needs you", "b": lambda: "docs needs you"})
    assert written_[1] == title(2) == "\x1b]2;(2) Quarterdeck\x07"
    assert "shop needs you (and 1 more)" in written_[2]
    notifier.tell({"a": lambda: "shop needs you"})
    assert written_[3:] == [title(1)]
    notifier.on = False
    notifier.tell({"a": lambda: "shop needs you", "c": lambda: "infra needs you"})
    assert written_[4:] == [title(2)]


def test_a_command_is_edited_as_text_and_anything_else_as_json() -> None:
    asked = {"command": "ls", "description": "look"}
    assert written(asked) == "ls"
    assert read_back("ls -l\n", asked) == {"command": "ls -l", "description": "look"}
    assert "empty" in str(read_back("  ", asked))
    other = {"file_path": "/w/a", "content": "x"}
    assert read_back(written(other), other) == other
    assert "not JSON" in str(read_back("{", other))
    assert "object" in str(read_back("[1]", other))


@pytest.mark.law("D10")
@pytest.mark.parametrize("text", [text for text in TEXTS if text.strip()])
def test_nothing_hides_in_the_editor_and_what_is_untouched_comes_back_as_it_was(text: str) -> None:
    for asked in ({"command": text}, {"content": text, "n": 1}):
        assert not UNSEEN.search(written(asked))
        assert read_back(written(asked), asked) == asked


@pytest.mark.parametrize(
    ("question", "chosen", "typed", "answer"),
    [
        ({"options": [{"label": "A"}, {"label": "B"}]}, [1], "", "B"),
        ({"options": [{"label": "A"}]}, [0], "mine", "mine"),
        ({"options": [{"label": "A"}]}, [], "", None),
        ({"options": [{"label": "A"}, {"label": "B"}], "multiSelect": True}, [0, 1], "", ["A", "B"]),
        ({"options": [{"label": "A"}], "multiSelect": True}, [0], "more", ["A", "more"]),
        ({"options": [{"label": "A"}], "multiSelect": True}, [], "", None),
        ({}, [], "free", "free"),
    ],
)
def test_an_answer_is_what_was_chosen_or_typed(
    question: dict[str, Any], chosen: list[int], typed: str, answer: object
) -> None:
    assert answer_to(question, chosen, typed) == answer


def test_fields_of_a_form_are_read_by_their_type() -> None:
    assert read_value({"type": "integer"}, "7") == 7
    assert read_value({"type": "number"}, "0.5") == 0.5
    assert read_value({"type": "array"}, "[1]") == [1]
    assert read_value({"type": "string"}, "[1]") == "[1]"
    with pytest.raises(ValueError, match="invalid literal"):
        read_value({"type": "integer"}, "seven")


def test_a_use_to_explain_is_read_by_its_tool() -> None:
    assert read_input("Bash", "git log") == {"command": "git log"}
    assert read_input("Edit", "/w/a") == {"file_path": "/w/a"}
    assert read_input("X", '{"a": 1}') == {"a": 1}
    assert "not JSON" in str(read_input("X", "{a"))


def test_a_rule_to_remember_is_a_sentence() -> None:
    assert sentence("allow", "Bash(ls:*)", "project", "7 days") == "Always allow Bash(ls:*) in this project for 7 days."
    assert sentence("deny", "", "user", "for ever") == "Always deny … everywhere."
    page = {"seen": 412, "decided": 37, "surprises": [1], "left": 3}
    assert simulated(page) == ("It would have decided 37 of 412 past requests (of the last 412), 1 of them surprising.")
    assert "no past requests" in simulated({"seen": 0})


def test_what_a_request_is_about_fits_a_line() -> None:
    assert about(request(command="x" * 500)).count("x") < 70
    assert about(request(tool_name="Edit", tool_input={"file_path": "/w/a.py"})) == "Edit(a.py)"
    assert about(request(form="plan", kind="question")) == "a plan"


def test_rules_are_a_table_of_words() -> None:
    rule = {
        "rule_id": "r1",
        "effect": "allow",
        "pattern": "Bash(ls:*)",
        "scope": "project",
        "scope_id": "p_1",
        "scope_path": "/w/shop",
        "hits": 12,
        "last_hit_at": NOW - 5,
        "expires_at": None,
        "created_by": "owner via tui",
        "note": None,
    }
    (key, cells), *_ = rule_rows([rule], NOW)
    assert key == "r1"
    assert cells[2:6] == ("project shop", "12", "5 s ago", "for ever")
    considered = [{"rule": rule, "matched": True, "why": "covers ls"}]
    found = {"effect": "allow", "rules": [rule], "reasons": [], "considered": considered, "patterns": ["Bash(ls)"]}
    assert "allow: Bash(ls:*)" in plain(fold(explained_lines(found), 100))
    asked = plain(fold(explained_lines(found | {"effect": None, "reasons": ["it writes"]}), 100))
    assert "A person is asked: it writes" in asked
    past = {"subject": "ls -l", "decision": "deny", "by": "owner", "surprise": "you denied it"}
    assert "you denied it" in plain(fold(simulated_lines(rule, 9, 1, [past], [past]), 100))


def test_health_says_that_nothing_is_known_before_it_is() -> None:
    assert "No figures yet" in plain(fold(health_lines(Model(), "/h", 0.0), 80))


def test_every_style_of_a_card_is_in_every_theme() -> None:
    names = set(PALETTES["dark"])
    assert all(set(palette) == names for palette in PALETTES.values())
    assert style_of("dark", "no such style").color is None


def test_no_key_that_decides_on_the_desk_means_something_else_elsewhere() -> None:
    """Only where no card can be is one free: i connects while nobody is there."""
    deciding = {key for key, _ in VERBS.values()}
    same = {"Many at once": {"a", "d", "p"}, "Everywhere": {"i"}}
    for place, bindings in PLACES:
        keys = {key for binding in bindings for key in binding.key.split(",")}  # type: ignore[union-attr]
        assert place == "On the desk" or keys & deciding <= same.get(place, set()), place


def test_saving_a_rule_of_a_project_says_that_it_is_trusted_then() -> None:
    assert "trusts /home/ann/shop for rules" in trusts("project", "allow", None, "/home/ann/shop")
    assert "qd projects trust /w" in trusts("project", "allow", "none", "/w")
    assert trusts("project", "deny", "none", "/w") == ""
    assert trusts("project", "allow", "rules", "/w") == ""
    assert trusts("user", "allow", None, "/w") == ""


def test_what_is_said_in_one_breath_stands_together_and_goes_after_a_while() -> None:
    status = Status()
    status.say("Remembered", "information", 10.0)
    status.say("That settled 2 more", "warning", 10.1)
    said = status.shown(11.0)
    assert said is not None
    assert (said.words, said.severity) == ("Remembered · That settled 2 more", "warning")
    status.say("Not decided", "error", 14.0)
    said = status.shown(15.0)
    assert said is not None
    assert said.words == "Not decided"
    assert status.shown(60.0) is None


def test_what_is_said_again_and_again_does_not_pile_up() -> None:
    status = Status()
    for n in range(10):
        status.say(f"word {n}", "error", 10.0 + n * 0.6)
    said = status.shown(16.0)
    assert said is not None
    assert said.words == "word 8 · word 9"


def test_what_no_longer_holds_is_taken_back_and_what_stands_beside_it_stays() -> None:
    status = Status()
    status.say("Remembered", "information", 10.0)
    status.say("Not all of it shows", "warning", 10.1)
    status.take_back("Not all of it shows")
    said = status.shown(11.0)
    assert said is not None
    assert said.words == "Remembered"
    status.take_back("Remembered")
    assert status.shown(11.0) is None


@pytest.mark.parametrize("words", [*TEXTS, "short"])
@pytest.mark.law("I6")
def test_what_is_said_is_literal_and_fits(words: str) -> None:
    status = Status()
    status.say(words, "error", 0.0)
    said = status.shown(0.0)
    assert said is not None
    for row in said_rows(said, 60):
        text = "".join(span.text for span in row)
        assert cell_len(text) <= 60
        assert not UNSEEN.search(text)


def test_the_way_to_all_keys_is_never_left_out() -> None:
    groups = [(name, (Span(name[0]), Span(f" {name}"))) for name in ("expand", "many", "copy", "help", "quit")]
    assert plain([keys_row(groups, 200)]) == " e expand  m many  c copy  h help  q quit"
    assert plain([keys_row(groups, 27)]) == " e expand  m many  h help"
    assert plain([keys_row(groups, 9)]) == " h help"


def test_what_goes_on_below_hangs_under_its_words() -> None:
    folded = list(fold([Line((Span("  key   "), Span("words that go on and on")), hang=8)], 20))
    assert plain(folded) == "  key   words that\n        go on and on"


def test_an_answer_is_told_with_what_was_answered() -> None:
    questions = [{"question": "Which store?", "options": []}, {"question": "Why?", "options": []}]
    asked = request("q1", form="questions", kind="question", tool_input={"questions": questions})
    answers = {"Which store?": ["Redis", "Disk"], "Why?": "it is [/] there"}
    told = over(asked, word="answer", answers=answers)
    assert outcome(told).startswith("Answered “Redis, Disk · it is [/] there” by owner from cli")
    assert about(told) == "Which store? (and 1 more)"
