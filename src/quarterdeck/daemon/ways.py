"""In which ways sessions can be run here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.config import Config
from quarterdeck.runner.launching import Ear, Way


def ways_of(config: Config, ear: Ear, folder: Path) -> Mapping[str, Way]:
    """Each mode with the way that runs it."""
    return {}
