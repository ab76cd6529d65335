"""Filters of text by their grammar and scripts."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_sed_covers_what_it_is_for() -> None:
    assert covers_all("sed:*", "sed -n '1,5p' x", "sed 's/a/b/' x")
    assert covers_none("sed:*", "sed -i s/a/b/ x", "sed 'w x' y", "sed s/a/b/e x")


def test_awk_covers_what_it_is_for() -> None:
    assert covers_all("awk:*", "awk '$3 > 100' x", "awk -F: '{print $1}' x")
    assert covers_none("awk:*", "awk '{print > \"x\"}' y", "awk -f x y")


def test_jq_covers_what_it_is_for() -> None:
    assert covers_all("jq:*", "jq -r --arg n x '.[$n]' y")
    assert covers_none("jq:*", "jq -n env", "jq -n '$ENV'", "jq -L x . y")


def test_sort_covers_what_it_is_for() -> None:
    assert covers_all("sort:*", "sort -k2 -u x")
    assert covers_none("sort:*", "sort -o /x y", "sort --compress-program=x y")
