"""Rules that keep the source easy to find one's way in. Lists of exceptions may only shrink."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.claude.hooks import HOOKS
from quarterdeck.agents.claude.tools import TOOLS
from tests.support import tree

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "quarterdeck"
UNIT = ROOT / "tests" / "unit"
UNTESTED = Path(__file__).with_name("untested_modules.txt")

OTHER_FOLDERS = ("surfaces/web/index.html",)
"""A file of each folder that holds no Python."""
SMALL_ROOMS: dict[str, str] = {}
LONG_FILES: dict[str, str] = {}
NAMES: dict[str, str] = {}
PARTICIPLES = {
    "Connected": "a report of the live connection",
    "Lost": "a report of the live connection",
    "Unattended": "an input: nobody is there any more",
}
STORED_NAMES = {
    "api/views/extension_changes.py": "`said` is a field of the API",
    "core/model/event_data/session_data.py": "`said` is a field of stored events",
}
STRAY_TESTS = {
    "core/rules/test_corpora.py": "the corpora run through the rulebook, the patterns and the shell reader together",
    "core/rules/test_deny_reach.py": "how far a deny reaches is decided by several modules together",
    "core/rules/test_shortcuts.py": "compares every quick way of the core with the plain one",
    "surfaces/tui/feed/test_view_flood.py": "the second half of test_view.py",
}
AGENT_WORDS = {
    "core/patterns/rule_words.py": "the words of the rule language are Claude Code's",
    "hook.py": "imports nothing, and only Claude Code runs it",
    "agents/demo_day.py": "its scripts are payloads of Claude Code",
    "cli/commands/rules.py": "its help gives a word of the rule language as an example",
    "surfaces/terminal/text_commands.py": "its help gives a tool of Claude Code as an example",
}
MOST_QUESTIONS = 0.10
WORDS_IN_ONE_TABLE = {
    "dontAsk": {
        "agents/claude/permission_suggestions.py",
        "core/model/decisions.py",
    },
    "kept working": {"core/text/decision_words.py"},
    "%d %b %H:%M": {"surfaces/text/labels.py"},
}
"""Values that a user sees, and the files that hold them: one table, and what an agent itself knows of them."""


PRIVATE_NAMES: frozenset[str] = frozenset()
"""Names in tests and benchmarks, as `path: name`, that still are private words. None may be added."""


def source() -> dict[str, str]:
    return {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}


def checks() -> dict[str, str]:
    """The tests and the benchmarks."""
    paths = (path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def private_words(files: tree.Tree) -> set[str]:
    """The private words in identifiers, test names and docstrings, each as `path: word`."""
    found = [*tree.banned_identifiers(files), *tree.private_names(files, {})]
    found += tree.banned_prose({place.replace(":", " "): doc for place, doc in tree.docstrings(files)})
    return {re.sub(r"( \d+)?:\d+:", ":", line) for line in found}


def prose() -> dict[str, str]:
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")]
    pages += (ROOT / "docs").rglob("*.md")
    return {str(path.relative_to(ROOT)): path.read_text() for path in pages} | source()


TREE = source()
AGENT_NAMES = HOOKS.keys() | TOOLS.keys()

RULES: dict[str, Callable[[tree.Tree], Iterator[str]]] = {
    "rooms": lambda files: tree.rooms(files, SMALL_ROOMS),
    "lengths": lambda files: tree.lengths(files, LONG_FILES),
    "signs": lambda files: tree.signs(files, OTHER_FOLDERS),
    "module names": lambda files: tree.module_names(files, NAMES),
    "class names": tree.class_names,
    "participles": lambda files: tree.participles(files, PARTICIPLES),
    "identifiers": tree.banned_identifiers,
    "caches and locks": tree.caches_and_locks_without_reason,
    "private names": lambda files: tree.private_names(files, STORED_NAMES),
    "agent names": lambda files: tree.agent_names(files, AGENT_NAMES, AGENT_WORDS),
}
BREACHES = {
    "rooms": {"core/thing/__init__.py": '"""A room.\n\nalone   a module\n"""\n', "core/thing/alone.py": ""},
    "lengths": {"core/long.py": "x = 1\n" * 401},
    "signs": {"core/thing/__init__.py": '"""A room."""\n', "core/thing/part.py": ""},
    "module names": {"core/asking.py": ""},
    "class names": {"core/one.py": "class Request: ...\n", "core/two.py": "class Request: ...\n"},
    "participles": {"core/one.py": "class Told: ...\n"},
    "identifiers": {"core/one.py": "def read(told: str) -> str:\n    return told\n"},
    "private names": {"core/one.py": "said = 1\n"},
    "agent names": {"core/one.py": 'x = {"Stop": 1}\ny = "is PreToolUse"\nz = "Stop it, like Bash(ls)"\n'},
    "caches and locks": {"core/one.py": "import threading\n\nlock = threading.Lock()\n\n\n@cached_property\n"},
}


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_keeps_the_rule(rule: str) -> None:
    assert list(RULES[rule](TREE)) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_breach_is_seen(rule: str) -> None:
    assert list(RULES[rule](BREACHES[rule])) != []


def test_only_the_names_of_hooks_and_tools_are_a_breach() -> None:
    assert len(list(RULES["agent names"](BREACHES["agent names"]))) == 2
    assert list(RULES["agent names"]({"agents/other/hooks.py": 'x = "PreToolUse"\n'})) == []


def test_no_page_and_no_module_uses_a_banned_word() -> None:
    assert list(tree.banned_prose(prose())) == []
    breach = {"a.md": "How to mend it\nwhoever asks\na kitten, `anew`\na line, taken apart"}
    assert list(tree.banned_prose(breach)) == ["a.md:1: 'mend'", "a.md:2: 'whoever'", "a.md:4: 'taken apart'"]


def test_tests_and_benchmarks_use_plain_words() -> None:
    assert private_words(checks()) == PRIVATE_NAMES
    breach = {"test_a.py": 'def test_it_is_told() -> None:\n    """The face."""\n    said = mend()\n'}
    assert private_words(breach) == {
        "test_a.py: test_it_is_told",
        "test_a.py: mend",
        "test_a.py: said",
        "test_a.py: 'The face'",
    }


def test_few_docstrings_begin_with_a_question_word() -> None:
    count, questions = tree.questions(TREE)
    assert len(questions) <= count * MOST_QUESTIONS, questions
    assert tree.questions({"a.py": '"""What is left."""\n'}) == (1, ["a.py:1"])


def test_an_exception_that_is_no_longer_needed_leaves_the_list() -> None:
    assert all(any(problem.startswith(f"{room}/") for problem in tree.rooms(TREE, {})) for room in SMALL_ROOMS)
    assert all(any(problem.startswith(f"{path} ") for problem in tree.lengths(TREE, {})) for path in LONG_FILES)
    assert all(any(problem.startswith(f"{path}:") for problem in tree.module_names(TREE, {})) for path in NAMES)
    assert all(any(f"class {name} " in problem for problem in tree.participles(TREE, {})) for name in PARTICIPLES)
    assert all(any(problem.startswith(f"{path}:") for problem in tree.private_names(TREE, {})) for path in STORED_NAMES)
    names = Counter(Path(path).stem for path in TREE)
    assert all(names[name] > 1 for name in tree.SHARED_NAMES)
    assert all((UNIT / path).exists() for path in STRAY_TESTS)
    problems = list(tree.agent_names(TREE, AGENT_NAMES, {}))
    assert all(any(problem.startswith(f"{path}:") for problem in problems) for path in AGENT_WORDS)


def test_unit_tests_mirror_the_source() -> None:
    tests = {str(path.relative_to(UNIT)) for path in UNIT.rglob("test_*.py")}
    assert list(tree.stray(tests, TREE, STRAY_TESTS)) == []
    assert list(tree.stray({"core/test_nothing.py"}, TREE, {})) != []


def test_a_module_without_tests_of_its_name_is_on_a_list_that_may_only_shrink() -> None:
    tests = {str(path.relative_to(UNIT)) for path in UNIT.rglob("test_*.py")}
    listed = UNTESTED.read_text().split()
    assert listed == sorted(tree.untested(TREE, tests)), f"add tests; a tested module leaves {UNTESTED.name}"


@pytest.mark.parametrize("word", WORDS_IN_ONE_TABLE)
def test_a_word_that_users_see_gets_no_further_copy(word: str) -> None:
    literal = re.compile(rf"[\"']{word}[\"']")
    assert {path for path, text in TREE.items() if literal.search(text)} == WORDS_IN_ONE_TABLE[word]
