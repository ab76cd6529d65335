"""The preview: each event as it would leave, on one line."""

from __future__ import annotations

from pathlib import Path

from msgspec import Raw

from quarterdeck.cli.hub.outgoing_preview import known_secrets, preview_lines
from quarterdeck.link.messages import LinkEvent


def test_each_event_is_one_line_with_what_was_withheld() -> None:
    events = [
        LinkEvent(seq_no=1, hash="a", event=Raw(b'{"kind":"a\\u001b"}')),
        LinkEvent(seq_no=2, hash="b", event=Raw(b"{}"), withheld="no_output"),
    ]
    first, second = (str(line) for line in preview_lines(events))
    assert first.startswith("1 {")
    assert second == "2 (no output) {}"
    assert [str(line) for line in preview_lines([])] == ["No events yet."]


def test_the_tokens_of_the_home_are_known(tmp_path: Path) -> None:
    (tmp_path / "hub-token").write_text("qdr_1234567890\n")
    assert "qdr_1234567890" in known_secrets(tmp_path)
