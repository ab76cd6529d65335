"""In which ways sessions can be run here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.config import Config
from quarterdeck.runner.launching import Ear, Way
from quarterdeck.runner.sdk import SdkWay


def ways_of(config: Config, ear: Ear, folder: Path) -> Mapping[str, Way]:
    """Each mode with the way that runs it."""
    return {"sdk": SdkWay(ear, sources=config.sdk.setting_sources)}
