from __future__ import annotations

import pytest

from quarterdeck.core.programs.grammar import FETCH, PROGRAM, SEND, WRITE, read_command, read_rows

ROWS = """
tool · write · - · -q -C=@ --color=?
# a comment
tool send|tool post · send · :urls!f · @more --exec=!x
tool get-* · fetch ·
 > · -o=> -n==
"""


def test_a_table_is_read_by_program_and_shared_options_are_inserted() -> None:
    rows = read_rows(ROWS, {"more": "-a -b="})
    assert list(rows) == ["tool"]
    tool = read_command(rows["tool"])
    assert tool.effects == WRITE
    assert tool.options["--color"].attached
    send = tool.subcommand("post")
    assert send is not None
    assert (send.effects, send.operands, send.operand_effects) == (SEND, ":urls", FETCH)
    assert send.options["-b"].takes == 1
    assert send.options["--exec"].effects == PROGRAM
    getter = tool.subcommand("get-it")
    assert getter is not None
    assert getter.path == ("tool", "get-*")
    assert getter.options["-n"].takes == 2
    assert tool.subcommand("other") is None
    assert {leaf.path[-1] for leaf in tool.leaves()} == {"send", "post", "get-*"}


def test_a_row_without_its_fields_is_an_error() -> None:
    with pytest.raises(ValueError, match="four fields"):
        read_rows("tool · write · -", {})
