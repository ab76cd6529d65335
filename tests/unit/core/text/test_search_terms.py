"""Word search: the meaning of a query, and no query ever raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.search_terms import TEXT_LIMIT, matches, read_search, searchable_text, words
from tests.support.scene import Scene, bash


def found(query: str, text: str) -> bool:
    return matches(words(text), read_search(query))


@pytest.mark.parametrize(
    ("query", "text", "is_found"),
    [
        ("rm build", "rm -rf ./build", True),
        ("build RM", "rm -rf ./build", True),
        ('"rm build"', "rm -rf ./build", False),
        ('"rf build"', "rm -rf ./build", True),
        ('"rf build', "rm -rf ./build", True),
        ("bui", "rm -rf ./build", True),
        ("bui rm", "rm -rf ./build", False),
        ('"bui"', "rm -rf ./build", False),
        ("src/auth_test.py", "edit src/auth_test.py please", True),
        ("auth", "edit src/auth_test.py please", True),
        ("test auth.py", "edit src/auth_test.py please", False),
        ("straße", "in der STRASSE", True),
        ("東京", "これは東京です", True),
        ("京東", "これは東京です", False),
        ("&& ||", "a && b || c", False),
        ("", "anything", False),
        ('"', "anything", False),
        ("NEAR(a b) OR c*", "near a b or c", True),
        ("col:x -y ^z", "col x y z", True),
    ],
)
def test_words_match_in_any_order_and_quoted_words_in_a_row(query: str, text: str, is_found: bool) -> None:
    assert found(query, text) is is_found


def test_an_event_is_found_by_its_title_its_input_and_its_result() -> None:
    scene = Scene().receives(
        "PostToolUse", **bash("make lint", "t1"), tool_response={"stdout": ["all", {"x": "Clean!"}]}
    )
    text = searchable_text(scene.events[-1])
    for query in ("lint", "result", "clean", "bash make"):
        assert matches(text, read_search(query)), query
    assert not matches(text, read_search("t1"))


def test_a_long_event_is_found_only_by_its_beginning() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="first " + "x " * TEXT_LIMIT + "last")
    text = searchable_text(scene.events[-1])
    assert len(text) < TEXT_LIMIT + 200
    assert matches(text, read_search("first"))


@given(st.text())
def test_normalising_words_twice_changes_nothing(text: str) -> None:
    once = words(text)
    assert words(once) == once
    assert once == once.strip()


@given(st.text(), st.text())
def test_no_query_raises(query: str, text: str) -> None:
    assert found(query, text) in (True, False)


@given(st.text(min_size=1))
def test_a_text_is_found_by_itself(text: str) -> None:
    whole = text.replace('"', " ")
    assert found(f'"{whole}"', text) is bool(words(whole)) or len(text) > 1000
