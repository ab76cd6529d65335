"""What every command shares: --json, errors as one line, ids by their beginning, tables."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from quarterdeck.cli.common import (
    Output,
    cell,
    command,
    default_command,
    full_id,
    group,
    out,
    request_named,
    require_one_of,
    table,
)
from quarterdeck.errors import Misused, NoDaemon, QuarterdeckError, Refused

app = group("Things.")


@default_command(app)
@command(app, "list")
def list_things() -> Output:
    """List the things."""
    return Output({"things": ["a"]}, ["one \x1b[2J thing"])


@command(app)
def check() -> Output:
    """Check the things."""
    return Output({"ok": False}, ["broken"], is_ok=False)


@command(app)
def fail(kind: str) -> None:
    """Fail."""
    raise {"misused": Misused, "daemon": NoDaemon, "refused": Refused, "disk": OSError}[kind]("not\nso")


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr


def test_a_command_prints_its_lines_without_control_characters() -> None:
    with out.capture() as printed:
        assert run("list")[0] == 0
        assert run()[0] == 0
    assert printed.get() == "one ⟨1b⟩[2J thing\n" * 2


@pytest.mark.parametrize("words", [("list", "--json"), ("--json",)])
def test_json_prints_the_value_instead(words: tuple[str, ...]) -> None:
    assert json.loads(run(*words)[1]) == {"things": ["a"]}


def test_a_bad_result_is_printed_and_exits_with_1() -> None:
    assert run("check", "--json") == (1, '{\n  "ok": false\n}\n', "")


@pytest.mark.parametrize(("kind", "code"), [("misused", 2), ("daemon", 3), ("refused", 1), ("disk", 1)])
def test_an_error_is_one_line_and_an_exit_code(kind: str, code: int) -> None:
    assert run("fail", kind) == (code, "", "quarterdeck: not⏎so\n")


def test_only_commands_that_return_data_take_json() -> None:
    assert run("fail", "disk", "--json")[0] == 2


def test_an_id_is_named_by_its_beginning() -> None:
    known = ["ab1", "ab2", "ab"]
    assert [full_id(known, start, "thing", "qd things") for start in ("ab", "ab1", "ab2")] == ["ab", "ab1", "ab2"]
    for start, words in (("a", "more than one thing"), ("x", "no thing starts with x; see: qd things"), ("", "no")):
        with pytest.raises(QuarterdeckError, match=words):
            full_id(known, start, "thing", "qd things")


def test_a_wrong_word_is_named_with_the_valid_ones() -> None:
    require_one_of("--scope", None, ("a", "b"))
    with pytest.raises(Misused, match="--scope: must be a or b, is 'c'"):
        require_one_of("--scope", "c", ("a", "b"))


def test_a_table_has_a_row_for_each_resource() -> None:
    rows: list[dict[str, Any]] = [{"id": "a\n", "n": 3}]
    with out.capture() as printed:
        out.print(table(rows, {"id": "id", "twice": lambda one: cell(one["n"] * 2, "dim")}))
    assert [line.split() for line in printed.get().splitlines()] == [["id", "twice"], ["a⏎", "6"]]


WAITING = ["h3fa4-7", "h3fb5-17", "h3fb5-18"]


@pytest.mark.parametrize(
    ("start", "found"), [("h3fa", "h3fa4-7"), ("17", "h3fb5-17"), ("h3fb5-17", "h3fb5-17"), ("h9-2", "h9-2")]
)
def test_a_request_is_named_by_its_beginning_its_number_or_its_id(start: str, found: str) -> None:
    assert request_named(WAITING, start) == found


def test_without_a_name_the_only_waiting_request_is_meant() -> None:
    assert request_named(WAITING[:1], None) == "h3fa4-7"
    with pytest.raises(Refused, match="no requests are waiting"):
        request_named([], None)


def test_a_name_that_may_mean_several_requests_names_them() -> None:
    with pytest.raises(Refused, match=r"h3fb may be one of 2 requests; name one of them: h3fb5-17, h3fb5-18"):
        request_named(WAITING, "h3fb")
    with pytest.raises(Refused, match=r"3 requests wait; name one of them: h3fa4-7, h3fb5-17, h3fb5-18"):
        request_named(WAITING, None)
    with pytest.raises(Refused, match="17 may be one of 2 requests"):
        request_named(["h1-17", "h2-17"], "17")
