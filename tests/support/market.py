"""A marketplace in a folder, with one plugin."""

from __future__ import annotations

import json
from pathlib import Path

NAME, PLUGIN = "lab-market", "demo@lab-market"


def marketplace(folder: Path) -> Path:
    plugin = folder / "plugins" / "demo"
    (plugin / "commands").mkdir(parents=True)
    (plugin / "commands" / "hi.md").write_text("Say hi.\n")
    _write(plugin / ".claude-plugin" / "plugin.json", {"name": "demo", "version": "0.1.0", "description": "A demo"})
    entry = {"name": "demo", "source": "./plugins/demo", "description": "A demo", "version": "0.1.0"}
    market = {"name": NAME, "owner": {"name": "Ann"}, "plugins": [entry]}
    _write(folder / ".claude-plugin" / "marketplace.json", market)
    return folder


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
