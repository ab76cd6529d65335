"""The one folder of this installation, and the folder of Claude Code: ours alone, and never the working directory."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from quarterdeck.errors import HomeError

if TYPE_CHECKING:
    from quarterdeck.config.schema import Config


def home_path(environ: dict[str, str] | None = None) -> Path:
    """The one folder of this installation; never the working directory."""
    env = os.environ if environ is None else environ
    given = env.get("QUARTERDECK_HOME")
    if given:
        return Path(given).expanduser().absolute()
    return Path(platformdirs.user_data_dir("quarterdeck", appauthor=False))


def claude_config_dir(config: Config) -> Path:
    """Where Claude Code keeps its settings and sessions."""
    given = config.claude.config_dir or os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given).expanduser() if given else Path.home() / ".claude"


def prepare_home(home: Path) -> None:
    """Make the home and its folders ours alone, or say what is wrong with them."""
    for folder in (home, home / "run", home / "log"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HomeError(f"{folder}: cannot be made ({error.strerror}); choose another QUARTERDECK_HOME") from None
        _check_folder(folder, is_home=folder == home)


def _check_folder(folder: Path, *, is_home: bool) -> None:
    found = folder.stat() if is_home else folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise HomeError(f"{folder}: is not a folder (a symlink is refused); remove it")
    if found.st_uid != os.getuid():
        raise HomeError(f"{folder}: belongs to user {found.st_uid}; choose another QUARTERDECK_HOME")
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HomeError(f"{folder}: is not writable; choose another QUARTERDECK_HOME or mend its mode")
