"""The command that plays an exported feed."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quarterdeck.cli.admin.replay import app
from quarterdeck.cli.output import playback
from quarterdeck.cli.output.export_formats import ndjson
from quarterdeck.store.dump import StoredRow
from quarterdeck.wire import write_json
from tests.support.scene import Scene


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="build it")
    scene.clock += 3600
    scene.receives("UserPromptSubmit", prompt="test it")
    file = tmp_path / "feed.ndjson"
    rows = [StoredRow(e.seq_no, write_json(e), bytes(32)) for e in scene.events]
    file.write_bytes(b"".join(ndjson([*rows, StoredRow(rows[-1].seq_no + 1, b"torn", bytes(32))])))
    return file


def test_the_gaps_pass_at_the_speed_and_an_hour_is_shortened(feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    done = CliRunner().invoke(app, [str(feed), "--speed", "10"])
    assert done.exit_code == 0
    assert max(waits) == pytest.approx(playback.LONGEST_GAP / 10)
    assert max(waits) < sum(waits) < 2 * max(waits)
    assert done.stdout.index("build it") < done.stdout.index("test it")
    assert "1 damaged left out." in done.stderr


def test_debug_events_are_shown_on_request(feed: Path) -> None:
    shown = [
        CliRunner().invoke(app, [str(feed), "--speed", "max", *words]).stdout.splitlines()
        for words in ([], ["--all-events"])
    ]
    assert len(shown[0]) < len(shown[1])
