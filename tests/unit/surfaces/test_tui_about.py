"""What leaves this machine is named, and nothing else is said to."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.surfaces.terminal.commands import COMMANDS
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.screens.about import PROMISE, about_lines, facts_of, reaching, settings_of
from tests.support.pilot import Face
from tests.support.tui import Json, RecordedTalk, connected, event, snapshot

STATS: Json = {"runner_id": "otter-1", "version": "1.0", "uptime_seconds": 7200.0, "hook_overhead": []}
STATS["store"] = {"seq_no": 1234, "database_bytes": 2_000_000, "wal_bytes": 0}


def set_to(seq_no: int, key: str, new: str | None) -> Json:
    return event(seq_no, "setting.change", "", key=key, old=None, new=new)


def test_settings_are_what_their_last_change_says() -> None:
    changes = [set_to(1, "otel.endpoint", '"http://a:4318"'), set_to(2, "decide.hold", '"always"')]
    changes += [set_to(3, "otel.endpoint", None), set_to(4, "notify.include_input", "true"), set_to(5, "odd", "{")]
    assert settings_of(changes) == {"decide.hold": "always", "notify.include_input": True, "odd": "{"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, []),
        ({"runner.host": "127.0.0.1", "notify.desktop": True}, []),
        ({"runner.host": "0.0.0.0"}, ["reached beyond this machine, at 0.0.0.0 (runner.host)"]),
        ({"otel.endpoint": "http://c:4318"}, ["traces and metrics go to http://c:4318 (otel.endpoint)"]),
        ({"otel.endpoint": "x", "otel.include_content": True}, ["what tools are given"]),
        ({"notify.push_url": "https://ntfy.sh (address 1)"}, ["by a push: https://ntfy.sh"]),
        ({"notify.webhook_url": "https://w", "notify.include_input": True}, ["a webhook, with what the tool"]),
    ],
)
def test_what_reaches_beyond_this_machine_is_named(settings: Json, words: list[str]) -> None:
    found = list(reaching(settings))
    assert len(found) == len(words)
    assert all(word in told for word, told in zip(words, found, strict=True))


def test_without_a_daemon_it_does_not_claim_to_know() -> None:
    shown = plain(fold(about_lines(facts_of(None, "/home", ""), None), 80))
    assert "not known" in shown
    assert "Nothing is configured" not in shown


async def test_the_about_screen_says_what_this_is_and_what_leaves_it() -> None:
    changes = {"events": [set_to(1, "otel.endpoint", '"http://collector:4318"')], "next": None}
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}, "/stats": STATS, "/feed": changes}
    app = QuarterdeckApp(Path("/nowhere"), talk=RecordedTalk([connected(), snapshot()], answers))
    async with app.run_test(size=(90, 24)) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.link == "live", "a connection")
        assert "about" in {command.name for command in COMMANDS}
        app.perform("about", "")
        for words in (PROMISE, __version__, "otter-1", "1,234 events", "2.0 MB", "MIT", "http://collector:4318"):
            await face.sees(words)
