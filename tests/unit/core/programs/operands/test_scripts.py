from __future__ import annotations

import pytest

from quarterdeck.core.programs.operands.scripts import database, is_safe_awk, jq, redis, sed, sql, yq


@pytest.mark.parametrize("script", ["1,5p", "s/a/b/g", "/x/d", "$!p", "s|a|b|;p"])
def test_a_sed_script_that_prints(script: str) -> None:
    assert not sed((script,), (), "", 0)


@pytest.mark.parametrize("script", ["w x", "1e x", "s/a/b/e", "s/a/b/w x", "r /x"])
def test_a_sed_script_that_runs_or_writes(script: str) -> None:
    assert sed((script,), (), "", 0)


@pytest.mark.parametrize(
    "program", ["{print $1}", "$3 > 100", "NR>=10 && NR<=20", '$1 == "a > b" {n++} END {print n/NR}']
)
def test_an_awk_program_that_prints(program: str) -> None:
    assert is_safe_awk(program)


@pytest.mark.parametrize(
    "program",
    [
        '{print > "x"}',
        "{print $1 > $2}",
        '{print | "sh"}',
        '{system("x")}',
        '"x" | getline',
        "{print>$1}",
        '{printf "a" > f}',
    ],
)
def test_an_awk_program_that_runs_or_writes(program: str) -> None:
    assert not is_safe_awk(program)


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "SELECT 'drop table x'",
        "explain select 1;",
        "\\d users",
        ".tables",
        "with a as (select 1) select * from a",
    ],
)
def test_a_statement_that_reads(text: str) -> None:
    assert not sql((text,), (), "", 0)


@pytest.mark.parametrize(
    "text",
    [
        "drop table x",
        "select 1; delete from x",
        "with a as (delete from b) select 1",
        "select pg_read_file('x')",
        "\\! x",
        ".shell x",
        "select 1 into outfile 'x'",
        "select 1 -- '\n; drop table x",
    ],
)
def test_a_statement_that_does_more(text: str) -> None:
    assert sql((text,), (), "", 0)


def test_filters_may_read_the_environment() -> None:
    assert jq(("env.X",), (), "", 0)
    assert not jq((".environment",), (), "", 0)
    assert yq(("strenv(X)",), (), "", 0)
    assert not yq((".env_file",), (), "", 0)


def test_a_client_without_a_statement_reads_its_input() -> None:
    assert database((), ("psql", "x"), "", 0)
    assert not database((), ("psql", "-l"), "", 0)
    assert not redis(("GET", "x"), ("redis-cli", "GET", "x"), "", 0)
    assert redis(("flushall",), ("redis-cli", "flushall"), "", 0)
