from __future__ import annotations

import pytest

from quarterdeck.core.shell.leading_options import without_leading_options
from tests.support.rulebook import CWD, effect_of, runs


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("git --no-pager log main", "git log main"),
        ("git -C packages/api status", "git status"),
        ("kubectl -n staging --context=dev get pods -o wide", "kubectl get pods"),
        ("curl -sS --max-time 5 http://localhost/a", "curl http://localhost/a"),
        ("make -j4 test", "make test"),
        ("uv run --frozen pytest -q", "uv run pytest -q"),
        ("systemctl --user status x", "systemctl status x"),
        ("yarn workspace @shop/web run test", "yarn run test"),
        ("cargo +nightly fmt", "cargo fmt"),
        ("./gradlew :core:test", "./gradlew test"),
        ("mvn -q clean test", "mvn test"),
    ],
)
def test_harmless_options_are_left_out(line: str, plain: str) -> None:
    assert " ".join(without_leading_options(tuple(line.split()), CWD)) == plain


@pytest.mark.parametrize(
    "line",
    [
        "yarn workspace ../x run test",
        "cargo +evil fmt",
        "mvn clean",
        "git -c core.pager=x log",
        "git -C ../other status",
        "git --frobnicate log",
        "curl -x http://localhost http://evil.example",
        "curl -- http://localhost",
        "rm -r build",
        "git push --force origin",
        "tar -v xf a.tar",
        "frobnicate -q x",
    ],
)
def test_an_option_with_an_effect_stays_and_so_does_all_that_follows(line: str) -> None:
    words = tuple(line.split())
    assert without_leading_options(words, CWD) == words


@pytest.mark.law("R8")
@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("git --no-pager log -5", "Bash(git log:*)"),
        ("aws --profile staging s3 ls", "Bash(aws s3 ls:*)"),
        ("curl -s localhost:3000/a", "Bash(curl http://localhost:*)"),
        ("curl -so /dev/null -w '%{http_code}' http://localhost/", "Bash(curl http://localhost:*)"),
        ("uv run --frozen pytest -q", "Bash(uv run pytest:*)"),
    ],
)
def test_a_rule_covers_a_command_with_harmless_options_in_front(line: str, rule: str) -> None:
    assert effect_of(runs(line), f"allow {rule}") == "allow"


@pytest.mark.law("R8")
@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("git --no-pager log -5", "Bash(git log)"),
        ("git --no-pager log --output=f", "Bash(git log:*)"),
        ("git -c core.fsmonitor=./x status", "Bash(git status:*)"),
        ("curl -A http://localhost http://evil.example", "Bash(curl http://localhost:*)"),
        ("curl -s http://localhost http://evil.example", "Bash(curl http://localhost:*)"),
        ("curl -s localhost.evil.example/a", "Bash(curl http://localhost:*)"),
        ("uv run --with evil pytest", "Bash(uv run pytest:*)"),
        ("uv run --python /x/python pytest", "Bash(uv run pytest:*)"),
    ],
)
def test_and_no_command_that_does_more(line: str, rule: str) -> None:
    assert effect_of(runs(line), f"allow {rule}") is None
