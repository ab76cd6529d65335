"""Our plugin on disk: its folder in the home, Claude Code's registry of it, and the copy Claude Code keeps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import FOLDER, MARKETPLACE, PLUGIN_ID, marketplace_folder
from quarterdeck.drivers.claude.cli import ClaudeCli
from quarterdeck.drivers.claude.install.settings_file import write_file
from quarterdeck.errors import QuarterdeckError, Refused


class PluginStore(Struct, frozen=True, kw_only=True):
    """What a home and a configuration folder of Claude Code hold of our plugin."""

    home: Path
    config_dir: Path

    @property
    def folder(self) -> Path:
        return self.home / FOLDER

    @property
    def _plugins(self) -> Path:
        return self.config_dir / "plugins"

    @property
    def _copies(self) -> tuple[Path, ...]:
        return self._plugins / "cache" / MARKETPLACE, self._plugins / "data" / PLUGIN_ID.replace("@", "-")

    def files(self) -> dict[str, str]:
        """Our plugin's files as they are, by their path in the folder."""
        found = sorted(path for path in self.folder.rglob("*.json") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_text(errors="replace") for path in found}

    def write(self, files: Mapping[str, str]) -> None:
        """Make the folder hold these files and no other; readable by their owner alone."""
        _write_tree(self.folder, files)
        for stale in self.files().keys() - files.keys():
            (self.folder / stale).unlink()

    def refresh_copy(self, files: Mapping[str, str]) -> None:
        """Bring Claude Code's copy up to date, token and modes included; it reads ours, but keeps that."""
        inner = {path.partition("/")[2]: text for path, text in files.items() if path.startswith("quarterdeck/")}
        for manifest in self._copies[0].glob("*/*/.claude-plugin/plugin.json"):
            _write_tree(manifest.parent.parent, inner)
        for path in (self._copies[0], *self._copies[0].rglob("*")):
            if path.exists() and not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)

    def registered(self) -> list[dict[str, Any]]:
        """Claude Code's entries for our plugin: one per scope, and per project in the local scope."""
        entries = self._read("installed_plugins.json").get("plugins", {}).get(PLUGIN_ID, [])
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    def is_foreign(self) -> bool:
        """Whether Claude Code knows another marketplace by our name."""
        entry = self._read("known_marketplaces.json").get(MARKETPLACE)
        return entry is not None and not marketplace_folder(entry)

    def is_known(self) -> bool:
        """Whether Claude Code reads our marketplace from our folder."""
        entry = self._read("known_marketplaces.json").get(MARKETPLACE)
        return marketplace_folder(entry) == str(self.folder)

    def forget(self, scope: str, project: Path | None, *, last: bool) -> None:
        """Take our entries out of the registry, where the CLI has not done so."""
        entries = self.registered()
        kept = [entry for entry in entries if not is_entry(entry, scope, project)]
        if kept != entries:
            installed = self._read("installed_plugins.json")
            plugins = {key: value for key, value in installed["plugins"].items() if key != PLUGIN_ID}
            self._write(
                "installed_plugins.json", {**installed, "plugins": plugins | ({PLUGIN_ID: kept} if kept else {})}
            )
        known = self._read("known_marketplaces.json")
        if last and marketplace_folder(known.pop(MARKETPLACE, None)):
            self._write("known_marketplaces.json", known)

    def remains(self) -> list[Path]:
        """What is left of our plugin on disk, the token in it."""
        return [path for path in (self.folder, *(() if self.is_foreign() else self._copies)) if path.exists()]

    def delete(self) -> None:
        for path in self.remains():
            shutil.rmtree(path)

    def _read(self, name: str) -> dict[str, Any]:
        path = self._plugins / name
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise QuarterdeckError(f"{path}: cannot be read ({error}); mend it or move it away") from None
        return value if isinstance(value, dict) else {}

    def _write(self, name: str, value: object) -> None:
        path = self._plugins / name
        write_file(path.resolve(), json.dumps(value, indent=2).encode(), path.stat().st_mode & 0o777)


def _write_tree(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name, text in files.items():
        path = folder / name
        for parent in reversed(path.relative_to(folder).parents):
            (folder / parent).mkdir(mode=0o700, exist_ok=True)
        write_file(path, text.encode())


def is_entry(entry: Mapping[str, Any], scope: str, project: Path | None) -> bool:
    return entry.get("scope") == scope and entry.get("projectPath") == (str(project) if project else None)


def add_by_cli(cli: ClaudeCli, store: PluginStore, scope: str, cwd: Path) -> None:
    """Have Claude Code itself install our plugin; each step is also right when it is already done."""
    cli.run(cwd, "plugin", "marketplace", "add", "--scope", scope, str(store.folder))
    cli.run(cwd, "plugin", "install", "--scope", scope, PLUGIN_ID)


def problems(cli: ClaudeCli, scope: str, cwd: Path) -> list[str]:
    """What Claude Code itself says is wrong with our plugin."""
    try:
        listed = json.loads(cli.run(cwd, "plugin", "list", "--json"))
    except (ValueError, Refused) as error:
        return [f"Claude Code does not list its plugins ({error}); run: claude plugin list"]
    ours = [entry for entry in listed if entry.get("id") == PLUGIN_ID and entry.get("scope") == scope]
    if not ours:
        return ["Claude Code does not list the plugin; run: claude plugin list"]
    said = [str(error).partition("\n")[0] for entry in ours for error in entry.get("errors", ())]
    return [f"Claude Code says of the plugin: {words}" for words in said]
