"""Progress is shown on a terminal only."""

from __future__ import annotations

import pytest

from quarterdeck.cli.output.progress import progress_bar


def test_a_bar_prints_nothing_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("Reading") as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")
