"""deck.yaml is read, or every mistake in it is named with its line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.config.deck.deck_file import read_deck, read_deck_file
from quarterdeck.core.engine.deck_layout import KeyAction

SLOTS = "[~, ~, ~, ~, ~, ~, ~, ~, ~]"
PAGES = f"pages:\n  - slots: {SLOTS}\n"


def problems(text: str) -> list[str]:
    reading = read_deck(text, "deck.yaml")
    assert (reading.layout is None) == bool(reading.problems)
    return reading.problems


def test_a_whole_file_is_read() -> None:
    reading = read_deck(
        """
pages:
  - name: One
    slots: [{prompt: a}, {gate: g}, {decision: allow}, ~, {}, ~, ~, ~, ~]
prompts:
  a: {label: A, sublabel: a, claude_command: /a, fallback_text: Do a.}
  b: {label: B, fallback_text: Do b., style: queue}
gates:
  g: {label: G, action: ctrl_c}
dial: {mode: vscode_terminal_scroll}
defaults: {style: prefill, esc_when_pending: cancel_and_passthrough}
projects:
  /w/app/: {pages: [{slots: [{prompt: b}, ~, ~, ~, ~, ~, ~, ~, ~]}]}
""",
        "deck.yaml",
    )
    layout = reading.layout
    assert layout is not None
    assert (layout.prompts["a"].style, layout.prompts["b"].style) == ("prefill", "queue")
    assert (layout.dial_mode, layout.esc_when_pending) == ("vscode_terminal_scroll", "cancel_and_passthrough")
    assert layout.gates["g"].action is KeyAction.CTRL_C
    assert [slot.prompt or slot.gate or slot.decision for slot in layout.pages[0].slots[:4]] == [
        "a",
        "g",
        "allow",
        None,
    ]
    assert layout.projects["/w/app"][0].slots[0].prompt == "b"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "deck.yaml: has no pages; for a file to start from: qd deck init"),
        ("pages: []\n", "deck.yaml:1: pages needs at least one page under pages:"),
        ("a: [", "deck.yaml:1: is not YAML: "),
        ("pages:\n  - slots: [~, ~]\n", "deck.yaml:2: pages[0].slots must have 9 keys, has 2; leave one empty with ~"),
        (PAGES + "page: 1\n", "deck.yaml:3: page is not known; one of pages, "),
        (
            PAGES + "dial: {mode: spin}\n",
            "deck.yaml:3: dial.mode must be one of os_scroll, ",
        ),
        (PAGES + "prompts:\n  a: {fallback_text: x}\n", "deck.yaml:4: prompts.a needs a label"),
        (PAGES + "prompts:\n  a: {label: x}\n", "deck.yaml:4: prompts.a needs a claude_command or a fallback_text"),
        (
            PAGES + 'prompts:\n  a: {label: "x\\u202e", fallback_text: x}\n',
            "deck.yaml:4: prompts.a.label holds a character that does not show (U+202E); remove it",
        ),
        (PAGES + "gates:\n  g: {label: x}\n", "deck.yaml:4: gates.g needs an action: one of allow, deny, always, next"),
        (PAGES + "prompts: {a: {label: x, fallback_text: x}, a: {}}\n", "deck.yaml:3: prompts.a is given twice"),
        (PAGES + "projects: {app: {pages: []}}\n", "deck.yaml:3: projects.app must be the whole path of a folder"),
        (PAGES + "prompts: [a]\n", "deck.yaml:3: prompts must hold keys with values"),
        ("pages:\n  - &p {slots: []}\n  - *p\n", "deck.yaml: must not use aliases (*name)"),
        (
            PAGES.replace("[~,", "[{prompt: lost},"),
            "deck.yaml:2: pages[0].slots[0].prompt lost is not under prompts: there is nothing",
        ),
        (
            PAGES.replace("[~,", "[{prompt: a, gate: b},"),
            "deck.yaml:2: pages[0].slots[0] is one thing, not prompt and gate",
        ),
        (PAGES.replace("[~,", "[{decision: maybe},"), "deck.yaml:2: pages[0].slots[0].decision must be one of allow"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(text: str, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


def test_all_mistakes_are_named_at_once() -> None:
    assert len(problems("pages:\n  - slots: [~]\nx: 1\ndial: {mode: spin}\n")) == 3


def test_without_a_file_there_is_a_deck_to_start_with(tmp_path: Path) -> None:
    layout = read_deck_file(tmp_path / "deck.yaml").layout
    assert layout is not None
    assert len(layout.pages) == 2


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "deck.yaml").write_bytes(b"\xff")
    assert read_deck_file(tmp_path / "deck.yaml").problems == [f"{tmp_path}/deck.yaml: is not UTF-8"]
    (tmp_path / "large").write_bytes(b"#" * (1024 * 1024 + 1))
    assert read_deck_file(tmp_path / "large").problems == [f"{tmp_path}/large: is over 1 MiB"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=9)
        | st.dictionaries(st.sampled_from(["pages", "slots", "prompt", "prompts", "label", "action", "mode"]), inner)
    ),
    max_leaves=20,
)


@given(values)
def test_any_yaml_gives_a_layout_or_problems(value: object) -> None:
    problems(yaml.safe_dump(value, allow_unicode=True))


@given(st.text(max_size=60))
def test_any_text_gives_a_layout_or_problems(text: str) -> None:
    problems(text)
