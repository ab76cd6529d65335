"""The places where Claude Code can be connected (the user's settings, or a project's), and what each holds of us."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import MARKETPLACE, PLUGIN_ID, Transport, read_installed
from quarterdeck.agents.claude.settings_edit import has_ours
from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.drivers.claude.install.plugin_store import PluginStore, is_entry
from quarterdeck.drivers.claude.install.settings_file import SettingsFile, read_backup
from quarterdeck.errors import QuarterdeckError, Refused


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"


class Place(Struct, frozen=True, kw_only=True):
    """One settings file. A project's is the local one: a token or a path of this machine is not for its repository."""

    project: Path | None
    file: SettingsFile

    @property
    def scope(self) -> Scope:
        return Scope.PROJECT if self.project else Scope.USER

    @property
    def cli_scope(self) -> str:
        return "local" if self.project else "user"

    @property
    def name(self) -> str:
        return f"in {self.project}" if self.project else "for every project"


class Site(Struct, frozen=True, kw_only=True):
    """A home of ours and a configuration folder of Claude Code."""

    home: Path
    config_dir: Path

    @property
    def store(self) -> PluginStore:
        return PluginStore(home=self.home, config_dir=self.config_dir)

    def cli(self, path: str | None) -> ClaudeCli | None:
        found = find_claude(path)
        return ClaudeCli(found, self.config_dir) if found else None

    def any_cli(self, path: str | None) -> ClaudeCli | None:
        """A CLI if there is one: a wrong path is no reason to leave ours in."""
        with contextlib.suppress(QuarterdeckError):
            return self.cli(path)
        return None

    def place(self, project: Path | None) -> Place:
        folder, name = (project / ".claude", "settings.local.json") if project else (self.config_dir, "settings.json")
        return Place(project=project, file=SettingsFile(path=folder / name, backups=self.home / "backup"))

    def places(self) -> list[Place]:
        """The user's place and every project's that the registry or our backups know."""
        projects = {entry.get("projectPath") for entry in self.store.registered() if entry.get("scope") == "local"}
        for folder in (self.home / "backup").glob("*"):
            backup = read_backup(folder)
            if backup and backup.path.endswith("/.claude/settings.local.json"):
                projects.add(str(Path(backup.path).parents[1]))
        return [self.place(None), *(self.place(Path(project)) for project in sorted(filter(None, projects)))]

    def transports(self, place: Place) -> set[Transport]:
        """How a place is connected: none, one, or by mistake several."""
        settings = place.file.settings()
        listed = any(is_entry(entry, place.cli_scope, place.project) for entry in self.store.registered())
        hooks = read_installed(settings.pop("hooks", None))
        found = {Transport.PLUGIN} if listed or has_ours(settings) else set()
        if hooks:
            found.add(Transport.HTTP if any(hook.token for hook in hooks) else Transport.COMMAND)
        return found

    def connected(self) -> list[Place]:
        return [place for place in self.places() if self.transports(place)]

    def disconnect(self, place: Place, cli: ClaudeCli | None) -> str:
        """Take everything of ours out of a place, with the CLI or without; says what was done."""
        found, before = self.transports(place), place.file.text()
        others = [other for other in self.connected() if other != place]
        last = not any(Transport.PLUGIN in self.transports(other) for other in others)
        if Transport.PLUGIN in found:
            self._remove_plugin(place, cli, last=last)
        restored = place.file.put_back(before)
        if last:
            self.store.delete()
        done = "is as it was" if restored else "has lost our keys and nothing else"
        return f"Disconnected Claude Code {place.name}: {place.file.path} {done}."

    def _remove_plugin(self, place: Place, cli: ClaudeCli | None, *, last: bool) -> None:
        """The CLI first; whatever it leaves, or cannot do, is edited out of its files."""
        cwd = place.project or self.home
        if cli:
            with contextlib.suppress(Refused):
                cli.run(cwd, "plugin", "uninstall", "--scope", place.cli_scope, PLUGIN_ID)
            with contextlib.suppress(Refused):
                _ = last and cli.run(cwd, "plugin", "marketplace", "remove", MARKETPLACE)
        self.store.forget(place.cli_scope, place.project, last=last)
