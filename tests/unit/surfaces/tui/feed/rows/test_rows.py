"""Rows: pairs, folds, filters, and the line of each row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.feed.event_rows import fold
from quarterdeck.surfaces.terminal.styled_text import row_text
from quarterdeck.surfaces.tui.feed.rows.block import SIZE
from quarterdeck.surfaces.tui.feed.rows.feed_row import FeedRow
from quarterdeck.surfaces.tui.feed.rows.filter import FeedFilter
from quarterdeck.surfaces.tui.feed.rows.jump import contains, of_kind
from quarterdeck.surfaces.tui.feed.rows.preview import unpacked
from quarterdeck.surfaces.tui.feed.rows.row_lines import RowLayout, row_lines
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from tests.support.feed import EventStory, turns
from tests.support.feed_days import PARTS, events_of, explores


def rows_of(book: EventStory, **feed_filter: object) -> FeedRows:
    rows = FeedRows(feed_filter=FeedFilter(**feed_filter))  # type: ignore[arg-type]
    rows.append(book.events)
    return rows


def shown(rows: FeedRows) -> list[FeedRow]:
    """The rows that take lines, from the top."""
    found, line = [], 0
    while (at := rows.window.at_line(line, 10_000)) is not None:
        row = rows.row(at[0])
        assert row is not None
        found.append(row)
        line += rows.window.height_of(at[0])
    return found


def outcome(row: FeedRow) -> str:
    """The line of the event that came last in a row."""
    return unpacked(row.parts[-1].text).line


def kinds(rows: FeedRows) -> list[str]:
    return [row.kind for row in shown(rows)]


def first_match(rows: FeedRows, kind: str, start: int, step: int) -> int | None:
    return next((n for n in rows.seek(of_kind(kind, rows), start, step) if n is not None), None)


def test_a_tool_and_its_result_are_one_row() -> None:
    rows = rows_of(EventStory().call("Bash", {"stdout": "2 passed"}, command="pytest"))
    (row,) = shown(rows)
    assert (row.text, outcome(row), row.parts[-1].took) == ("pytest", "2 passed", 0.031)
    assert rows.height == 1


def test_a_call_takes_one_line_whatever_becomes_of_it() -> None:
    rows = FeedRows()
    for event in EventStory().gated_call("Bash", {"stdout": "2 passed"}, command="pytest").events:
        rows.append([event])
        assert (rows.height, kinds(rows)) == (1, ["tool.pre"])
    assert len(shown(rows)[0].parts) == 4


def test_results_join_their_calls_in_any_order() -> None:
    book = EventStory()
    a = book.call("Bash", {"stdout": "A"}, command="a").events
    b = EventStory(first=3).call("Bash", {"stdout": "B"}, command="b").events
    rows = FeedRows()
    rows.append([a[0], {**b[0], "seq_no": 2}, {**b[1], "seq_no": 3}, {**a[1], "seq_no": 4}])
    assert [(row.text, outcome(row)) for row in shown(rows)] == [("a", "A"), ("b", "B")]


def test_two_sessions_may_use_the_same_call_id() -> None:
    mine, theirs = EventStory("ours"), EventStory("theirs", first=2)
    mine.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "a"}, "tool_use_id": "t"})
    theirs.add("tool.post", {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "tool_response": "no"})
    rows = FeedRows()
    rows.append(mine.events + theirs.events)
    assert kinds(rows) == ["tool.pre", "tool.post"]


def test_a_failure_shows_in_the_row_of_its_call() -> None:
    rows = rows_of(EventStory().fails("Read", "File does not exist.", file_path="/x"))
    (row,) = shown(rows)
    assert (row.level, outcome(row), rows.height) == (3, "File does not exist.", 1)


def test_a_request_waits_until_it_is_decided() -> None:
    book = EventStory().asks("Bash", decided=None, command="git push")
    rows = rows_of(book)
    assert first_match(rows, "request", 99, -1) == 1
    data = {"request_id": "q1", "decision_type": "allow"}
    rows.append([book.add("permission.decision", data, title="✓ Allowed by cli")])
    assert [outcome(row) for row in shown(rows)] == ["✓ Allowed by cli"]
    assert first_match(rows, "request", 99, -1) is None


def test_a_call_without_a_result_is_not_running_once_its_run_has_ended() -> None:
    book = EventStory()
    book.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "sleep"}, "tool_use_id": "t"})
    rows = rows_of(book)
    assert not shown(rows)[0].over
    rows.append(EventStory(first=2).stops("Done.").events)
    assert shown(rows)[0].over


def test_a_sub_agent_folds_under_its_start_and_opens() -> None:
    rows = rows_of(EventStory().agent("a1", explores).says("done"))
    head = shown(rows)[0]
    assert kinds(rows) == ["subagent.start", "message.assistant"]
    assert head.group is not None
    assert (head.group.tools, head.group.failed, outcome(head)) == (2, 1, "Three routes lack docs.")
    actor = rows.actor_under(head.seq_no)
    assert actor is not None
    rows.fold(actor, True)
    assert kinds(rows) == ["subagent.start", "tool.pre", "tool.pre", "message.assistant"]
    rows.fold(actor, False)
    assert kinds(rows) == ["subagent.start", "message.assistant"]


def test_a_request_of_a_folded_sub_agent_is_never_hidden() -> None:
    def asks(book: EventStory, actor: str) -> None:
        data = {"tool_name": "Bash", "tool_input": {"command": "rm -r x"}, "request_id": "q", "agent_id": "a1"}
        book.add("permission.request", data, actor=actor)

    assert kinds(rows_of(EventStory().agent("a1", asks))) == ["subagent.start", "permission.request"]


def test_a_sub_agent_whose_start_comes_later_from_an_older_page_folds() -> None:
    events = EventStory().agent("a1", explores).events
    rows = FeedRows()
    rows.append(events[1:])
    assert "tool.pre" in kinds(rows)
    rows.prepend(events[:1])
    assert kinds(rows) == ["subagent.start"]


def busy() -> EventStory:
    book = EventStory().prompt("go").call("Read", {}, file_path="/a").fails("Bash", "Exit code 1", command="false")
    book.asks("Bash", command="git push").agent("a1", explores)
    book.add("session.usage", {"offset": 1})
    return book


def test_repeating_kinds_are_left_out_unless_the_filter_names_them() -> None:
    assert "session.usage" not in kinds(rows_of(busy()))
    assert "session.usage" in kinds(rows_of(busy(), level="debug"))
    assert kinds(rows_of(busy(), kinds=frozenset({"session.usage"}))) == ["session.usage"]


def test_rows_are_filtered_by_kind_tool_actor_and_level() -> None:
    assert set(kinds(rows_of(busy(), kinds=frozenset({"user"})))) == {"user.prompt"}
    assert [row.text for row in shown(rows_of(busy(), tools=frozenset({"Read"})))] == ["/a"]
    assert kinds(rows_of(busy(), actors=frozenset({"user"}))) == ["user.prompt", "permission.request"]
    assert [row.text for row in shown(rows_of(busy(), level="error"))] == ["false"]


def test_a_filter_for_failures_shows_the_calls_that_failed() -> None:
    found = shown(rows_of(busy(), kinds=frozenset({"tool.failure"})))
    assert [(row.kind, row.text) for row in found] == [("tool.pre", "false")]


def test_changing_and_removing_a_filter_loses_no_row() -> None:
    rows = FeedRows()
    rows.append(turns(5000))
    before = (rows.height, kinds(rows))
    rows.reshape(feed_filter=FeedFilter(level="error"))
    while rows.window.settle(1):
        pass
    assert rows.height < before[0] // 5
    rows.reshape(feed_filter=FeedFilter())
    while rows.window.settle(1):
        pass
    assert (rows.height, kinds(rows)) == before


def test_jumps_go_to_errors_decisions_and_prompts_in_both_directions() -> None:
    rows = rows_of(busy())
    assert [first_match(rows, kind, 99, -1) for kind in ("error", "decision", "prompt")] == [13, 8, 2]
    assert first_match(rows, "error", 1, 1) == 5
    assert first_match(rows, "prompt", 2, -1) is None


def test_a_search_finds_text_in_any_case() -> None:
    rows = FeedRows()
    rows.append(turns(3 * SIZE))
    found = [n for n in rows.seek(contains("ROUTE 5"), 10**9, -1) if n is not None]
    texts = [row.text for n in found if (row := rows.row(n)) is not None]
    assert texts
    assert all("route 5" in text.lower() for text in texts)
    assert found == sorted(found, reverse=True)
    assert [n for n in rows.seek(contains("no such words"), 1, 1) if n is not None] == []


def test_the_parent_of_an_event_is_found_by_its_id() -> None:
    book = EventStory().prompt("go").call("Bash", {"stdout": "x"}, command="a")
    rows = rows_of(book)
    post = book.events[-1]
    assert rows.parent(post["cause"]["parent_event_id"], post["seq_no"]) == 3
    assert rows.parent("s1:R1:E77", 4) is None
    assert rows.parent("nonsense", 4) is None


def test_the_number_of_rows_is_bounded() -> None:
    rows = FeedRows(kept=3 * SIZE)
    rows.append(turns(10 * SIZE))
    assert 3 * SIZE <= len(rows) <= 4 * SIZE
    assert rows.last == 10 * SIZE
    assert rows.first > 6 * SIZE
    assert all(group.head >= rows.first for group in rows.subagents.groups.values())


def test_older_events_are_not_added_again() -> None:
    events = list(turns(100))
    rows = FeedRows()
    rows.append(events)
    rows.append(events[50:])
    rows.prepend(events[:50])
    assert len(rows) == 100


events = st.lists(st.sampled_from(PARTS), max_size=40)


@given(events, st.integers(0, 200), st.integers(20, 100))
def test_rows_do_not_depend_on_the_pages_of_the_log(parts: list[str], cut: int, width: int) -> None:
    log = events_of(parts)
    whole, paged = FeedRows(width), FeedRows(width)
    whole.append(log)
    paged.append(log[cut:])
    paged.prepend(log[:cut])
    assert shown(paged) == shown(whole)
    assert paged.height == whole.height


@given(events, st.lists(st.integers(0, 200), max_size=3))
def test_the_rows_are_those_of_the_pure_fold_whatever_the_pages_of_the_log(parts: list[str], cuts: list[int]) -> None:
    log = events_of(parts)
    rows = FeedRows(feed_filter=FeedFilter(level="debug"))
    edges = sorted({0, len(log), *(min(cut, len(log)) for cut in cuts)})
    for start, end in zip(reversed(edges[:-1]), reversed(edges[1:]), strict=True):
        rows.prepend(log[start:end])
    for actor in list(rows.subagents.groups):
        rows.fold(actor, True)
    assert [[part.seq_no for part in row.parts] for row in shown(rows)] == [
        [event["seq_no"] for event in row.events] for row in fold(log)
    ]


@given(events)
def test_as_stored_every_event_is_a_row_in_the_order_of_the_log(parts: list[str]) -> None:
    log = events_of(parts)
    rows = FeedRows(stored=True)
    rows.append(log)
    assert [row.seq_no for row in shown(rows)] == [event["seq_no"] for event in log]


@given(events, st.dictionaries(st.integers(1, 60), st.integers(1, 30), max_size=5), st.integers(20, 100))
def test_every_line_belongs_to_one_row_and_back(parts: list[str], opened: dict[int, int], width: int) -> None:
    rows = FeedRows()
    rows.append(events_of(parts))
    for seq_no, lines in opened.items():
        rows.expand(seq_no, lines)
    rows.reshape(width=width)
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


def _requested(book: EventStory, kind: str = "permission") -> EventStory:
    book.add("tool.pre", USED)
    book.add(f"{kind}.request", {**USED, "request_id": "q9"}, cause={"tool_use_id": "t9"})
    return book


def _decided(book: EventStory, decision: str, kind: str = "permission", **data: object) -> EventStory:
    book.add(f"{kind}.decision", {"decision_type": decision, "request_id": "q9", **data}, cause={"tool_use_id": "t9"})
    return book


def _denied(book: EventStory) -> EventStory:
    return _decided(_requested(book), "deny")


def _row_text(rows: FeedRows) -> str:
    layout = RowLayout(width=100, clock=str)
    return "\n".join(row_text(line) for line in row_lines(shown(rows)[0], layout))


def _stop_row(rows: FeedRows) -> tuple[str, int]:
    row = next(row for row in shown(rows) if row.kind == "stop.request")
    lines = row_lines(row, RowLayout(width=100, clock=str))
    assert len(lines) == rows.window.height_of(row.seq_no)
    return "\n".join(row_text(line) for line in lines), len(lines)


def _late(first: str, then: str) -> EventStory:
    """A stop that is recorded before the message it repeats."""
    book = EventStory().prompt("go")
    book.add("stop.request", {"last_assistant_message": first})
    return book.says(then)


def test_a_stop_does_not_repeat_a_text_the_feed_shows() -> None:
    words = "All is done.\n" + "And this is how. " * 30
    for book in (EventStory().prompt("go").says(words).stops(f"{words}\n"), _late(words, words)):
        row_text, height = _stop_row(rows_of(book))
        assert height == 1
        assert "All is done" not in row_text
    assert "All is done" in _stop_row(rows_of(_late(words, "something else")))[0]
    assert (
        "All is done" in _stop_row(rows_of(EventStory().says(words).prompt("go").prompt("again").stops(words + "!")))[0]
    )


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_repeated_stop_does_not_depend_on_the_pages_of_the_log(cut: int) -> None:
    events = _late("All is done.", "All is done.").events
    rows = FeedRows(width=60)
    rows.append(events[cut:])
    rows.prepend(events[:cut])
    assert "All is done" not in _stop_row(rows)[0]


@pytest.mark.parametrize("kind", ["permission", "question"])
def test_a_tool_that_waits_for_a_decision_shows_waiting_until_it_comes(kind: str) -> None:
    row_text = _row_text(rows_of(_requested(EventStory(), kind)))
    assert {"permission": "◆ Bash", "question": "? Bash"}[kind] in row_text
    assert row_text.endswith({"permission": "needs you", "question": "asks"}[kind])
    assert "● Bash" in _row_text(rows_of(_decided(_requested(EventStory(), kind), "allow", kind)))
    assert "running" in _row_text(rows_of(_decided(_requested(EventStory(), kind), "allow", kind)))
    assert "denied" in _row_text(rows_of(_decided(_requested(EventStory(), kind), "deny", kind)))


def test_a_tool_whose_terminal_still_asks_shows_waiting() -> None:
    passed = rows_of(_decided(_requested(EventStory()), "no_opinion", still_asks=True))
    assert "waiting" in _row_text(passed)
    late = rows_of(_decided(_decided(_requested(EventStory()), "allow"), "deny", late=True))
    assert "running" in _row_text(late)


def test_a_waiting_tool_ends_with_its_run() -> None:
    row_text = _row_text(rows_of(_requested(EventStory()).stops("Interrupted.")))
    assert "waiting" not in row_text
    assert "no result" in row_text


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("decision", ["allow", "deny", "none"])
def test_the_state_of_a_call_does_not_depend_on_the_pages_of_the_log(decision: str, cut: int) -> None:
    events = (_requested(EventStory()) if decision == "none" else _decided(_requested(EventStory()), decision)).events
    whole, paged = FeedRows(), FeedRows()
    whole.append(events)
    paged.append(events[cut:])
    paged.prepend(events[:cut])
    assert _row_text(paged) == _row_text(whole)


def test_a_denied_tool_shows_denied() -> None:
    assert "denied" in _row_text(rows_of(_denied(EventStory())))
    assert "running" not in _row_text(rows_of(_denied(EventStory())))


def test_a_denied_tool_that_runs_after_all_shows_its_result() -> None:
    book = _denied(EventStory())
    book.add("tool.post", USED | {"tool_response": {"stdout": "gone"}})
    assert "denied" not in _row_text(rows_of(book))
    assert "gone" in _row_text(rows_of(book))


def test_a_tool_read_after_its_denial_shows_denied() -> None:
    book = _denied(EventStory())
    rows = FeedRows()
    rows.append(book.events[1:])
    rows.prepend(book.events[:1])
    assert "denied" in _row_text(rows)
