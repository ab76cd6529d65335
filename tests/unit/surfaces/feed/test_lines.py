"""The lines of rows: what is opened from the start, what is cut and how, and from where paths are told."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.tui.feed.rows.row_lines import Look
from quarterdeck.surfaces.tui.feed.rows.rows import Rows
from tests.support.feed import Book
from tests.support.hostile import HOSTILE, HUGE
from tests.unit.surfaces.feed.test_renderers import closed

CLOCK = "14:02:01"
NARROW = Look(width=60, clock=lambda at: CLOCK)
MIDDLE = Look(width=100, clock=lambda at: CLOCK)
OUTPUT = "\n".join(["Exit code 1", *(f"test {n} ok" for n in range(20)), "E  assert 1 == 2", "2 failed, 41 passed"])


def test_a_command_that_fails_shows_how_its_output_ends() -> None:
    head, foot, *below = closed(Book().fails("Bash", OUTPUT, command="pytest -q"))
    assert head.endswith("FAIL  86 ms")
    assert foot.strip() == "⎿ exit 1 · 22 lines"
    assert [line.strip() for line in below] == ["test 19 ok", "E  assert 1 == 2", "2 failed, 41 passed"]


def test_any_other_failure_shows_how_its_error_begins() -> None:
    lines = closed(Book().fails("Edit", "String not found.\nString: a\nin b\nand c", file_path="/x"))
    assert [line.strip() for line in lines[1:]] == ["⎿ String not found.", "String: a", "in b …"]


def test_a_failure_in_one_line_takes_one_line() -> None:
    lines = closed(Book().fails("Bash", "Exit code 2\nno such file", command="ls x"))
    assert [line.strip() for line in lines[1:]] == ["⎿ exit 2 · no such file"]


def test_a_failure_whose_call_is_not_in_the_window_shows_the_same() -> None:
    book = Book()
    book.fails("Bash", OUTPUT, command="pytest -q").events.pop(0)
    head, *below = closed(book)
    assert "exit 1 · 22 lines" in head
    assert head.endswith("FAIL")
    assert [line.strip() for line in below][-1] == "2 failed, 41 passed"


def test_a_failure_that_asks_to_be_folded_is() -> None:
    book = Book().fails("Bash", OUTPUT, command="pytest -q")
    book.events[1]["ui"] = {"collapsed_default": True}
    assert [line.strip() for line in closed(book)[1:]] == ["⎿ exit 1 · 2 failed, 41 passed"]


@pytest.mark.parametrize("look", [NARROW, MIDDLE])
def test_a_request_shows_all_of_a_command_that_is_longer_than_a_line(look: Look) -> None:
    command = "git push --force-with-lease origin feature/login && " * 2 + "echo done\nmake deploy"
    lines = closed(Book().asks("Bash", decided=None, command=command), look)
    assert lines[0].endswith("needs you")
    told = " ".join(line[look.left :].removesuffix("needs you").strip() for line in lines)
    assert told == command.replace("\n", " ")
    assert lines[-1].endswith("make deploy")


def test_a_request_in_one_line_takes_one_line_and_names_itself_once_decided() -> None:
    assert len(closed(Book().asks("Bash", decided=None, command="git push"))) == 1
    assert closed(Book().asks("Bash", command="git push"))[0].endswith("PERM")
    assert closed(Book().asks("Bash", command="git push"), NARROW)[0].endswith("git push")


def test_nothing_of_what_is_said_gives_way_to_a_badge() -> None:
    words = [f"word{n}" for n in range(40)]
    lines = closed(Book().stops(" ".join(words)))
    assert lines[0].endswith("STOP")
    assert " ".join(lines).replace("STOP", "").split()[3:43] == words


def test_what_does_not_fit_a_line_keeps_its_end() -> None:
    path = "/srv/" + "deep/" * 30 + "login.py"
    (line,) = closed(Book().call("Read", {"file": {"numLines": 7}}, file_path=path))
    assert "/srv/deep" in line
    assert "…" in line
    assert "deep/login.py  7 lines" in line
    command = "pytest " + "-k case " * 25 + "tests/auth"
    head, _ = closed(Book().call("Bash", {"stdout": "ok"}, command=command))
    assert head.removesuffix("31 ms").rstrip().endswith("tests/auth")


def test_what_is_far_longer_than_a_row_keeps_says_its_size() -> None:
    script = "cat > x.py <<EOF\n" + "line\n" * 3000 + "EOF"
    head, _ = closed(Book().call("Bash", {"stdout": "ok"}, command=script))
    assert "EOF · 15 kB" in head
    assert closed(Book().says("word " * 4000))[-1].endswith("… 20 kB")
    assert closed(Book().asks("Bash", decided=None, command=script))[-1].endswith("… 15 kB")


def test_a_preview_of_more_lines_than_are_shown_says_so() -> None:
    assert closed(Book().says("\n".join(f"step {n}" for n in range(9))))[-1].endswith("step 5…")
    assert closed(Book().says("\n".join(f"step {n}" for n in range(6))))[-1].endswith("step 5")


@pytest.mark.parametrize("tool", ["Bash", "Read", "Grep", "mcp__a__b"])
def test_ten_megabytes_are_no_row_without_their_size(tool: str) -> None:
    given: dict[str, Any] = {"command": HUGE, "file_path": HUGE, "pattern": HUGE, "path": "x"}
    assert "10.0 MB" in closed(Book().call(tool, {}, **given))[0]


def relative(tool: str, cwd: str, **given: Any) -> str:
    look = Look(width=100, clock=MIDDLE.clock, cwd={"s1": cwd}.__getitem__)
    return closed(Book().call(tool, {}, **given), look)[0][21:].split("   ")[0].strip()


def test_paths_are_told_from_where_the_session_works_though_no_prompt_is_in_the_window() -> None:
    assert relative("Read", "/home/you/api", file_path="/home/you/api/src/a.py") == "src/a.py"
    assert relative("Read", "/home/you/api", file_path="/home/you/apis/a.py") == "/home/you/apis/a.py"
    assert relative("Grep", "/home/you/api", pattern="def", path="/home/you/api/src") == "def  in src"
    assert relative("Grep", "/home/you/api", pattern="def", path="/home/you/api") == "def  in ."
    assert relative("Read", "", file_path="/a.py") == "/a.py"
    assert relative("Bash", "/home/you/api", command="/home/you/api/run") == "/home/you/api/run"


@pytest.mark.law("I6")
@pytest.mark.parametrize("name", HOSTILE)
def test_no_row_draws_what_would_act_on_a_terminal(name: str) -> None:
    text = HOSTILE[name]
    book = Book().prompt(text).says(text).call(text or "Bash", text, command=text).fails("Bash", text, command=text)
    book.fails("Bash", f"Exit code 1\n{text}\n{text}\n{text}", command=text).asks(text, decided=None, command=text)
    book.add("unknown.hook", text, title=text, body=text).update(ui={"collapsed_default": False, "badge": text})
    look = Look(width=80, clock=MIDDLE.clock, label=lambda _: text, cwd=lambda _: text)
    lines = closed(book, look)
    assert lines
    assert not [line for line in lines if UNSEEN.search(line) or "\n" in line or "\t" in line]


def test_the_rows_of_a_failure_have_the_same_height_in_whichever_pages_they_are_read() -> None:
    events = Book().fails("Bash", OUTPUT, command="pytest -q").events
    whole, paged = Rows(), Rows()
    whole.append(events)
    paged.append(events[1:])
    assert paged.height == 4
    paged.prepend(events[:1])
    assert paged.height == whole.height == 5
