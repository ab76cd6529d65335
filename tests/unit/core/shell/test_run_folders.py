from __future__ import annotations

import pytest

from quarterdeck.core.shell.run_folders import call_folder, line_folder
from quarterdeck.core.shell.script import Call, read_script


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("ls", "/p"),
        ("cd sub && ls", "/p"),
        ("cd /p/sub && ls", "/p"),
        ("cd .. && ls", None),
        ("cd && ls", None),
        ("cd /x && ls", None),
        ("cd node_modules/x && npm test", None),
        ("cd .git && ls", None),
    ],
)
def test_a_line_may_change_to_a_folder_of_the_project(line: str, folder: str | None) -> None:
    assert line_folder(read_script(line), "/p") == folder


@pytest.mark.parametrize(
    ("outer", "folder"),
    [
        (("find", ".", "-exec"), "/p"),
        (("find", "-name", "x", "-exec"), "/p"),
        (("find", "src", "/x", "-exec"), None),
        (("find", "-L", "/x", "-exec"), None),
        (("timeout", "5"), "/p"),
    ],
)
def test_find_runs_commands_where_it_starts(outer: tuple[str, ...], folder: str | None) -> None:
    assert call_folder(Call(("rm", "{}"), "rm {}", outer=outer), "/p") == folder
