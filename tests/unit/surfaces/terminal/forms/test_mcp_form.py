"""An MCP server that a person types."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.forms.mcp_form import read_command_line, read_pairs


def test_an_mcp_server_is_read_from_typed_lines_and_words() -> None:
    assert read_pairs("A=b=c\n\n B = d ", "=") == {"A": "b=c", "B": "d"}
    assert read_pairs("Authorization: Bearer x", ":") == {"Authorization": "Bearer x"}
    assert "not oops" in read_pairs("oops", "=")
    assert read_command_line("npx -y 'some server'") == ["npx", "-y", "some server"]
    assert "needs a command" in read_command_line(" ")
    assert "cannot be read" in read_command_line("npx 'x")
