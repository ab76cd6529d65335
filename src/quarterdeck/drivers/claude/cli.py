"""The Claude Code command line: finding it, its version, and running one of its commands."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.system.run_program import run

LIST_SECONDS = 10.0
ADD_SECONDS = 15.0
INSTALL_SECONDS = 60.0
SHORTEST_SECRET = 4
COMMAND_WORDS = 3
"""How many words of a command an error message shows; the words after them may be secret."""

KEPT_VARIABLES = re.compile(
    r"HOME|PATH|LANG|LC_\w+|LOGNAME|USER|SHELL|TERM|TMPDIR|XDG_\w+|APPDATA|PATHEXT|SYSTEMROOT|USERPROFILE"
)
"""The environment variables that the CLI gets: none holds a secret."""

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "NO_COLOR": "1",
}


def find_claude(path: str | None) -> Path | None:
    """The CLI of the settings, else `claude` on PATH, else the one bundled with claude-agent-sdk."""
    found = shutil.which(Path(path).expanduser() if path else "claude")
    if path and not found:
        raise QuarterdeckError(f"claude.path: {path} is not a program; fix it in config.yaml or remove it")
    return Path(found).absolute() if found else bundled_claude()


def bundled_claude() -> Path | None:
    """The CLI that comes with claude-agent-sdk; None if that is not installed."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    folders = spec.submodule_search_locations if spec else None
    binaries = (Path(folder) / "_bundled" / "claude" for folder in folders or ())
    return next((binary for binary in binaries if os.access(binary, os.X_OK)), None)


class ClaudeCli(Struct, frozen=True):
    """One CLI, working on one configuration folder."""

    path: Path
    config_dir: Path

    def version(self) -> str:
        """The version, such as 2.1.325; empty if it prints none."""
        found = re.match(r"\d+(\.\d+)+", self.run(Path(self.path.anchor), "--version", seconds=LIST_SECONDS))
        return found[0] if found else ""

    def run(self, cwd: Path, *args: str, seconds: float = INSTALL_SECONDS, secrets: Collection[str] = ()) -> str:
        """Run one command and return its output; Refused with its last line if it fails or takes too long. The error
        does not repeat the `secrets`."""
        command = " ".join((str(self.path), *_command_words(args)))
        try:
            ended = run([str(self.path), *args], cwd=str(cwd), env=self._environment(), seconds=seconds)
        except OSError as error:
            raise Refused(f"{command}: {error.strerror}; check claude.path") from None
        if ended.cut == "time":
            raise Refused(f"{command}: did not end within {seconds:.0f} s; run it by hand to see why")
        if ended.cut:
            raise Refused(f"{command}: printed more than Quarterdeck reads; run it by hand to see it")
        if ended.code:
            words = _last_line(ended.err or ended.out) or f"exit {ended.code}"
            for secret in sorted((s for s in secrets if len(s) >= SHORTEST_SECRET), key=len, reverse=True):
                words = words.replace(secret, "…")
            raise Refused(f"{command}: {words}")
        return ended.out.decode(errors="replace")

    def _environment(self) -> dict[str, str]:
        """The CLI's environment. CLAUDE_CONFIG_DIR is set only if needed: it also moves the CLI's state file."""
        kept = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.fullmatch(name)}
        if self.config_dir != Path.home() / ".claude":
            kept["CLAUDE_CONFIG_DIR"] = str(self.config_dir)
        return {**kept, **QUIET}


def state_file(config_dir: Path) -> Path:
    """The CLI's state file: beside the standard configuration folder, but inside any other."""
    home = Path.home()
    return (home if config_dir == home / ".claude" else config_dir) / ".claude.json"


def _command_words(args: tuple[str, ...]) -> tuple[str, ...]:
    """The words before the first option, or that option alone."""
    words = args[:COMMAND_WORDS]
    return words[: next((at for at, word in enumerate(words) if at and word.startswith("-")), COMMAND_WORDS)]


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return "".join(c for c in lines[-1] if c.isprintable()).strip(" ✘") if lines else ""
