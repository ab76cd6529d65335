"""The Claude Code command line: where it is, which version, and running one command of it."""

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
NAMED = 3
"""How many words of a command name it; what comes after may be a secret."""

KEPT = re.compile(
    r"HOME|PATH|LANG|LC_\w+|LOGNAME|USER|SHELL|TERM|TMPDIR|XDG_\w+|APPDATA|PATHEXT|SYSTEMROOT|USERPROFILE"
)
"""What the CLI sees of our environment: no secret is among it."""

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
        raise QuarterdeckError(f"claude.path: {path} is not a program; mend it in config.yaml or leave it out")
    return Path(found).absolute() if found else _bundled()


def _bundled() -> Path | None:
    spec = importlib.util.find_spec("claude_agent_sdk")
    folders = spec.submodule_search_locations if spec else None
    binaries = (Path(folder) / "_bundled" / "claude" for folder in folders or ())
    return next((binary for binary in binaries if os.access(binary, os.X_OK)), None)


class ClaudeCli(Struct, frozen=True):
    """One CLI, working on one configuration folder."""

    path: Path
    config_dir: Path

    def version(self) -> str:
        """Such as 2.1.325; empty when it does not say."""
        found = re.match(r"\d+(\.\d+)+", self.run(Path(self.path.anchor), "--version", seconds=LIST_SECONDS))
        return found[0] if found else ""

    def run(self, cwd: Path, *args: str, seconds: float = INSTALL_SECONDS, secrets: Collection[str] = ()) -> str:
        """What one command printed; Refused with its last words when it fails or takes too long. What `secrets` names
        is not repeated."""
        said = " ".join((str(self.path), *_named(args)))
        try:
            ended = run([str(self.path), *args], cwd=str(cwd), env=self._environment(), seconds=seconds)
        except OSError as error:
            raise Refused(f"{said}: {error.strerror}; check claude.path") from None
        if ended.cut == "time":
            raise Refused(f"{said}: no end after {seconds:.0f} s; run it by hand to see why")
        if ended.cut:
            raise Refused(f"{said}: says more than is read; run it by hand to see why")
        if ended.code:
            words = _last_line(ended.err or ended.out) or f"exit {ended.code}"
            for secret in sorted((s for s in secrets if len(s) >= SHORTEST_SECRET), key=len, reverse=True):
                words = words.replace(secret, "…")
            raise Refused(f"{said}: {words}")
        return ended.out.decode(errors="replace")

    def _environment(self) -> dict[str, str]:
        """CLAUDE_CONFIG_DIR only when it must be: it also moves the CLI's own state file."""
        kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
        if self.config_dir != Path.home() / ".claude":
            kept["CLAUDE_CONFIG_DIR"] = str(self.config_dir)
        return {**kept, **QUIET}


def state_file(config_dir: Path) -> Path:
    """The CLI's own state, which lies beside its standard folder and in any other."""
    home = Path.home()
    return (home if config_dir == home / ".claude" else config_dir) / ".claude.json"


def _named(args: tuple[str, ...]) -> tuple[str, ...]:
    """The words before the first option, or that option alone."""
    words = args[:NAMED]
    return words[: next((at for at, word in enumerate(words) if at and word.startswith("-")), NAMED)]


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return "".join(c for c in lines[-1] if c.isprintable()).strip(" ✘") if lines else ""
