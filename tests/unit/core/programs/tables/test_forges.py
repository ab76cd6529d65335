"""GitHub and GitLab by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_gh_covers_what_it_is_for() -> None:
    assert covers_all("gh:*", "gh pr list --limit 3", "gh run view 1 --log")
    assert covers_none("gh:*", "gh pr merge 1", "gh api -X DELETE x", "gh auth token", "gh x")


def test_gh_pr_covers_what_it_is_for() -> None:
    assert covers_all("gh pr:*", "gh pr create --title x --body y", "gh pr diff 1")
    assert covers_none("gh pr:*", "gh pr x", "gh pr view 1 --hostname h")


def test_gh_api_covers_what_it_is_for() -> None:
    assert covers_all("gh api:*", "gh api repos/a/b --jq .x", "gh api x -X GET")
    assert covers_none("gh api:*", "gh api x -f a=b", "gh api x -XPOST")
