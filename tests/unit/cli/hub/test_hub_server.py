"""`qd hub serve` refuses a start that cannot be safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.cli.hub.hub_server import serve
from quarterdeck.errors import ConfigError


def test_a_hub_for_other_machines_needs_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path / "home"))
    with pytest.raises(ConfigError, match="TLS"):
        serve(host="0.0.0.0", quiet=True)
    assert not (tmp_path / "home" / "hub.db").exists()
