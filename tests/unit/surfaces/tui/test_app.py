"""Small pure parts of the terminal UI: folding, labels, commands, notifications, edits, answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.surfaces.terminal.lines.health_lines import health_lines
from quarterdeck.surfaces.terminal.model import Metrics, Model
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, exact_lines, fold, plain
from quarterdeck.surfaces.terminal.text_commands import COMMANDS, read_command, read_filter
from quarterdeck.surfaces.text.labels import STATES, about, outcome
from quarterdeck.surfaces.tui.keys.decision_keys import VERBS
from quarterdeck.surfaces.tui.keys.key_reference import PLACES
from quarterdeck.surfaces.tui.panes.feed_pane import parse_filter
from quarterdeck.surfaces.tui.panes.header import header_row
from quarterdeck.surfaces.tui.panes.session_list import session_rows
from quarterdeck.surfaces.tui.terminal_notify import BEL, TerminalNotifier, notification, title
from quarterdeck.surfaces.tui.widgets.footer import keys_row, message_rows
from quarterdeck.surfaces.tui.widgets.status_line import StatusLine
from quarterdeck.surfaces.tui.widgets.themes import PALETTES, style_of
from quarterdeck.views.resources.session_view import SessionView
from tests.support.hostile import HOSTILE, TEXTS
from tests.support.recorded_daemon import NOW, request, resolved, session_view


@given(st.text(max_size=400), st.integers(10, 80))
def test_exact_lines_lose_nothing_and_no_row_is_too_wide(text: str, width: int) -> None:
    rows = list(fold(exact_lines(text), width))
    assert all(sum(cell_len(span.text) for span in row) <= width for row in rows)
    assert "".join(s.text for row in rows for s in row[1:]) == visible(text).replace("\t", "    ").replace("\n", "")


@given(st.lists(st.text("ab 漢", max_size=20), max_size=20), st.integers(10, 60))
def test_words_fold_between_words_and_keep_their_styles(parts: list[str], width: int) -> None:
    one = StyledLine(tuple(TextSpan(part, f"style{n}") for n, part in enumerate(parts)))
    rows = list(fold([one], width))
    assert "".join(span.text for row in rows for span in row) == "".join(parts)
    styles = {span.style: span for row in rows for span in row}
    assert set(styles) <= {f"style{n}" for n in range(len(parts))}


def test_a_line_of_megabytes_is_folded_a_block_at_a_time() -> None:
    lines = list(exact_lines("x" * 1_000_000))
    assert len(lines) > 200
    assert sum(len(one.spans[0].text) for one in lines) == 1_000_000


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_the_header_always_shows_the_number_of_waiting_requests(width: int) -> None:
    figures = Metrics(sessions=12, running=3, waiting=2, tools=412, failures=3, tokens=1200000, cost=1.84)
    row = header_row(figures, "otter", True, width)
    text = "".join(span.text for span in row)
    assert "2 need you" in text or width < 40
    assert cell_len(text) == width or width < 60


def test_the_header_shows_every_number_when_there_is_room() -> None:
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
        rows = list(session_rows(session_view(state=state), SessionName("shop"), NOW, width, True))
        assert all(sum(cell_len(span.text) for span in row) <= width for row in rows)
        text = plain(rows)
        assert STATES[state].glyph in text
        assert STATES[state].word in text
        assert "shop" in text


USAGE = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.61}


def row_of(view: SessionView, width: int = 36, *, tall: bool = False, name: str = "shop") -> str:
    rows = list(session_rows(view, SessionName(name), NOW, width, tall))
    assert all(sum(cell_len(span.text) for span in row) == width for row in rows)
    return plain(rows)


def test_a_running_session_shows_the_length_of_its_run_and_others_the_time_in_their_state() -> None:
    began: dict[str, Any] = {"run_started_at": NOW - 240, "state_at": NOW - 3}
    assert row_of(session_view(state="running", **began)).endswith(" running     4 m")
    assert row_of(session_view(state="idle", **began)).endswith(" idle        3 s")
    assert row_of(session_view(state="running", run_started_at=None, state_at=NOW - 3)).endswith(" running     3 s")


def test_a_session_in_one_row_shows_its_waiting_requests_and_its_cost() -> None:
    view = session_view(pending=3, usage=USAGE)
    assert row_of(view) == " ◆ shop    ×3 $0.61 needs you  12 s"
    assert row_of(view, name="a-name-that-is-long") == " ◆ a-name…s-long ×3 needs you  12 s"
    assert "login" in row_of(view, 60)
    assert "×" not in row_of(session_view(pending=1))
    assert "×3" in row_of(view, 30)


@pytest.mark.parametrize(
    ("text", "found"),
    [("allow", "allow"), (":deny no", "deny"), ("heal", "health"), ("go", "go-on"), ("  quit ", "quit")],
)
def test_a_command_may_be_shortened(text: str, found: str) -> None:
    read = read_command(text)
    assert isinstance(read, tuple)
    assert read[0].name == found


def test_an_unknown_command_is_reported() -> None:
    assert "no such command" in str(read_command("fly"))
    assert "health or help" in str(read_command("he"))
    assert "name a command" in str(read_command(":"))
    assert read_command("deny not on main")[1] == "not on main"
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def test_a_filter_names_what_it_narrows() -> None:
    assert read_filter("kind=tool tool=Bash,Edit") == {"kind": "tool", "tool": "Bash,Edit"}
    assert "not a filter" in str(read_filter("colour=red"))
    made = parse_filter({"tool": "Bash,Edit", "level": "warn"})
    assert not isinstance(made, str)
    assert made.tools == {"Bash", "Edit"}
    assert "levels are" in str(parse_filter({"level": "loud"}))


@pytest.mark.law("I6")
@pytest.mark.parametrize("text", TEXTS, ids=list(HOSTILE))
def test_a_notification_carries_no_escape_sequence_from_outside(text: str) -> None:
    sequence = notification(text, {})
    assert sequence.count("\x1b]") == 2
    assert sequence.count(BEL) == 2
    inside = sequence.replace("\x1b]9;", "").replace("\x1b]777;notify;Quarterdeck;", "").replace(BEL, "")
    assert not UNSEEN.search(inside)
    assert ";" not in inside
    wrapped = notification(text, {"TMUX": "1"})
    assert wrapped.count("\x1bPtmux;") == wrapped.count("\x1b\\") == 2


def test_each_request_rings_once_and_the_title_counts() -> None:
    written_: list[str] = []
    notifier = TerminalNotifier(written_.append)
    notifier.update({})
    assert written_ == [title(0)]
    notifier.update({"a": lambda: "shop needs you", "b": lambda: "docs needs you"})
    assert written_[1] == title(2) == "\x1b]2;(2) Quarterdeck\x07"
    assert "shop needs you (and 1 more)" in written_[2]
    notifier.update({"a": lambda: "shop needs you"})
    assert written_[3:] == [title(1)]
    notifier.on = False
    notifier.update({"a": lambda: "shop needs you", "c": lambda: "infra needs you"})
    assert written_[4:] == [title(2)]


def test_what_a_request_is_about_fits_a_line() -> None:
    assert about(request(command="x" * 500)).count("x") < 70
    assert about(request(tool_name="Edit", tool_input={"file_path": "/w/a.py"})) == "Edit(a.py)"
    assert about(request(form="plan", kind="question")) == "a plan"


def test_health_says_that_there_are_no_numbers_yet() -> None:
    assert "No numbers yet" in plain(fold(health_lines(Model(), "/h", 0.0), 80))


def test_every_style_of_a_card_is_in_every_theme() -> None:
    names = set(PALETTES["dark"])
    assert all(set(palette) == names for palette in PALETTES.values())
    assert style_of("dark", "no such style").color is None


def test_no_decision_key_means_something_else_elsewhere() -> None:
    """Only where no card can be is one free: i connects while nobody is there."""
    deciding = {key for key, _ in VERBS.values()}
    same = {"Many at once": {"a", "d", "p"}, "Everywhere": {"i"}}
    for place, bindings in PLACES:
        keys = {key for binding in bindings for key in binding.key.split(",")}  # type: ignore[union-attr]
        assert place == "On the desk" or keys & deciding <= same.get(place, set()), place


def test_messages_within_a_second_are_joined_and_expire() -> None:
    status = StatusLine()
    status.say("Remembered", "information", 10.0)
    status.say("That settled 2 more", "warning", 10.1)
    shown = status.shown(11.0)
    assert shown is not None
    assert (shown.words, shown.severity) == ("Remembered · That settled 2 more", "warning")
    status.say("Not decided", "error", 14.0)
    shown = status.shown(15.0)
    assert shown is not None
    assert shown.words == "Not decided"
    assert status.shown(60.0) is None


def test_frequent_messages_do_not_pile_up() -> None:
    status = StatusLine()
    for n in range(10):
        status.say(f"word {n}", "error", 10.0 + n * 0.6)
    shown = status.shown(16.0)
    assert shown is not None
    assert shown.words == "word 8 · word 9"


def test_a_retracted_message_leaves_the_one_beside_it() -> None:
    status = StatusLine()
    status.say("Remembered", "information", 10.0)
    status.say("Not all of it shows", "warning", 10.1)
    status.retract("Not all of it shows")
    shown = status.shown(11.0)
    assert shown is not None
    assert shown.words == "Remembered"
    status.retract("Remembered")
    assert status.shown(11.0) is None


@pytest.mark.parametrize("words", [*TEXTS, "short"])
@pytest.mark.law("I6")
def test_a_message_is_literal_and_fits(words: str) -> None:
    status = StatusLine()
    status.say(words, "error", 0.0)
    shown = status.shown(0.0)
    assert shown is not None
    for row in message_rows(shown, 60):
        text = "".join(span.text for span in row)
        assert cell_len(text) <= 60
        assert not UNSEEN.search(text)


def test_the_help_key_is_always_shown() -> None:
    groups = [(name, (TextSpan(name[0]), TextSpan(f" {name}"))) for name in ("expand", "many", "copy", "help", "quit")]
    assert plain([keys_row(groups, 200)]) == " e expand  m many  c copy  h help  q quit"
    assert plain([keys_row(groups, 27)]) == " e expand  m many  h help"
    assert plain([keys_row(groups, 9)]) == " h help"


def test_continued_rows_are_indented_under_their_words() -> None:
    folded = list(fold([StyledLine((TextSpan("  key   "), TextSpan("words that go on and on")), hang=8)], 20))
    assert plain(folded) == "  key   words that\n        go on and on"


def test_the_outcome_of_a_question_shows_its_answers() -> None:
    questions = [{"question": "Which store?", "options": []}, {"question": "Why?", "options": []}]
    pending = request("q1", form="questions", kind="question", tool_input={"questions": questions})
    answers = {"Which store?": ["Redis", "Disk"], "Why?": "it is [/] there"}
    answered = resolved(pending, word="answer", answers=answers)
    assert outcome(answered).startswith("Answered “Redis, Disk · it is [/] there” by owner from cli")
    assert about(answered) == "Which store? (and 1 more)"
