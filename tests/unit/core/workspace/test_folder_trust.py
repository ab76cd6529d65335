"""Trust: one meaning for rules, sessions and extensions, in folders below and in nested projects."""

from __future__ import annotations

import pytest

from quarterdeck.core.workspace.folder_trust import LEVELS_NEEDED, is_trusted, suffices, trust_at

TRUST = {"/w": "full", "/w/shop": "rules", "/w/shop/vendor": "none", "/w/shop/vendor/ours": "full"}


@pytest.mark.parametrize(
    ("folder", "level"),
    [
        ("/w", "full"),
        ("/w/app/src", "full"),
        ("/w/shop/src", "rules"),
        ("/w/shop/vendor/lib", "none"),
        ("/w/shop/vendor/ours/src", "full"),
        ("/w2", None),
        ("/", None),
        ("", None),
        ("relative/folder", None),
    ],
)
def test_the_nearest_folder_with_a_setting_counts(folder: str, level: str | None) -> None:
    assert trust_at(TRUST, folder) == level


@pytest.mark.parametrize(
    ("level", "uses"),
    [("full", {"rules", "sessions", "extensions"}), ("rules", {"rules"}), ("none", set()), (None, set())],
)
def test_each_use_needs_its_level(level: str | None, uses: set[str]) -> None:
    assert {use for use in LEVELS_NEEDED if suffices(level, use)} == uses


@pytest.mark.law("R6")
@pytest.mark.parametrize("use", LEVELS_NEEDED)
def test_a_nested_project_with_less_trust_is_trusted_less(use: str) -> None:
    assert is_trusted(TRUST, "/w/app", use)
    assert not is_trusted(TRUST, "/w/shop/vendor/lib", use)


def test_a_folder_with_a_similar_name_is_not_below() -> None:
    assert not is_trusted({"/w/app": "full"}, "/w/apple", "sessions")
