"""A scratch home of Quarterdeck beside one of Claude Code, and installs between them."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck import hook as forwarder
from quarterdeck.agents.base import Endpoint
from quarterdeck.agents.claude.hook_setup import PLUGIN_ID
from quarterdeck.config.settings import Config
from quarterdeck.drivers.base import InstallOptions, InstallReport, InstallStatus, UninstallOptions, UninstallReport
from quarterdeck.drivers.claude.driver import ClaudeDriver
from tests.support.claude import ClaudeHome

TOKEN = "hook-token-of-the-test-0123456789"
ORIGINAL = b'{"model": "opus",   "permissions": {"allow": ["Bash(ls:*)"]}}'
FOREIGN: dict[str, Any] = {
    "cleanupPeriodDays": 20,
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http", "url": "http://127.0.0.1:9/mine"}]}],
    },
    "env": {"MY_API_KEY": "sk-mine"},
}


class Bench:
    """A scratch home of Quarterdeck beside one of Claude Code."""

    def __init__(self, claude: ClaudeHome) -> None:
        self.claude = claude
        self.home = claude.path / "quarterdeck"
        self.home.mkdir(mode=0o700)
        (self.home / "hook-token").write_text(TOKEN)
        self.file = claude.settings_file
        self.cache = claude.config / "plugins" / "cache" / "quarterdeck"

    def endpoint(self, token: str = TOKEN, url: str = "http://127.0.0.1:4180", wait: float = 86400) -> Endpoint:
        return Endpoint(
            url=url,
            hook_token=token,
            wait_seconds=wait,
            socket=str(self.home / "run" / "hook.sock"),
            python=sys.executable,
            hook_file=str(forwarder.__file__),
        )

    def driver(self, **settings: Any) -> ClaudeDriver:
        """A driver of this Claude Code; `claude_path` names another program."""
        path = settings.get("claude_path", str(self.claude.cli))
        return ClaudeDriver(Config.model_validate({"claude": {"config_dir": str(self.claude.config), "path": path}}))

    def install(self, home: Path | None = None, **changed: Any) -> InstallReport:
        driver = self.driver(**changed)
        changed.pop("claude_path", None)
        options = msgspec.structs.replace(InstallOptions(endpoint=self.endpoint()), **changed)
        return driver.install(home or self.home, options)

    def uninstall(self, **changed: Any) -> UninstallReport:
        driver = self.driver(**changed)
        changed.pop("claude_path", None)
        return driver.uninstall(self.home, msgspec.structs.replace(UninstallOptions(), **changed))

    def state(self, **changed: Any) -> InstallStatus:
        return self.driver().install_status(self.home, self.endpoint(**changed))

    def run(self, *args: str) -> str:
        """What the CLI says in the project's folder."""
        argv = [str(self.claude.cli), *args]
        env, cwd = self.claude.env, self.claude.project
        return subprocess.run(argv, env=env, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True, timeout=30).stdout

    def plugins(self) -> list[dict[str, Any]]:
        return [entry for entry in json.loads(self.run("plugin", "list", "--json")) if entry["id"] == PLUGIN_ID]

    def secrets(self) -> list[Path]:
        """Every file that holds the token, but for the token file itself."""
        files = (path for path in self.claude.path.rglob("*") if path.is_file() and path.name != "hook-token")
        return [path for path in files if TOKEN.encode() in path.read_bytes()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
