"""Quarterdeck's plugin on disk: its folder in the home, Claude Code's registry of it, and the copy it keeps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import FOLDER, MARKETPLACE, PLUGIN, PLUGIN_ID, marketplace_folder
from quarterdeck.drivers.claude.cli import ClaudeCli
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.system.private_files import replace_file, write_private


class PluginStore(Struct, frozen=True, kw_only=True):
    """The plugin's files in Quarterdeck's home and in a configuration folder of Claude Code."""

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
        """The plugin's current files, by their path in the folder."""
        found = sorted(path for path in self.folder.rglob("*.json") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_text(errors="replace") for path in found}

    def write(self, files: Mapping[str, str]) -> None:
        """Make the folder hold these files and no other; readable by their owner alone."""
        _write_tree(self.folder, files)
        for stale in self.files().keys() - files.keys():
            (self.folder / stale).unlink()

    def refresh_copy(self, files: Mapping[str, str]) -> None:
        """Update Claude Code's copy, with its token and its modes: it reads the folder, but keeps the copy."""
        inner = {path.partition("/")[2]: text for path, text in files.items() if path.startswith(f"{PLUGIN}/")}
        for manifest in self._copies[0].glob("*/*/.claude-plugin/plugin.json"):
            _write_tree(manifest.parent.parent, inner)
        for path in (self._copies[0], *self._copies[0].rglob("*")):
            if path.exists() and not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)

    def registered(self) -> list[dict[str, Any]]:
        """Claude Code's entries for the plugin: one per scope, and one per project in the local scope."""
        entries = self._read("installed_plugins.json").get("plugins", {}).get(PLUGIN_ID, [])
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    def is_foreign(self) -> bool:
        """True if Claude Code knows another marketplace named quarterdeck."""
        entry = self._read("known_marketplaces.json").get(MARKETPLACE)
        return entry is not None and not marketplace_folder(entry)

    def is_known(self) -> bool:
        """True if Claude Code reads the marketplace from this folder."""
        entry = self._read("known_marketplaces.json").get(MARKETPLACE)
        return marketplace_folder(entry) == str(self.folder)

    def forget(self, scope: str, project: Path | None, *, last: bool) -> None:
        """Remove the plugin's entries from the registry, if the CLI has not done so."""
        entries = self.registered()
        kept = [entry for entry in entries if not is_entry_for(entry, scope, project)]
        if kept != entries:
            installed = self._read("installed_plugins.json")
            plugins = {key: value for key, value in installed["plugins"].items() if key != PLUGIN_ID}
            self._write(
                "installed_plugins.json", {**installed, "plugins": plugins | ({PLUGIN_ID: kept} if kept else {})}
            )
        known = self._read("known_marketplaces.json")
        if last and marketplace_folder(known.pop(MARKETPLACE, None)):
            self._write("known_marketplaces.json", known)

    def leftovers(self) -> list[Path]:
        """The plugin's files that are left on disk; they hold the token."""
        paths = self.folder, *(() if self.is_foreign() else self._copies)
        return [path for path in paths if path.is_file() or any(one.is_file() for one in path.rglob("*"))]

    def delete(self) -> None:
        """Delete the files. The plugin's own folder stays, empty: a session that still runs with the plugin prints an
        error at each of its hooks when that is gone."""
        for path in self.leftovers():
            shutil.rmtree(path)
            if path == self.folder:
                (path / PLUGIN).mkdir(mode=0o700, parents=True)

    def _read(self, name: str) -> dict[str, Any]:
        path = self._plugins / name
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise QuarterdeckError(f"{path}: cannot be read ({error}); fix it or move it away") from None
        return value if isinstance(value, dict) else {}

    def _write(self, name: str, value: object) -> None:
        path = self._plugins / name
        mode = path.stat().st_mode & 0o777
        replace_file(path.resolve(), json.dumps(value, indent=2), mode=mode, durable=True)


def _write_tree(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name, text in files.items():
        path = folder / name
        for parent in reversed(path.relative_to(folder).parents):
            (folder / parent).mkdir(mode=0o700, exist_ok=True)
        write_private(path, text, durable=True)


def is_entry_for(entry: Mapping[str, Any], scope: str, project: Path | None) -> bool:
    return entry.get("scope") == scope and entry.get("projectPath") == (str(project) if project else None)


def install_with_cli(cli: ClaudeCli, store: PluginStore, scope: str, cwd: Path) -> None:
    """Let Claude Code itself install the plugin; each step may be repeated."""
    cli.run(cwd, "plugin", "marketplace", "add", "--scope", scope, str(store.folder))
    cli.run(cwd, "plugin", "install", "--scope", scope, PLUGIN_ID)


def plugin_problems(cli: ClaudeCli, scope: str, cwd: Path) -> list[str]:
    """The plugin's problems as Claude Code reports them."""
    try:
        listed = json.loads(cli.run(cwd, "plugin", "list", "--json"))
    except (ValueError, Refused) as error:
        return [f"Claude Code does not list its plugins ({error}); run: claude plugin list"]
    entries = [entry for entry in listed if entry.get("id") == PLUGIN_ID and entry.get("scope") == scope]
    if not entries:
        return ["Claude Code does not list the plugin; run: claude plugin list"]
    errors = [str(error).partition("\n")[0] for entry in entries for error in entry.get("errors", ())]
    return [f"Claude Code reports about the plugin: {error}" for error in errors]
