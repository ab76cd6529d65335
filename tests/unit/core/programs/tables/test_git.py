"""Git by its grammar: a rule for the program covers reading, local changes and fetching."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_git_covers_what_it_is_for() -> None:
    assert covers_all(
        "git:*",
        "git status",
        "git add -A",
        "git commit -m x",
        "git fetch --all",
        "git -C sub log",
        "git config --get a.b",
        "git diff --output=out.txt",
    )
    assert covers_none(
        "git:*",
        "git push",
        "git remote add x y",
        "git merge-index ./x -a",
        "git config core.pager x",
        "git -C /x log",
        "git frobnicate",
        "git diff --output=/x",
        "git log --ext-diff",
    )


def test_git_push_covers_what_it_is_for() -> None:
    assert covers_all("git push:*", "git push -u origin x", "git push --force-with-lease")
    assert covers_none("git push:*", "git push --receive-pack=./x", "git push ext::./x")


def test_files_that_an_archive_or_a_patch_takes_in_are_judged() -> None:
    assert covers_all("git archive:*", "git archive --add-file=README.md HEAD")
    assert covers_none("git archive:*", "git archive --add-file=/etc/passwd HEAD")
    assert covers_none("git format-patch:*", "git format-patch --signature-file=/etc/passwd -1")
