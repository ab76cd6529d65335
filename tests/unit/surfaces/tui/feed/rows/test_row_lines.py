"""The lines of rows: previews, cuts, and relative paths."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.tui.feed.rows.row_lines import RowLayout
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from tests.support.feed import EventStory
from tests.support.hostile import HOSTILE, HUGE
from tests.unit.surfaces.tui.feed.render.test_registry import closed

CLOCK = "14:02:01"
NARROW = RowLayout(width=60, clock=lambda at: CLOCK)
MIDDLE = RowLayout(width=100, clock=lambda at: CLOCK)
OUTPUT = "\n".join(["Exit code 1", *(f"test {n} ok" for n in range(20)), "E  assert 1 == 2", "2 failed, 41 passed"])


def test_a_command_that_fails_shows_how_its_output_ends() -> None:
    head, *below = closed(EventStory().fails("Bash", OUTPUT, command="pytest -q"))
    assert head.endswith("FAIL  86 ms")
    assert "pytest -q  exit 1 · 22 lines" in head
    assert [line.strip() for line in below] == ["test 19 ok", "E  assert 1 == 2", "2 failed, 41 passed"]


def test_any_other_failure_shows_how_its_error_begins() -> None:
    lines = closed(EventStory().fails("Edit", "String not found.\nString: a\nin b\nand c", file_path="/x"))
    assert "x  String not found." in lines[0]
    assert [line.strip() for line in lines[1:]] == ["String: a", "in b …"]


def test_a_failure_in_one_line_is_on_the_line_of_its_call() -> None:
    (line,) = closed(EventStory().fails("Bash", "Exit code 2\nno such file", command="ls x"))
    assert "ls x  exit 2 · no such file" in line


def test_a_failure_whose_call_is_not_in_the_window_shows_the_same() -> None:
    book = EventStory()
    book.fails("Bash", OUTPUT, command="pytest -q").events.pop(0)
    head, *below = closed(book)
    assert "● Bash     exit 1 · 22 lines" in head
    assert head.endswith("FAIL  86 ms")
    assert [line.strip() for line in below][-1] == "2 failed, 41 passed"


def test_a_failure_marked_as_collapsed_shows_one_line() -> None:
    book = EventStory().fails("Bash", OUTPUT, command="pytest -q")
    book.events[1]["ui"] = {"collapsed_default": True}
    (line,) = closed(book)
    assert "exit 1 · 2 failed, 41 passed" in line


def test_a_decision_keeps_its_words_beside_a_long_command_and_its_glyph_on_a_narrow_screen() -> None:
    command = "pytest " + "-k case " * 25 + "tests/auth"
    book = EventStory().gated_call("Bash", {"stdout": "ok"}, command=command)
    assert closed(book)[0].endswith("✓ rule Bash(*)  40 ms")
    (line,) = closed(book, NARROW)
    assert line.endswith("✓  40 ms")


@pytest.mark.parametrize("decided", ["allow", "deny"])
def test_a_decided_call_takes_one_line_that_names_the_rule(decided: str) -> None:
    (line,) = closed(EventStory().gated_call("Bash", {"stdout": "ok"}, decided=decided, command="make"))
    assert {"allow": "✓ rule Bash(*)  40 ms", "deny": "✗ rule Bash(*)  denied"}[decided] in line


@pytest.mark.parametrize("layout", [NARROW, MIDDLE])
def test_a_request_takes_one_line_and_says_that_it_waits(layout: RowLayout) -> None:
    command = "git push --force-with-lease origin feature/login && " * 2 + "echo done\nmake deploy"
    (line,) = closed(EventStory().asks("Bash", decided=None, command=command), layout)
    assert line.endswith("needs you")
    assert "make deploy" in line


def test_the_end_of_a_turn_never_cuts_the_text() -> None:
    words = [f"word{n}" for n in range(40)]
    lines = closed(EventStory().stops(" ".join(words)))
    assert lines[0].endswith("0 tools · 1 failed")
    assert " ".join(lines).replace("0 tools · 1 failed", "").split()[3:43] == words


def test_a_text_that_does_not_fit_keeps_its_end() -> None:
    path = "/srv/" + "deep/" * 30 + "login.py"
    (line,) = closed(EventStory().call("Read", {"file": {"numLines": 7}}, file_path=path))
    assert "/srv/deep" in line
    assert "…" in line
    assert "deep/login.py  7 lines" in line
    command = "pytest " + "-k case " * 25 + "tests/auth"
    (line,) = closed(EventStory().call("Bash", {"stdout": "ok"}, command=command))
    assert line.removesuffix("31 ms").rstrip().endswith("tests/auth  ok")


def test_a_text_far_longer_than_a_row_shows_its_size() -> None:
    script = "cat > x.py <<EOF\n" + "line\n" * 3000 + "EOF"
    (line,) = closed(EventStory().call("Bash", {"stdout": "ok"}, command=script))
    assert "EOF · 15 kB" in line
    assert closed(EventStory().says("word " * 4000))[-1].endswith("… 20 kB")
    assert "EOF · 15 kB" in closed(EventStory().asks("Bash", decided=None, command=script))[0]


def test_a_preview_with_hidden_lines_ends_in_an_ellipsis() -> None:
    assert closed(EventStory().says("\n".join(f"step {n}" for n in range(9))))[-1].endswith("step 5…")
    assert closed(EventStory().says("\n".join(f"step {n}" for n in range(6))))[-1].endswith("step 5")


@pytest.mark.parametrize("tool", ["Bash", "Read", "Grep", "mcp__a__b"])
def test_a_row_of_ten_megabytes_shows_their_size(tool: str) -> None:
    tool_input: dict[str, Any] = {"command": HUGE, "file_path": HUGE, "pattern": HUGE, "path": "x"}
    assert "10.0 MB" in closed(EventStory().call(tool, {}, **tool_input))[0]


def relative(tool: str, cwd: str, **tool_input: Any) -> str:
    layout = RowLayout(width=100, clock=MIDDLE.clock, cwd={"s1": cwd}.__getitem__)
    return closed(EventStory().call(tool, {}, **tool_input), layout)[0][21:].split("   ")[0].strip()


def test_paths_are_relative_to_the_session_even_without_a_prompt_in_the_window() -> None:
    assert relative("Read", "/home/you/api", file_path="/home/you/api/src/a.py") == "src/a.py"
    assert relative("Read", "/home/you/api", file_path="/home/you/apis/a.py") == "/home/you/apis/a.py"
    assert relative("Grep", "/home/you/api", pattern="def", path="/home/you/api/src") == "def  in src"
    assert relative("Grep", "/home/you/api", pattern="def", path="/home/you/api") == "def  in ."
    assert relative("Read", "", file_path="/a.py") == "/a.py"
    assert relative("Bash", "/home/you/api", command="/home/you/api/run") == "/home/you/api/run"


@pytest.mark.law("I6")
@pytest.mark.parametrize("name", HOSTILE)
def test_no_row_draws_text_that_would_act_on_a_terminal(name: str) -> None:
    text = HOSTILE[name]
    book = (
        EventStory().prompt(text).says(text).call(text or "Bash", text, command=text).fails("Bash", text, command=text)
    )
    book.fails("Bash", f"Exit code 1\n{text}\n{text}\n{text}", command=text).asks(text, decided=None, command=text)
    book.add("unknown.hook", text, title=text, body=text).update(ui={"collapsed_default": False, "badge": text})
    layout = RowLayout(width=80, clock=MIDDLE.clock, label=lambda _: text, cwd=lambda _: text)
    lines = closed(book, layout)
    assert lines
    assert not [line for line in lines if UNSEEN.search(line) or "\n" in line or "\t" in line]


def test_the_height_of_a_failure_does_not_depend_on_the_pages_of_the_log() -> None:
    events = EventStory().fails("Bash", OUTPUT, command="pytest -q").events
    whole, paged = FeedRows(), FeedRows()
    whole.append(events)
    paged.append(events[1:])
    assert paged.height == 4
    paged.prepend(events[:1])
    assert paged.height == whole.height == 4


@pytest.mark.parametrize("title", ["Σ 3 messages, 1 tool", "– Session ended (other)", "✕ Interrupted"])
def test_a_row_has_one_glyph_and_not_that_of_its_title_too(title: str) -> None:
    kinds = {"Σ": "session.summary", "–": "session.end", "✕": "session.interrupt"}
    book = EventStory()
    book.add(kinds[title[0]], {}, title=title)
    (line,) = closed(book)
    assert line.count(title[0]) == 1
    assert title[2:] in line
