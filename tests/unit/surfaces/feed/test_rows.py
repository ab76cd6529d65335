"""Rows: pairs, folds, filters, and on which line everything stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.surfaces.tui.feed.rows.block import SIZE
from quarterdeck.surfaces.tui.feed.rows.filter import Wanted
from quarterdeck.surfaces.tui.feed.rows.jump import holds, is_a
from quarterdeck.surfaces.tui.feed.rows.row_lines import Look, row_lines
from quarterdeck.surfaces.tui.feed.rows.rows import Row, Rows
from tests.support.feed import Book, Event, turns


def rows_of(book: Book, **wanted: object) -> Rows:
    rows = Rows(wanted=Wanted(**wanted))  # type: ignore[arg-type]
    rows.append(book.events)
    return rows


def shown(rows: Rows) -> list[Row]:
    """The rows that take lines, from the top."""
    found, line = [], 0
    while (at := rows.window.at_line(line, 10_000)) is not None:
        row = rows.row(at[0])
        assert row is not None
        found.append(row)
        line += rows.window.height_of(at[0])
    return found


def kinds(rows: Rows) -> list[str]:
    return [row.kind for row in shown(rows)]


def first_match(rows: Rows, kind: str, start: int, step: int) -> int | None:
    return next((n for n in rows.seek(is_a(kind, rows), start, step) if n is not None), None)


def test_a_tool_and_its_result_are_one_row() -> None:
    rows = rows_of(Book().call("Bash", {"stdout": "2 passed"}, command="pytest"))
    (row,) = shown(rows)
    assert (row.text, row.after, round(row.took, 3)) == ("pytest", "2 passed", 0.031)
    assert rows.height == 2


def test_what_has_no_outcome_yet_takes_one_line() -> None:
    rows = Rows()
    called = Book().call("Bash", {"stdout": "2 passed"}, command="pytest").events
    rows.append(called[:1])
    assert rows.height == 1
    rows.append(called[1:])
    asked = Book(first=3).asks("Bash", command="git push").events
    rows.append(asked[:1])
    assert rows.height == 2 + 1
    rows.append(asked[1:])
    assert rows.height == 2 + 2


def test_results_find_their_calls_whatever_comes_between() -> None:
    book = Book()
    a = book.call("Bash", {"stdout": "A"}, command="a").events
    b = Book(first=3).call("Bash", {"stdout": "B"}, command="b").events
    rows = Rows()
    rows.append([a[0], {**b[0], "seq_no": 2}, {**b[1], "seq_no": 3}, {**a[1], "seq_no": 4}])
    assert [(row.text, row.after) for row in shown(rows)] == [("a", "A"), ("b", "B")]


def test_two_sessions_may_use_the_same_name_for_a_call() -> None:
    ours, theirs = Book("ours"), Book("theirs", first=2)
    ours.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "a"}, "tool_use_id": "t"})
    theirs.add("tool.post", {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "tool_response": "no"})
    rows = Rows()
    rows.append(ours.events + theirs.events)
    assert kinds(rows) == ["tool.pre", "tool.post"]


def test_a_failure_shows_in_the_row_of_its_call() -> None:
    rows = rows_of(Book().fails("Read", "File does not exist.", file_path="/x"))
    (row,) = shown(rows)
    assert (row.level, row.after, rows.height) == (3, "File does not exist.", 2)


def test_a_request_waits_until_it_is_decided() -> None:
    book = Book().asks("Bash", decided=None, command="git push")
    rows = rows_of(book)
    assert first_match(rows, "request", 99, -1) == 1
    data = {"request_id": "q1", "decision_type": "allow"}
    rows.append([book.add("permission.decision", data, title="✓ Allowed by cli")])
    assert [row.after for row in shown(rows)] == ["✓ Allowed by cli"]
    assert first_match(rows, "request", 99, -1) is None


def test_a_call_without_a_result_is_not_under_way_once_its_run_is_over() -> None:
    book = Book()
    book.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "sleep"}, "tool_use_id": "t"})
    rows = rows_of(book)
    assert not shown(rows)[0].over
    rows.append(Book(first=2).stops("Done.").events)
    assert shown(rows)[0].over


def explores(book: Book, actor: str) -> None:
    book.call("Glob", {"numFiles": 4}, actor=actor, pattern="*.py")
    book.fails("Bash", "Exit code 1", actor=actor, command="false")


def test_a_sub_agent_folds_under_its_start_and_opens() -> None:
    rows = rows_of(Book().agent("a1", explores).says("done"))
    head = shown(rows)[0]
    assert kinds(rows) == ["subagent.start", "message.assistant"]
    assert head.group is not None
    assert (head.group.tools, head.group.failed, head.after) == (2, 1, "Three routes lack docs.")
    actor = rows.actor_under(head.seq_no)
    assert actor is not None
    rows.fold(actor, True)
    assert kinds(rows) == ["subagent.start", "tool.pre", "tool.pre", "message.assistant"]
    rows.fold(actor, False)
    assert kinds(rows) == ["subagent.start", "message.assistant"]


def test_what_a_folded_sub_agent_asks_is_never_hidden() -> None:
    def asks(book: Book, actor: str) -> None:
        data = {"tool_name": "Bash", "tool_input": {"command": "rm -r x"}, "request_id": "q", "agent_id": "a1"}
        book.add("permission.request", data, actor=actor)

    assert kinds(rows_of(Book().agent("a1", asks))) == ["subagent.start", "permission.request"]


def test_a_sub_agent_whose_start_comes_later_from_an_older_page_folds() -> None:
    events = Book().agent("a1", explores).events
    rows = Rows()
    rows.append(events[1:])
    assert "tool.pre" in kinds(rows)
    rows.prepend(events[:1])
    assert kinds(rows) == ["subagent.start"]


def busy() -> Book:
    book = Book().prompt("go").call("Read", {}, file_path="/a").fails("Bash", "Exit code 1", command="false")
    book.asks("Bash", command="git push").agent("a1", explores)
    book.add("session.usage", {"offset": 1})
    return book


def test_repeating_kinds_are_left_out_unless_asked_for() -> None:
    assert "session.usage" not in kinds(rows_of(busy()))
    assert "session.usage" in kinds(rows_of(busy(), hidden=True))
    assert kinds(rows_of(busy(), kinds=frozenset({"session.usage"}))) == ["session.usage"]


def test_rows_are_filtered_by_kind_tool_actor_and_level() -> None:
    assert set(kinds(rows_of(busy(), kinds=frozenset({"user"})))) == {"user.prompt"}
    assert [row.text for row in shown(rows_of(busy(), tools=frozenset({"Read"})))] == ["/a"]
    assert [row.actor for row in shown(rows_of(busy(), actors=frozenset({"user"})))] == ["user"]
    assert [row.text for row in shown(rows_of(busy(), level="error"))] == ["false"]


def test_a_filter_for_failures_shows_the_calls_that_failed() -> None:
    found = shown(rows_of(busy(), kinds=frozenset({"tool.failure"})))
    assert [(row.kind, row.text) for row in found] == [("tool.pre", "false")]


def test_a_filter_changes_and_goes_without_losing_a_row() -> None:
    rows = Rows()
    rows.append(turns(5000))
    before = (rows.height, kinds(rows))
    rows.shape(wanted=Wanted(level="error"))
    while rows.window.settle(1):
        pass
    assert rows.height < before[0] // 5
    rows.shape(wanted=Wanted())
    while rows.window.settle(1):
        pass
    assert (rows.height, kinds(rows)) == before


def test_jumps_go_to_errors_decisions_and_prompts_in_both_directions() -> None:
    rows = rows_of(busy())
    assert [first_match(rows, kind, 99, -1) for kind in ("error", "decision", "prompt")] == [13, 8, 2]
    assert first_match(rows, "error", 1, 1) == 5
    assert first_match(rows, "prompt", 2, -1) is None


def test_a_search_finds_what_a_row_says_in_whatever_case() -> None:
    rows = Rows()
    rows.append(turns(3 * SIZE))
    found = [n for n in rows.seek(holds("ROUTE 5"), 10**9, -1) if n is not None]
    texts = [row.text for n in found if (row := rows.row(n)) is not None]
    assert texts
    assert all("route 5" in text.lower() for text in texts)
    assert found == sorted(found, reverse=True)
    assert [n for n in rows.seek(holds("no such words"), 1, 1) if n is not None] == []


def test_the_parent_of_an_event_is_found_by_its_id() -> None:
    book = Book().prompt("go").call("Bash", {"stdout": "x"}, command="a")
    rows = rows_of(book)
    post = book.events[-1]
    assert rows.parent(post["cause"]["parent_event_id"], post["seq_no"]) == 3
    assert rows.parent("s1:R1:E77", 4) is None
    assert rows.parent("nonsense", 4) is None


def test_only_so_many_rows_are_kept() -> None:
    rows = Rows(kept=3 * SIZE)
    rows.append(turns(10 * SIZE))
    assert 3 * SIZE <= len(rows) <= 4 * SIZE
    assert rows.last == 10 * SIZE
    assert rows.first > 6 * SIZE
    assert all(group.head >= rows.first for group in rows.groups.values())


def test_older_events_are_not_added_again() -> None:
    events = list(turns(100))
    rows = Rows()
    rows.append(events)
    rows.append(events[50:])
    rows.prepend(events[:50])
    assert len(rows) == 100


events = st.lists(st.sampled_from(["say", "call", "fail", "ask", "agent", "stop", "prompt"]), max_size=40)


def told(parts: list[str]) -> list[Event]:
    book = Book()
    for part in parts:
        match part:
            case "say":
                book.says("Some words that are long enough to be wrapped over more than one line of a terminal. " * 3)
            case "call":
                book.call("Bash", {"stdout": "ok"}, command="ls")
            case "fail":
                book.fails("Read", "no such file", file_path="/x")
            case "ask":
                book.asks("Bash", command="git push")
            case "agent":
                book.agent(f"a{book.next}", explores)
            case "stop":
                book.stops("Done.")
            case _:
                book.prompt("go on")
    return book.events


@settings(max_examples=60)
@given(events, st.integers(0, 200), st.integers(20, 100))
def test_it_does_not_matter_in_which_pages_the_log_is_read(parts: list[str], cut: int, width: int) -> None:
    log = told(parts)
    whole, paged = Rows(width), Rows(width)
    whole.append(log)
    paged.append(log[cut:])
    paged.prepend(log[:cut])
    assert kinds(paged) == kinds(whole)
    assert paged.height == whole.height
    assert [row.after for row in shown(paged)] == [row.after for row in shown(whole)]


@settings(max_examples=60)
@given(events, st.dictionaries(st.integers(1, 60), st.integers(1, 30), max_size=5), st.integers(20, 100))
def test_every_line_belongs_to_one_row_and_back(parts: list[str], opened: dict[int, int], width: int) -> None:
    rows = Rows()
    rows.append(told(parts))
    for seq_no, lines in opened.items():
        rows.expand(seq_no, lines)
    rows.shape(width=width)
    assert not rows.window.settle(100)
    seen = [rows.window.at_line(line, 10_000) for line in range(rows.height)]
    assert None not in seen
    assert rows.window.at_line(rows.height) is None
    for line, at in enumerate(seen):
        assert at is not None
        assert rows.window.line_of(at[0]) + at[1] == line
        assert at[1] < rows.window.height_of(at[0])


def test_neighbours_are_the_rows_that_are_shown() -> None:
    rows = rows_of(busy())
    numbers = [row.seq_no for row in shown(rows)]
    assert [rows.window.neighbour(n, 1) for n in numbers] == [*numbers[1:], None]
    assert [rows.window.neighbour(n, -1) for n in numbers] == [None, *numbers[:-1]]


USED = {"tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "t9"}


def _asked(book: Book, kind: str = "permission") -> Book:
    book.add("tool.pre", USED)
    book.add(f"{kind}.request", {**USED, "request_id": "q9"}, cause={"tool_use_id": "t9"})
    return book


def _decided(book: Book, decision: str, kind: str = "permission", **data: object) -> Book:
    book.add(f"{kind}.decision", {"decision_type": decision, "request_id": "q9", **data}, cause={"tool_use_id": "t9"})
    return book


def _denied(book: Book) -> Book:
    return _decided(_asked(book), "deny")


def _told(rows: Rows) -> str:
    look = Look(width=100, clock=str)
    return "\n".join("".join(text for text, _ in line) for line in row_lines(shown(rows)[0], look))


def _stop_row(rows: Rows) -> tuple[str, int]:
    row = next(row for row in shown(rows) if row.kind == "stop.request")
    lines = row_lines(row, Look(width=100, clock=str))
    assert len(lines) == rows.window.height_of(row.seq_no)
    return "\n".join("".join(text for text, _ in line) for line in lines), len(lines)


def _late(first: str, then: str) -> Book:
    """A stop that is heard before the transcript says what was said."""
    book = Book().prompt("go")
    book.add("stop.request", {"last_assistant_message": first})
    return book.says(then)


def test_last_words_that_the_feed_has_are_not_repeated_by_the_stop() -> None:
    words = "All is done.\n" + "And this is how. " * 30
    for book in (Book().prompt("go").says(words).stops(f"{words}\n"), _late(words, words)):
        told, height = _stop_row(rows_of(book))
        assert height == 1
        assert "All is done" not in told
    assert "All is done" in _stop_row(rows_of(_late(words, "something else")))[0]
    assert "All is done" in _stop_row(rows_of(Book().says(words).prompt("go").prompt("again").stops(words + "!")))[0]


@pytest.mark.parametrize("cut", range(1, 4))
def test_what_a_stop_repeats_does_not_depend_on_the_pages_of_the_log(cut: int) -> None:
    events = _late("All is done.", "All is done.").events
    rows = Rows(width=60)
    rows.append(events[cut:])
    rows.prepend(events[:cut])
    assert "All is done" not in _stop_row(rows)[0]


@pytest.mark.parametrize("kind", ["permission", "question"])
def test_a_tool_that_waits_for_a_decision_reads_waiting_until_it_comes(kind: str) -> None:
    told = _told(rows_of(_asked(Book(), kind)))
    assert "◆ Bash" in told
    assert "waiting" in told
    assert "running" not in told
    assert "● Bash" in _told(rows_of(_decided(_asked(Book(), kind), "allow", kind)))
    assert "running" in _told(rows_of(_decided(_asked(Book(), kind), "allow", kind)))
    assert "denied" in _told(rows_of(_decided(_asked(Book(), kind), "deny", kind)))


def test_a_tool_whose_own_terminal_still_asks_reads_waiting() -> None:
    passed = rows_of(_decided(_asked(Book()), "no_opinion", still_asks=True))
    assert "waiting" in _told(passed)
    late = rows_of(_decided(_decided(_asked(Book()), "allow"), "deny", late=True))
    assert "running" in _told(late)


def test_a_tool_that_waited_is_over_with_its_run() -> None:
    told = _told(rows_of(_asked(Book()).stops("Interrupted.")))
    assert "waiting" not in told
    assert "no result" in told


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("decision", ["allow", "deny", "none"])
def test_who_waits_does_not_depend_on_the_pages_of_the_log(decision: str, cut: int) -> None:
    events = (_asked(Book()) if decision == "none" else _decided(_asked(Book()), decision)).events
    whole, paged = Rows(), Rows()
    whole.append(events)
    paged.append(events[cut:])
    paged.prepend(events[:cut])
    assert _told(paged) == _told(whole)


def test_a_tool_that_was_denied_reads_denied() -> None:
    assert "denied" in _told(rows_of(_denied(Book())))
    assert "running" not in _told(rows_of(_denied(Book())))


def test_a_tool_that_runs_after_all_tells_its_result() -> None:
    book = _denied(Book())
    book.add("tool.post", USED | {"tool_response": {"stdout": "gone"}})
    assert "denied" not in _told(rows_of(book))
    assert "gone" in _told(rows_of(book))


def test_a_tool_that_comes_into_the_window_after_its_refusal_reads_denied() -> None:
    book = _denied(Book())
    rows = Rows()
    rows.append(book.events[1:])
    rows.prepend(book.events[:1])
    assert "denied" in _told(rows)
