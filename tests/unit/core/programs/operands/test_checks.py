from __future__ import annotations

import pytest

from quarterdeck.core.programs.grammar import NAMED, OUTSIDE, PROGRAM, SECRET, SEND, WRITE
from quarterdeck.core.programs.operands.checks import CHECKS, HARMLESS_ASSIGNMENT
from tests.support.rulebook import effect_of, runs


@pytest.mark.parametrize(
    ("name", "word", "effects"),
    [
        ("plugin", "no:x", 0),
        ("plugin", "x", PROGRAM),
        ("warning", "error::DeprecationWarning", 0),
        ("warning", "error::x.Y", PROGRAM),
        ("method", "get", 0),
        ("method", "POST", SEND),
        ("cov_report", "term-missing", 0),
        ("cov_report", "html:src/app", WRITE | NAMED),
        ("volume", "data:/x", 0),
        ("volume", "/:/x", OUTSIDE),
        ("header", "Accept: x", 0),
        ("header", "@x", SEND),
        ("write_out", "%{http_code}", 0),
        ("write_out", "%output{/x}", OUTSIDE),
        ("resources", "pods,secrets", SECRET),
        ("make", "CC=x", PROGRAM),
        ("git_urls", "ext::x", PROGRAM),
        ("ldflags", "-s -w", 0),
        ("ldflags", "-extld=x", PROGRAM),
        ("archive", "h:x", PROGRAM),
    ],
)
def test_a_value_is_judged_by_its_text(name: str, word: str, effects: int) -> None:
    assert CHECKS[name]((word,), (), "", 0) == effects


def test_only_variables_that_steer_nothing_are_harmless() -> None:
    assert HARMLESS_ASSIGNMENT.fullmatch("CI=1")
    assert not HARMLESS_ASSIGNMENT.fullmatch("PATH=/x")
    assert not HARMLESS_ASSIGNMENT.fullmatch("CI=/x")
    assert not HARMLESS_ASSIGNMENT.fullmatch("LANG=../x")


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("git status", "git -c color.ui=never status"),
        ("git log", "git -c core.pager=cat log"),
        ("make build", "make build V=1"),
        ("date", "date -u +%Y"),
        ("gem install rails", "gem install rails --no-document"),
        ("ruff check", "ruff check --fix src"),
        ("npx eslint", "npx eslint --fix src"),
        ("terraform plan", "terraform plan -out=tfplan"),
        ("pytest", "pytest --cov-report html:htmlcov -p xdist"),
        ("tar", "tar czf dist/a.tgz -C build app"),
        ("ps", "ps aux --sort=-%cpu"),
        ("hostname", "hostname -I"),
        ("pnpm run", "pnpm run -r build"),
    ],
)
def test_a_rule_covers_what_these_words_do(rule: str, line: str) -> None:
    assert effect_of(runs(line), f"allow Bash({rule}:*)") == "allow"


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("git status", "git -c core.fsmonitor=./x status"),
        ("git log", "git -c core.pager=./x log"),
        ("make build", "make build SHELL=1"),
        ("make build", "make build V=./x"),
        ("date", "date 010100002030"),
        ("gem install rails", "gem install rails other"),
        ("ruff check", "ruff check --fix ../other"),
        ("npx eslint", "npx eslint -f ./format.js src"),
        ("terraform plan", "terraform plan -out=../tfplan"),
        ("pytest", "pytest -p helpers.evil"),
        ("tar", "tar xzf a.tgz -C /etc"),
        ("ps", "ps eww"),
        ("hostname", "hostname other"),
        ("pnpm run", "pnpm run build -r ./x"),
        ("docker build", "docker build --build-context src=/home/me ."),
        ("gh pr list", "gh pr list -R other.example/a/b"),
        ("uv run pytest", "uv run --python ./py pytest"),
        ("strings", "strings /proc/1/environ"),
    ],
)
def test_and_none_that_goes_beyond(rule: str, line: str) -> None:
    assert effect_of(runs(line), f"allow Bash({rule}:*)") is None
