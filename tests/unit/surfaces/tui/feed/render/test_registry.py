"""The tool views: subject, outcome, and all lines when opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.claude.tools import TOOLS, tool_traits
from quarterdeck.core.text.feed.row_words import short_tool_name
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.styled_text import row_text
from quarterdeck.surfaces.tui.feed.details import STEPS, clipboard_text, detail_lines, shown_lines
from quarterdeck.surfaces.tui.feed.render.cut_text import width_of
from quarterdeck.surfaces.tui.feed.render.registry import tool_view_of
from quarterdeck.surfaces.tui.feed.render.tool_view import ToolView
from quarterdeck.surfaces.tui.feed.rows.row_lines import RowLayout, row_lines
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from tests.support.feed import Event, EventStory
from tests.support.hostile import HOSTILE, HUGE

RECORDINGS = Path(__file__).parents[5] / "recordings" / "claude-code-hooks"
RECORDED = sorted(path.name for path in RECORDINGS.glob("PostToolUse.*.json"))
FIELDS = (
    *("command", "file_path", "content", "old_string", "new_string", "pattern", "path"),
    *("url", "query", "prompt", "description", "plan", "message"),
)
LAYOUT = RowLayout(width=100, clock=lambda at: "14:02:01")


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDINGS / name).read_text(encoding="utf-8"))
    return found


def closed(book: EventStory, layout: RowLayout = LAYOUT) -> list[str]:
    """The lines of every row that is shown, as text."""
    rows = FeedRows(layout.room)
    rows.append(book.events)
    made: list[str] = []
    line = 0
    while (at := rows.window.at_line(line)) is not None:
        row = rows.row(at[0])
        assert row is not None
        lines = row_lines(row, layout)
        assert len(lines) == rows.window.height_of(at[0])
        assert all(width_of(each) <= layout.width for each in lines)
        made += [row_text(each).rstrip() for each in lines]
        line += len(lines)
    return made


def opened(event: Event, after: Event | None = None, width: int = 100, step: int = 0, raw: bool = False) -> list[str]:
    events = [event] if after is None else [event, after]
    lines = shown_lines(detail_lines(events, [], raw=raw), width, 20, step)
    assert all(width_of(line) <= width for line in lines)
    return [row_text(line)[20:].rstrip() for line in lines]


def view_of(tool: str) -> ToolView:
    return tool_view_of({"tool_kind": tool_traits(tool).kind})


def call(tool: str, response: Any = None, **tool_input: Any) -> list[str]:
    """A call and its result, opened."""
    before, after = EventStory().call(tool, response, **tool_input).events
    return opened(before, after)[:-1]


def roles(tool: str, **tool_input: Any) -> set[str]:
    lines = detail_lines(EventStory().call(tool, {}, **tool_input).events[:1], [], raw=False)
    return {span.style for line in lines for span in line}


def test_a_whole_turn_as_rows() -> None:
    book = EventStory().prompt("add rate limiting").says("I look first.")
    book.call("Read", {"file": {"numLines": 120}}, file_path="/home/you/api/src/login.py")
    book.fails("Bash", "Exit code 1\n2 failed, 41 passed", command="pytest -q")
    book.asks("Bash", decided="deny", command="git push --force").stops("It is done.")
    assert closed(book) == [
        " 14:02:01 ▸ you      add rate limiting" + " " * 56 + "run 1",
        " 14:02:01 ◂ claude   I look first.",
        " 14:02:01 ● Read     src/login.py  120 lines" + " " * 50 + "31 ms",
        " 14:02:01 ● Bash     pytest -q  exit 1 · 2 failed, 41 passed" + " " * 28 + "FAIL  86 ms",
        " 14:02:01 ✗ Bash     git push --force" + " " * 49 + "✗ cli  denied",
        " 14:02:01 ■ stop     It is done." + " " * 50 + "1 tool · 1 failed",
    ]


def test_a_call_with_all_that_became_of_it_is_one_row_and_opens() -> None:
    book = EventStory().gated_call("Bash", {"stdout": "made"}, command="mkdir out2")
    (line,) = closed(book)
    assert line.startswith(" 14:02:01 ● Bash     mkdir out2  made ")
    assert line.endswith("✓ rule Bash(*)  40 ms")
    lines = shown_lines(detail_lines(book.events, [], raw=False), 100, 20, 0)
    assert [row_text(line)[20:].rstrip() for line in lines][:4] == [
        "$ mkdir out2",
        "· permission.decision",
        "⎿",
        "made",
    ]


def test_an_opened_row_is_text_to_read_and_its_raw_form_is_json() -> None:
    book = EventStory()
    book.add("agent.note", {"name": "init", "body": {"model_name": "opus", "tools": ["Bash", "Read"], "mcp": None}})
    lines = opened(book.events[0])
    assert lines[:4] == ["name      init", "body", "  model name opus", "  tools     Bash, Read"]
    assert not any(mark in line for line in lines for mark in '{}"[]')
    assert '"model_name": "opus"' in "".join(opened(book.events[0], raw=True))


def test_a_request_that_waits_says_so() -> None:
    assert closed(EventStory().asks("Bash", decided=None, command="git push"))[0].endswith("needs you")


def test_a_narrow_screen_leaves_out_time_and_name() -> None:
    book = EventStory().call("Bash", {"stdout": "ok"}, command="make")
    assert closed(book, RowLayout(width=50, clock=LAYOUT.clock))[0].startswith(" 14:02 ● Bash make")
    assert closed(book, RowLayout(width=30, clock=LAYOUT.clock))[0].startswith(" ● Bash make")


def test_rows_of_several_sessions_name_their_session() -> None:
    layout = RowLayout(width=100, clock=LAYOUT.clock, label=lambda session_id: f"project-{session_id}")
    assert closed(EventStory().says("hello"), layout) == [" 14:02:01 project-s1  ◂ claude   hello"]
    small = RowLayout(width=56, clock=LAYOUT.clock, label=layout.label)
    assert closed(EventStory().says("hello"), small) == [" 14:02 project-s1  ◂ hello"]


def test_a_long_message_shows_its_wrapped_beginning() -> None:
    lines = closed(EventStory().says("word " * 400))
    assert len(lines) == 6
    assert all(line.startswith(" " * 21 + "word") for line in lines[1:])


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_tool_calls_have_a_subject_and_open(name: str) -> None:
    payload = recorded(name)
    lines = call(payload["tool_name"], payload["tool_response"], **payload["tool_input"])
    assert lines
    view = view_of(payload["tool_name"])
    assert isinstance(view.subject(payload["tool_input"]), str)
    assert isinstance(view.outcome(payload["tool_input"], payload["tool_response"]), str)


def test_bash_shows_command_output_and_errors() -> None:
    assert call("Bash", {"stdout": "one\ntwo\n", "stderr": "oh"}, command="make\nmake test", description="build") == [
        "$ make",
        "  make test",
        "# build",
        "⎿",
        "one",
        "two",
        "stderr",
        "oh",
    ]
    assert call("Bash", {"stdout": ""}, command="true")[-1] == "no output"
    long = call("Bash", {"stdout": "\n".join(f"line {n}" for n in range(100))}, command="seq")
    assert long[2:4] == ["… 60 lines above (469 B)", "line 60"]


def test_an_input_that_differs_from_the_agents_is_shown() -> None:
    before, after = EventStory().call("Bash", {"stdout": "done"}, command="touch one").events
    ran = {**after, "data": {**after["data"], "tool_input": {"command": "touch two -v"}}}
    assert opened(before, ran)[:4] == ["$ touch one", "it ran with", "$ touch two -v", "⎿"]
    also = {**after, "data": {**after["data"], "tool_input": {"command": "touch one", "timeout": 9}}}
    assert "it ran with" not in opened(before, also)


def test_edits_are_diffs_with_syntax_colours() -> None:
    tool_input = {"file_path": "/a/b.py", "old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 'two'  # 2\nz = 3"}
    assert call("Edit", {}, **tool_input)[:5] == [
        "/a/b.py",
        "    1   x = 1",
        "    2 − y = 2",
        "    2 + y = 'two'  # 2",
        "    3 + z = 3",
    ]
    assert {"added string", "added comment", "removed number"} <= roles("Edit", **tool_input)
    patch = [{"oldStart": 40, "newStart": 41, "lines": [" a", "-b", "+c"]}]
    assert call("Edit", {"structuredPatch": patch}, **tool_input) == [
        "/a/b.py",
        "⎿",
        "   41   a",
        "   41 − b",
        "   42 + c",
    ]


def test_a_written_file_is_all_added_and_a_read_one_is_numbered() -> None:
    assert call("Write", {"type": "create"}, file_path="/a.md", content="# Hi\n\ntext")[1:4] == [
        "    1 + # Hi",
        "    2 +",
        "    3 + text",
    ]
    got = {"file": {"content": "def f():\n    pass\n", "startLine": 10, "numLines": 2}}
    assert call("Read", got, file_path="/a.py", offset=10, limit=2)[-2:] == ["   10 def f():", "   11     pass"]


def test_searches_the_web_and_agents() -> None:
    assert call("Grep", {"filenames": ["a.py", "b.py"], "numFiles": 2}, pattern="def", path="src")[-2:] == [
        "a.py",
        "b.py",
    ]
    assert call("WebFetch", {"result": "Fine.", "code": 200, "bytes": 900}, url="https://x.org", prompt="ok?") == [
        "https://x.org",
        "ok?",
        "⎿",
        "Fine.",
    ]
    assert view_of("WebFetch").outcome({}, {"code": 200, "bytes": 14_000}) == "200 · 14 kB"
    assert view_of("Agent").subject({"subagent_type": "Explore", "description": "find it"}) == "Explore: find it"
    assert view_of("Agent").outcome({}, {"status": "async_launched"}) == "works in the background"
    done = {"status": "completed", "content": [{"type": "text", "text": "Three routes lack docs."}]}
    assert view_of("Agent").outcome({}, done) == "Three routes lack docs."


def test_todos_questions_and_plans() -> None:
    todos = [
        {"content": "a", "status": "completed"},
        {"content": "b", "status": "in_progress", "activeForm": "doing b"},
    ]
    assert view_of("TodoWrite").subject({"todos": todos}) == "1/2  doing b"
    assert call("TodoWrite", {}, todos=[*todos, {"content": "c"}])[:3] == ["✓ a", "▸ b", "· c"]
    question = {"question": "Which?", "options": [{"label": "Redis", "description": "shared"}, {"label": "None"}]}
    lines = call("AskUserQuestion", {"answers": {"Which?": "Redis"}}, questions=[question])
    assert lines == ["? Which?", "  ○ Redis  shared", "  ○ None", "⎿", "✓ Which?  Redis"]
    assert call("ExitPlanMode", None, plan="1. Drain\n2. Go")[:2] == ["1. Drain", "2. Go"]


def test_mcp_and_unknown_tools_show_all_their_fields() -> None:
    assert short_tool_name("mcp__github__create_issue", "mcp") == "github·create_issue"
    lines = call(
        "mcp__github__create_issue", [{"type": "text", "text": "made #7"}], title="Bug", labels=["a"], body="x\ny"
    )
    assert lines == ["title     Bug", "labels    a", "body  3 B", "  x", "  y", "⎿", "made #7"]
    assert call("Telepathy", {"mood": 3}, to="you") == ["to        you", "⎿", "mood      3"]


def test_raw_json_shows_the_whole_event() -> None:
    event = EventStory().call("Bash", {}, command="ls").events[0]
    assert json.loads("\n".join(opened(event, raw=True))) == event


@pytest.mark.law("I6")
@pytest.mark.parametrize("tool", [*TOOLS, "mcp__a__b", "Unknown"])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_tool_lets_hostile_text_through(tool: str, name: str) -> None:
    text = HOSTILE[name]
    tool_input: dict[str, Any] = {
        **dict.fromkeys(FIELDS, text),
        text or "k": text,
        "todos": [{"content": text, "status": text}],
    }
    tool_input |= {
        "questions": [{"question": text, "options": [{"label": text, "description": text}]}],
        "edits": [{"old_string": text}],
    }
    answer = {"stdout": text, "stderr": text, "filenames": [text], "answers": {text: text}, "result": text}
    for response in (text, [{"type": "text", "text": text}], answer, {"file": {"content": text}}, [[text]], 7):
        before, after = EventStory().call(tool, response, **tool_input).events
        lines = (
            opened(before, after, 60)
            + opened(before, after, 60, raw=True)
            + closed(EventStory().call(tool, response, **tool_input))
        )
        assert not any(UNSEEN.search(line) for line in lines)
        assert not UNSEEN.search(clipboard_text([before, after]))


@pytest.mark.parametrize("tool", [*TOOLS, "mcp__a__b", "Unknown"])
def test_ten_megabytes_are_cut_with_their_size_at_every_step(tool: str) -> None:
    tool_input: dict[str, Any] = {
        **dict.fromkeys(FIELDS, HUGE),
        "todos": [{"content": HUGE}],
        "questions": [{"question": HUGE}],
    }
    before, after = EventStory().call(tool, {"stdout": HUGE, "result": HUGE}, **tool_input).events
    for step in range(2):
        lines = opened(before, after, 100, step)
        assert len(lines) <= STEPS[step][0] + 1
        assert "10.0 MB" in "".join(lines)
    raw = opened(before, after, raw=True, step=1)
    assert "10.0 MB more" in "".join(raw)
    assert len("".join(raw)) < 100_000
    assert len(clipboard_text([before, after])) < 101_000


@pytest.mark.parametrize(
    "data", [None, 7, "text", [], {}, {"tool_input": 3}, {"tool_name": None, "tool_input": {"command": 5}}]
)
@pytest.mark.parametrize(
    "kind", ["tool.pre", "tool.post", "tool.failure", "permission.request", "question.request", "run.end", "x"]
)
def test_data_of_any_shape_is_shown(kind: str, data: Any) -> None:
    book = EventStory()
    event = book.add(kind, data)
    assert closed(book)
    assert opened(event, event)
