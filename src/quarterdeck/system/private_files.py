"""Files written whole or not at all, for this user only unless told otherwise; and read only if no other user can."""

from __future__ import annotations

import os
from pathlib import Path

from quarterdeck.errors import ConfigError

MAX_BYTES = 65_536


def write_private(path: Path, content: bytes | str, *, durable: bool = False) -> None:
    """Write a file that only this user can read, in one step; see `replace_file`."""
    replace_file(path, content, durable=durable)


def replace_file(path: Path, content: bytes | str, *, mode: int = 0o600, durable: bool = False) -> None:
    """Write a file in one step: another process, or this one after a crash, finds the old content or the new.
    `durable`: it survives a power cut right after this."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")  # two commands may write it at the same time
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_private(setting: str, name: str) -> str:
    """The text of a file that only this user can read; errors name the `setting` that gives its path."""
    path = Path(name).expanduser()
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            text = file.read(MAX_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{setting}: {path}: cannot be read ({error})") from None
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ConfigError(f"{setting}: {path}: must be readable by you only; run: chmod 600 {path}")
    return text
