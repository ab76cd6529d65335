"""The about page names everything that leaves this machine, and nothing else."""

from __future__ import annotations

import pytest

from quarterdeck.surfaces.terminal.lines.about_lines import (
    about_lines,
    changed_settings,
    facts_of,
    outgoing_settings,
)
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from tests.support.recorded_daemon import Json, event


def set_to(seq_no: int, key: str, new: str | None) -> Json:
    return event(seq_no, "setting.change", "", key=key, old=None, new=new)


def test_settings_come_from_their_last_change() -> None:
    changes = [set_to(1, "otel.endpoint", '"http://a:4318"'), set_to(2, "decide.hold", '"always"')]
    changes += [set_to(3, "otel.endpoint", None), set_to(4, "notify.include_input", "true"), set_to(5, "odd", "{")]
    assert changed_settings(changes) == {"decide.hold": "always", "notify.include_input": True, "odd": "{"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, []),
        ({"runner.host": "127.0.0.1", "notify.desktop": True}, []),
        ({"runner.host": "0.0.0.0"}, ["reached beyond this machine, at 0.0.0.0 (runner.host)"]),
        ({"otel.endpoint": "http://c:4318"}, ["traces and metrics go to http://c:4318 (otel.endpoint)"]),
        ({"otel.endpoint": "x", "otel.include_content": True}, ["the input and output of tools"]),
        ({"notify.push_url": "https://ntfy.sh (address 1)"}, ["to a push: https://ntfy.sh"]),
        ({"notify.webhook_url": "https://w", "notify.include_input": True}, ["a webhook, with the tool's input"]),
    ],
)
def test_settings_that_reach_beyond_this_machine_are_named(settings: Json, words: list[str]) -> None:
    sentences = list(outgoing_settings(settings))
    assert len(sentences) == len(words)
    assert all(word in sentence for word, sentence in zip(words, sentences, strict=True))


def test_without_a_daemon_the_settings_are_shown_as_unknown() -> None:
    shown = plain(fold(about_lines(facts_of(None, "/home", ""), None), 80))
    assert "not known" in shown
    assert "Nothing is configured" not in shown
