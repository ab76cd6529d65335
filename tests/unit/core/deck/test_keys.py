"""The nine keys of a page, and their revisions."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core.deck.keys import REVISION, is_current
from quarterdeck.core.engine.deck_layout import SLOTS, DeckPrompt
from tests.support.deck_scene import LAYOUT, DeckScene


def test_there_are_always_nine_keys() -> None:
    for number in range(3):
        slots = DeckScene().page(number).model.keypad.slots
        assert [key.slot for key in slots] == list(range(SLOTS))


def test_only_the_armed_prompt_shows_as_armed_and_no_empty_key_does() -> None:
    scene = DeckScene()
    assert not any(key.armed for key in scene.model.keypad.slots)
    scene.presses("tests")
    assert [key.slot for key in scene.model.keypad.slots if key.armed] == [0]


def test_a_revision_changes_with_what_the_key_shows_and_with_nothing_else() -> None:
    scene = DeckScene().page(1)
    before = scene.model.keypad.slots
    scene.receives("PermissionRequest", id="r1", tool_name="Bash", tool_input={"command": "ls"})
    after = scene.model.keypad.slots
    changed = {key.action for key, old in zip(after, before, strict=True) if key.revision != old.revision}
    assert changed == {"allow", "deny", "always", "next", "interrupt", "answer_1", "answer_2", "answer_3", "answer_4"}
    scene.clock += 100
    assert scene.model.keypad.slots == after


def test_a_revision_of_the_whole_page_is_compared_key_by_key() -> None:
    scene = DeckScene()
    shown = scene.model.revision
    assert len(shown) == SLOTS * REVISION
    scene.presses("tests")
    tests, review = scene.model.keypad.slots[:2]
    assert (is_current(tests, shown), is_current(review, shown)) == (False, True)
    assert is_current(review, review.revision)
    assert not is_current(review, tests.revision)


def test_labels_are_short_and_show_what_hides_in_them() -> None:
    prompts = {**LAYOUT.prompts, "tests": DeckPrompt(label="a\u202eb" + "x" * 100, fallback_text="t")}
    label = DeckScene(replace(LAYOUT, prompts=prompts)).model.keypad.slots[0].label
    assert label.startswith("a⟨202e⟩b")
    assert len(label) <= 40


def test_a_project_has_pages_of_its_own_and_the_innermost_counts() -> None:
    pages = LAYOUT.pages
    projects = {"/w": (pages[1],), "/w/app": (pages[2],), "/w/ap": (pages[0],)}
    scene = DeckScene(replace(LAYOUT, projects=projects))
    assert (scene.model.page_count, scene.model.keypad.slots[1].kind) == (3, "prompt")
    scene.receives("SessionStart", source="startup")
    assert (scene.model.page_count, scene.model.keypad.slots[1].action) == (1, "allow")


def test_a_gate_has_its_own_words() -> None:
    key = DeckScene().model.keypad.slots[2]
    assert (key.kind, key.label, key.action) == ("gate", "Stop it", "interrupt")
    assert key.reason == "the session is not known: select its terminal first"
