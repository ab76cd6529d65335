"""Database clients by their grammar and statements."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_psql_covers_what_it_is_for() -> None:
    assert covers_all("psql:*", "psql -c 'select 1'", "psql -c '\\dt'")
    assert covers_none(
        "psql:*", "psql -c 'delete from x'", "psql -c '\\! x'", "psql -f x", "psql -c 'select 1; drop table x'"
    )


def test_sqlite3_covers_what_it_is_for() -> None:
    assert covers_all("sqlite3:*", "sqlite3 x.db '.tables'", "sqlite3 x.db 'select 1'")
    assert covers_none("sqlite3:*", "sqlite3 x.db '.shell x'", "sqlite3 x.db \"select load_extension('x')\"")


def test_redis_cli_covers_what_it_is_for() -> None:
    assert covers_all("redis-cli:*", "redis-cli get x")
    assert covers_none("redis-cli:*", "redis-cli flushall", "redis-cli")
