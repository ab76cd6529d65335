from __future__ import annotations

import pytest

from quarterdeck.core.shell.plain_forms import plainer
from quarterdeck.core.shell.script import read_script

MESSAGE = "git commit -m \"$(cat <<'EOF'\n{}\nEOF\n)\""


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("time git status", [("time",), ("git", "status")]),
        ("CI=1 NO_COLOR=1 pytest && TZ=UTC date", [("pytest",), ("date",)]),
        ("GIT_PAGER=cat git log", [("git", "log")]),
        ('CI="1" PAGER= npm test', [("npm", "test")]),
        ("PYTHONPATH=src:. CI=1 pytest -q", [("pytest", "-q")]),
        ("PYTHONPATH=./src python3 -m pytest", [("python3", "-m", "pytest")]),
        ("NODE_OPTIONS=--max-old-space-size=4096 npm test", [("npm", "test")]),
        ('RUSTFLAGS="-D warnings" cargo test', [("cargo", "test")]),
        ("[ -d x ] || mkdir x", [("[",), ("test", "-d", "x"), ("mkdir", "x")]),
        ("echo 'a b' && [ ! -f \"c d\" ] && ls", [("[",), ("echo", "a b"), ("test", "!", "-f", "c d"), ("ls",)]),
        (MESSAGE.format("a (b)\n\nc"), [("git", "commit", "-m", "a (b)\n\nc")]),
        (
            "git add . && " + MESSAGE.format("it's") + " && git log",
            [("git", "add", "."), ("git", "commit", "-m", "it_s"), ("git", "log")],
        ),
    ],
)
def test_a_form_of_certain_meaning_is_clear(text: str, calls: list[tuple[str, ...]]) -> None:
    script = read_script(text)
    assert script.doubts == ()
    assert [call.words for call in script.calls] == calls


@pytest.mark.law("R2")
@pytest.mark.parametrize(
    "text",
    [
        "PATH=x ls",
        "CI=$(x) ls",
        "CI=1",
        "GIT_PAGER=./x git log",
        "GIT_PAGER=catx git log",
        'GIT_PAGER="cat x" git log',
        "PYTHONPATH=/tmp/x pytest",
        "PYTHONPATH=src:../x pytest",
        "PYTHONPATH=.x pytest",
        "PYTHONPATH=src aws s3 ls",
        "NODE_OPTIONS='--no-warnings -r ./x' npm test",
        "RUSTFLAGS='-D warnings -C linker=x' cargo test",
        "CI=/x ls",
        "time -f x ls",
        "a | time b",
        "[ -v x ]",
        "[ -d $x ]",
        "[ a -a b ]",
        "[ -d x ] > y",
        MESSAGE.format('a "b"'),
        MESSAGE.format("a\nEOF\nrm x"),
        MESSAGE.format("a ) `x`"),
        MESSAGE.format("it's ) $x"),
        MESSAGE.replace("git commit", "bash").format("x"),
        'echo "a\\" && CI=1 b',
        "# CI=1 ls\n$x",
    ],
)
def test_anything_else_stays_unclear(text: str) -> None:
    assert read_script(text).doubts


def test_a_text_without_such_a_form_is_left_as_it_is() -> None:
    assert plainer("ls -l") is None
