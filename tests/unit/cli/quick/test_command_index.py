"""The index of all commands, as a text and back."""

from __future__ import annotations

import json

from quarterdeck.cli.quick.command_index import (
    CommandIndex,
    IndexedArgument,
    IndexedCommand,
    IndexedOption,
    index_text,
    read_index,
)


def test_the_index_names_every_command_with_what_its_arguments_and_options_take() -> None:
    index = read_index()
    assert index.commands["deny"].arguments == [IndexedArgument("requests", True)]
    options = {name: option.values for option in index.commands["run"].options for name in option.names}
    assert options["--mode"] == ["sdk", "tmux", "pty"]
    assert (options["--project"], options["--title"], options["--worktree"]) == ("dirs", "", None)


def test_every_command_is_under_one_heading() -> None:
    index = read_index()
    listed = [name for _, names in index.sections for name in names]
    assert sorted(listed) == sorted(one.path for one in index.below(""))


def test_the_commands_of_a_group_are_below_it() -> None:
    assert "rules add" in [one.path for one in read_index().below("rules")]
    assert [one.path for one in read_index().below("rules add")] == []


def test_each_command_has_a_line_of_its_own_in_the_file() -> None:
    one = IndexedCommand("up", "Start.", [], [IndexedOption(["--web"], "Open the page.", None)])
    text = index_text(CommandIndex("Help", [("Every day", ["up"])], {"up": one}))
    assert json.loads(text)["commands"] == [["up", "Start.", [], [[["--web"], "Open the page.", None]]]]
    assert sum("--web" in line for line in text.splitlines()) == 1
