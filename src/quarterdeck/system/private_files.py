"""Files that hold a secret: ours alone, or not read."""

from __future__ import annotations

import os
from pathlib import Path

from quarterdeck.errors import ConfigError

LARGEST = 65_536


def read_private(setting: str, name: str) -> str:
    """The text of a file that only we can read; `setting` is what names it."""
    path = Path(name).expanduser()
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            text = file.read(LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{setting}: {path}: cannot be read ({error})") from None
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ConfigError(f"{setting}: {path}: must be yours alone; run: chmod 600 {path}")
    return text
