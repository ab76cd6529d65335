"""What an agent says beside its hooks is kept, but never without end."""

from quarterdeck.core.engine.session_messages import Noted
from quarterdeck.drivers.claude.sdk_note_limit import DROPPED, MOST, MOST_BYTES, WINDOW_SECONDS, FewNotes


def note(at: float, words: str = "x") -> Noted:
    return Noted(session_id="s1", at=at, name="said", body={"words": words})


def test_notes_pass_as_they_came_while_they_are_few() -> None:
    few = FewNotes()
    notes = [note(float(n)) for n in range(MOST)]
    assert [said for one in notes for said in few.of(one)] == notes
    assert few.rest("s1", WINDOW_SECONDS * 2) == []


def test_of_a_flood_the_first_pass_and_one_row_says_how_many_did_not() -> None:
    few = FewNotes()
    passed = [said for n in range(10_000) for said in few.of(note(n / 10_000))]
    assert len(passed) == MOST
    later = note(WINDOW_SECONDS + 1)
    told = few.of(later)
    assert [(one.name, one.body) for one in told] == [(DROPPED, {"count": 10_000 - MOST}), (later.name, later.body)]
    assert few.rest("s1", WINDOW_SECONDS * 9) == []


def test_what_was_dropped_is_told_at_the_end_too_and_only_once() -> None:
    few = FewNotes()
    for _ in range(MOST + 5):
        few.of(note(1.0))
    assert [one.body for one in few.rest("s1", 2.0)] == [{"count": 5}]
    assert few.rest("s1", 3.0) == []


def test_a_few_huge_ones_are_a_flood_too() -> None:
    few = FewNotes()
    big = "y" * (MOST_BYTES // 2)
    assert [len(few.of(note(1.0, big))) for _ in range(4)] == [1, 0, 0, 0]
    assert [one.body for one in few.rest("s1", 2.0)] == [{"count": 3}]


def test_a_clock_that_goes_back_ends_no_window_early_and_keeps_none_for_ever() -> None:
    few = FewNotes()
    for _ in range(MOST + 1):
        few.of(note(1_000_000.0))
    assert [one.name for one in few.of(note(5.0))] == [DROPPED, "said"]
