"""A pane as tmux prints it."""

from __future__ import annotations

from quarterdeck.sessions.tmux.server import FIELDS, Pane, read_pane


def line(**fields: str) -> str:
    """A line in FORMAT; fields that are not given are empty."""
    given = {"session_id": "$1", "window_id": "@1", "pane_id": "%1", "pane_pid": "7", "pid": "6", **fields}
    return "|".join(given.get(name.removeprefix("@quarterdeck_"), given.get(name, "")) for name in FIELDS) + "\n"


def test_a_pane_of_quarterdeck_names_its_session_its_agent_and_its_folder() -> None:
    pane = read_pane(line(session="s1", config="/a%7Cb", kind="agent", agent="lark", session_name="qd|s1"))
    assert pane == Pane(
        session="$1",
        window="@1",
        pane="%1",
        pid=7,
        server_pid=6,
        session_id="s1",
        config_dir="/a|b",
        kind="agent",
        agent="lark",
    )


def test_a_pane_of_an_earlier_version_is_of_the_first_agent() -> None:
    pane = read_pane(line(session="s1", config="/a", kind="agent"))
    assert pane is not None
    assert pane.agent == "claude"


def test_an_ended_pane_has_an_exit_code_or_a_signal() -> None:
    pane = read_pane(line(session_name="mine", pane_dead="1", pane_dead_signal="9"))
    assert pane is not None
    assert (pane.session_id, pane.dead, pane.code, pane.signal) == ("mine", True, None, 9)
    assert read_pane("$1|@1") is None
