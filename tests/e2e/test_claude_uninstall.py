"""A session of the real Claude Code that runs while `qd uninstall` disconnects it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.agents.base import Transport
from quarterdeck.config.settings import Config
from quarterdeck.drivers.base import UninstallOptions
from quarterdeck.drivers.claude.driver import ClaudeDriver
from tests.support.claude import Json, require
from tests.support.connected_claude import Connected
from tests.support.daemon import until
from tests.support.model_server import Turn, text, tool

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@pytest.fixture(params=["2.1.325", "2.1.197"])
def cli(request: pytest.FixtureRequest) -> Path:
    return require(request.param)


@pytest.fixture(params=Transport)
def pair(request: pytest.FixtureRequest, cli: Path, tmp_path: Path) -> Iterator[Connected]:
    with Connected(tmp_path, cli, request.param) as pair:
        yield pair


def uninstall(pair: Connected) -> tuple[str, ...]:
    named = {"config_dir": str(pair.claude.config), "path": str(pair.claude.cli)}
    report = ClaudeDriver(Config.model_validate({"claude": named})).uninstall(pair.daemon.home, UninstallOptions())
    return report.lines


def calls_after_uninstall(pair: Connected) -> int:
    stats: Json = pair.daemon.api("GET", "/stats")[1]
    return int(stats["inputs"]["refused"].get("after_uninstall", 0))


def new_token_counts(pair: Connected) -> bool:
    """The daemon reads what an uninstall leaves once a second."""
    status, _ = pair.daemon.hook({"session_id": "new", "hook_event_name": "Stop", "cwd": "/"})
    return status == 204


def flags(pair: Connected, folder: Path) -> list[str]:
    """Settings hooks go with the settings at once, so here they come from a flag, which an uninstall cannot take back.
    Those of a plugin stay until the session reloads its plugins."""
    if pair.transport is Transport.PLUGIN:
        return []
    flag = folder / "flag.json"
    flag.write_bytes(pair.claude.settings_file.read_bytes())
    return ["--settings", str(flag)]


def test_a_running_session_prints_nothing_and_is_left_alone_after_an_uninstall(pair: Connected, tmp_path: Path) -> None:
    pair.script("hello", Turn(text("first answer")))
    pair.path("notes").write_text("buy milk")
    pair.script("again", Turn(tool("Read", file_path=str(pair.path("notes")))), Turn(text("second answer")))
    pair.daemon.api("POST", "/rules", {"effect": "allow", "pattern": "Bash(mkdir:*)", "scope": "user"})
    pair.script("make", Turn(tool("Bash", command="mkdir made", description="as scripted")), Turn(text("made it")))
    with pair.terminal(*flags(pair, tmp_path)) as terminal:
        terminal.type_prompt("hello")
        terminal.wait_for("first answer")
        session_id = terminal.session()["sessionId"]
        pair.session(session_id, "settled")
        assert "/reload-plugins" in uninstall(pair)[-1]
        until(lambda: new_token_counts(pair), what="the new token")
        before = pair.kinds(session_id)
        terminal.type_prompt("again")
        terminal.wait_for("second answer")
        terminal.wait_status("idle")
        terminal.type_prompt("make")
        terminal.choose("Yes")
        terminal.wait_for("made it")
        terminal.wait_status("idle")
        screen = terminal.screen()
        assert [
            kind for kind in pair.kinds(session_id)[len(before) :] if kind.startswith(("tool", "perm", "run"))
        ] == []
    assert "hook error" not in screen
    assert "401" not in screen
    assert calls_after_uninstall(pair) > 0
