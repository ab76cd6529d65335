"""`qd feed`: a line for each row, as it is stored on request, and each row once while it follows."""

from __future__ import annotations

import time

import pytest

from quarterdeck.cli.commands.event_feed import FeedPrinter, latest_page, row_line
from quarterdeck.core.text.feed.event_rows import fold
from tests.support.feed import EventStory

DAY = EventStory().prompt("go").gated_call("Bash", {"stdout": "made"}, command="mkdir out2")
DAY.add("agent.note", {"name": "init"}, level="debug", title="· init")


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What was printed below the date, without the times."""
    lines = capsys.readouterr().out.splitlines()
    return [line.split(maxsplit=2)[2] for line in lines if line != DATE]


DATE = time.strftime("%a %d %b %Y", time.localtime(DAY.events[0]["at"]))


def test_another_day_is_named_once_above_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    FeedPrinter().print_page(DAY.events, is_all=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line == DATE for line in lines] == [True, False, False]


def test_a_line_names_the_project_in_a_column_of_its_own() -> None:
    [row] = fold(EventStory().call("Bash", command="make").events)
    named = row_line(row, None, "a-project-with-a-long-name").plain
    assert named.split(maxsplit=2)[2].startswith("a-pro…-name  ●")
    assert row_line(row, None, "").plain.split(maxsplit=2)[2].startswith("●")


def test_a_tool_call_is_one_line_and_notes_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    FeedPrinter().print_page(DAY.events, is_all=True)
    assert printed(capsys) == ["❯ go", "● Bash mkdir out2  ✓ rule Bash(*)  40 ms"]


def test_all_events_are_printed_as_they_are_stored(capsys: pytest.CaptureFixture[str]) -> None:
    FeedPrinter(every=True).print_page(DAY.events, is_all=True)
    assert printed(capsys) == [event["title"] for event in DAY.events]


def test_while_it_follows_a_call_that_runs_is_printed_once_with_its_outcome(
    capsys: pytest.CaptureFixture[str],
) -> None:
    events, printer = EventStory().call("Bash", command="make").events, FeedPrinter()
    printer.print_page(events[:1], is_all=False)
    assert printed(capsys) == []
    printer.print_new(events[1:])
    assert printed(capsys) == ["● Bash make  31 ms"]
    printer.print_rest()
    assert printed(capsys) == []


def test_a_narrow_terminal_cuts_the_command_and_keeps_who_decided() -> None:
    book = EventStory().gated_call("Bash", {}, command="pytest " + "-k case " * 30)
    line = row_line(fold(book.events)[0], 80)
    assert line.cell_len == 80
    assert line.plain.endswith("✓ rule Bash(*)  40 ms")


def test_the_limit_counts_the_lines_and_not_the_events_behind_them(capsys: pytest.CaptureFixture[str]) -> None:
    story = EventStory()
    for name in ("one", "two", "three", "four"):
        story.gated_call("Bash", {"stdout": "made"}, command=f"mkdir {name}")

    def read(before: int, limit: int) -> dict[str, object]:
        """Pages of three events."""
        earlier = [event for event in story.events if event["seq_no"] < before]
        return {"events": earlier[-3:], "previous": earlier[-3]["seq_no"] if len(earlier) > 3 else None}

    printer = FeedPrinter()
    printer.print_page(latest_page(read, 2, printer)["events"], is_all=True, limit=2)
    assert printed(capsys) == [f"● Bash mkdir {name}  ✓ rule Bash(*)  40 ms" for name in ("three", "four")]
    printer.print_page(latest_page(read, 9, printer)["events"], is_all=True, limit=9)
    assert len(printed(capsys)) == 4
