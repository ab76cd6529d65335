"""A project's files that an agent would obey: read, never run. No link is followed."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from quarterdeck.agents.claude.project_config_parser import FILES, read_project
from quarterdeck.core.workspace.project_config import ProjectConfig, ProjectSetting
from quarterdeck.system.safe_open import NotRegular, open_below

MAX_FILE = 1024 * 1024
TOO_LARGE = f"is over {MAX_FILE // 2**20} MiB"
LINKS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)


def read_project_config(folder: str) -> ProjectConfig:
    """A project's configuration. A file that exists but was not read is among its problems."""
    files: dict[str, bytes] = {}
    problems: list[str] = []
    for name in FILES:
        found = _content(folder, name)
        if isinstance(found, bytes):
            files[name] = found
        elif found:
            problems.append(f"{name}: {found}; check the file")
    return read_project(files, problems)


def own_allow_rules(config_dir: Path, folder: str) -> tuple[ProjectSetting, ...]:
    """The allow rules in a person's settings and in those of a project. What cannot be read has none."""
    file = config_dir / "settings.json"
    content = b""
    with contextlib.suppress(OSError), file.open("rb") as opened:
        content = opened.read(MAX_FILE)
    of_person = read_project({str(file): content}, [])
    return (*of_person.allows, *(read_project_config(folder).allows if folder else ()))


def _content(folder: str, name: str) -> bytes | str:
    """The content of a file, or the reason why it was not read; empty if there is no file."""
    try:
        with open_below(folder, name.split("/")) as (descriptor, found):
            if found.st_size > MAX_FILE:
                return TOO_LARGE
            content = b""
            while len(content) <= MAX_FILE and (more := os.read(descriptor, MAX_FILE)):
                content += more
            return content if len(content) <= MAX_FILE else TOO_LARGE  # it may have grown meanwhile
    except NotRegular:
        return "is not a regular file"
    except FileNotFoundError:
        return ""
    except OSError as error:
        return "is reached through a link" if error.errno in LINKS else f"cannot be read ({error.strerror})"
