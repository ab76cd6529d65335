"""Logs made of parts by name, for properties of the feed's rows."""

from __future__ import annotations

from tests.support.feed import START, Event, EventStory

PARTS = ("say", "late", "call", "fail", "ask", "deny", "agent", "todo", "note", "stop", "prompt")
"""The parts: `late` is a text that was said two events before it was recorded."""


def explores(book: EventStory, actor: str) -> None:
    book.call("Glob", {"numFiles": 4}, actor=actor, pattern="*.py")
    book.fails("Bash", "Exit code 1", actor=actor, command="false")


def _todo(book: EventStory) -> None:
    book.call("TodoWrite", {}, todos=[])
    book.add("todo.add", {"todo_id": "1"}, cause={"tool_use_id": book.events[-1]["data"]["tool_use_id"]})


def add_part(book: EventStory, part: str) -> None:
    match part:
        case "say":
            book.says("Some words that are long enough to be wrapped over more than one line of a terminal. " * 3)
        case "late":
            book.add("message.assistant", {"text": "I look.", "said_at": START + book.next * 0.5 - 1.0})
        case "call":
            book.call("Bash", {"stdout": "ok"}, command="ls")
        case "fail":
            book.fails("Read", "no such file", file_path="/x")
        case "ask":
            book.gated_call("Bash", {"stdout": "ok"}, command="git push")
        case "deny":
            book.gated_call("Bash", None, decided="deny", command="git push")
        case "agent":
            book.agent(f"a{book.next}", explores)
        case "todo":
            _todo(book)
        case "note":
            book.add("agent.note", {"name": "init"}, level="debug")
        case "stop":
            book.stops("Done.")
        case _:
            book.prompt("go on")


def events_of(parts: list[str]) -> list[Event]:
    """The log of a day with these parts."""
    book = EventStory()
    for part in parts:
        add_part(book, part)
    return book.events
