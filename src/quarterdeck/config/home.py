"""The home folder of this installation. Never the working directory, which may be a hostile repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from quarterdeck.errors import HomeError


def home_path(environ: dict[str, str] | None = None) -> Path:
    """The home folder of this installation."""
    env = os.environ if environ is None else environ
    configured = env.get("QUARTERDECK_HOME")
    if configured:
        return Path(configured).expanduser().absolute()
    import platformdirs  # slow to import, and completion has little time

    return Path(platformdirs.user_data_dir("quarterdeck", appauthor=False))


def prepare_home(home: Path) -> None:
    """Make the home and its folders, readable only by this user, or raise an error that names the problem."""
    for folder in (home, home / "run", home / "log"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HomeError(f"{folder}: cannot be made ({error.strerror}); choose another QUARTERDECK_HOME") from None
        _check_folder(folder, is_home=folder == home)


def _check_folder(folder: Path, *, is_home: bool) -> None:
    status = folder.stat() if is_home else folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise HomeError(f"{folder}: is not a folder (a symlink is refused); remove it")
    if status.st_uid != os.getuid():
        raise HomeError(f"{folder}: belongs to user {status.st_uid}; choose another QUARTERDECK_HOME")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HomeError(f"{folder}: is not writable; choose another QUARTERDECK_HOME or fix its mode")
