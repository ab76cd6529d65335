"""The words about the link to a hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.cli.hub.membership import lines, read_token
from quarterdeck.errors import ConfigError
from tests.support.daemon import Json

READY: Json = {
    "state": "ready",
    "trouble": None,
    "trouble_kind": None,
    "since": 1.0,
    "acknowledged": 1234,
    "behind": 0,
    "backlog_used": 0.0,
    "backlog_warning": False,
    "rules_refused": 0,
    "may": ["observe"],
    "share": "no_output",
    "shared_folders": {"/srv": "nothing"},
}


def text(**changed: object) -> str:
    return "\n".join(str(line) for line in lines({**READY, **changed}))


def test_a_link_that_is_well_says_what_is_shared() -> None:
    assert "hub: connected" in text()
    assert "1,234 events acknowledged" in text()
    assert "shares no output" in text()
    assert "/srv: nothing" in text()
    assert "!" not in text()


def test_trouble_a_full_room_and_refused_rules_are_named() -> None:
    assert "! disconnected: no route" in text(state="disconnected", trouble="no route")
    assert "takes 85% of its room" in text(backlog_warning=True, backlog_used=0.85)
    assert "2 rules of the hub are not taken" in text(rules_refused=2)


def test_the_token_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    assert read_token(tmp_path / "token") == "abc"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_token(tmp_path / "none")
