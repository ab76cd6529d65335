"""Values of a YAML text with their keys and lines."""

from __future__ import annotations

from quarterdeck.config.deck.yaml_nodes import YamlProblems, root_of


def test_a_value_knows_its_key_and_line() -> None:
    problems = YamlProblems("f")
    root = root_of("a:\n  - b: 1\n", problems)
    assert root is not None
    [item] = problems.items(problems.mapping(root)["a"])
    value = problems.mapping(item)["b"]
    assert (value.key, value.line, problems.text(value, most=5)) == ("a[0].b", 2, "1")


def test_a_text_that_is_too_long_or_no_text_is_a_problem() -> None:
    problems = YamlProblems("f")
    root = root_of("a: toolong\nb: [1]\n", problems)
    assert root is not None
    values = problems.mapping(root)
    assert [problems.text(values[name], most=5) for name in "ab"] == ["", ""]
    assert problems.lines == ["f:1: a may have 5 characters, has 7", "f:2: b must be a text"]
