"""An agent's notes are recorded, up to a limit."""

from quarterdeck.core.engine.session_messages import AgentNote
from quarterdeck.drivers.claude.sdk_note_limit import DROPPED, MAX_NOTE_BYTES, MAX_NOTES, WINDOW_SECONDS, NoteLimit


def note(at: float, words: str = "x") -> AgentNote:
    return AgentNote(session_id="s1", at=at, name="note", body={"words": words})


def test_a_few_notes_pass_unchanged() -> None:
    few = NoteLimit()
    notes = [note(float(n)) for n in range(MAX_NOTES)]
    assert [passed_note for one in notes for passed_note in few.admit(one)] == notes
    assert few.take_dropped("s1", WINDOW_SECONDS * 2) == []


def test_of_a_flood_the_first_notes_pass_and_the_rest_are_counted() -> None:
    few = NoteLimit()
    passed = [passed_note for n in range(10_000) for passed_note in few.admit(note(n / 10_000))]
    assert len(passed) == MAX_NOTES
    later = note(WINDOW_SECONDS + 1)
    passed = few.admit(later)
    assert [(one.name, one.body) for one in passed] == [
        (DROPPED, {"count": 10_000 - MAX_NOTES}),
        (later.name, later.body),
    ]
    assert few.take_dropped("s1", WINDOW_SECONDS * 9) == []


def test_dropped_notes_are_reported_at_the_end_once() -> None:
    few = NoteLimit()
    for _ in range(MAX_NOTES + 5):
        few.admit(note(1.0))
    assert [one.body for one in few.take_dropped("s1", 2.0)] == [{"count": 5}]
    assert few.take_dropped("s1", 3.0) == []


def test_a_few_huge_notes_are_a_flood_too() -> None:
    few = NoteLimit()
    big = "y" * (MAX_NOTE_BYTES // 2)
    assert [len(few.admit(note(1.0, big))) for _ in range(4)] == [1, 0, 0, 0]
    assert [one.body for one in few.take_dropped("s1", 2.0)] == [{"count": 3}]


def test_a_clock_that_goes_back_neither_ends_nor_prolongs_a_window() -> None:
    few = NoteLimit()
    for _ in range(MAX_NOTES + 1):
        few.admit(note(1_000_000.0))
    assert [one.name for one in few.admit(note(5.0))] == [DROPPED, "note"]
