"""Programs that find, pack and copy files by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none
from tests.support.rulebook import effect_of, runs


def test_find_covers_what_it_is_for() -> None:
    assert covers_all("find:*", "find . -name '*.py' -type f")
    assert covers_none("find:*", "find . -delete", "find . -exec ./x {} +", "find . -fprint /x")


def test_tar_tf_covers_what_it_is_for() -> None:
    assert covers_all("tar tf:*", "tar tf x.tar")
    assert covers_none("tar tf:*", "tar tf x.tar --to-command=x", "tar uf x.tar y", "tar tf h:x.tar")


def test_cp_covers_what_it_is_for() -> None:
    assert covers_all("cp:*", "cp a b")
    assert covers_none("cp:*", "cp a /x", "cp a .git/hooks/x")


def test_rm_covers_what_it_is_for() -> None:
    assert covers_all("rm:*", "rm -rf build")
    assert covers_none("rm:*", "rm -rf /x", "rm -rf ../x")


def test_find_deletes_only_below_folders_of_the_project() -> None:
    rules = ("allow Bash(find:*)", "allow Bash(rm:*)", "allow Bash(cd:*)")
    assert effect_of(runs("find . -name x -exec rm {} +"), *rules) == "allow"
    assert effect_of(runs("find / -name x -exec rm {} +"), *rules) != "allow"
    assert effect_of(runs("find -L / -name x -exec rm {} +"), *rules) != "allow"
    assert effect_of(runs("cd /x && find . -exec rm {} +"), *rules) != "allow"
    assert effect_of(runs("touch -m /etc/x"), "allow Bash(touch:*)") != "allow"
