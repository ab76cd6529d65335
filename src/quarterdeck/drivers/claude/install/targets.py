"""The settings files where Claude Code can be connected (the user's, or a project's), and how each is connected."""

from __future__ import annotations

import contextlib
from pathlib import Path

from msgspec import Struct

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import MARKETPLACE, PLUGIN_ID, InstalledHook, read_installed
from quarterdeck.agents.claude.settings_edit import has_quarterdeck
from quarterdeck.drivers.base import InstallScope
from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.drivers.claude.install.plugin_store import PluginStore, is_entry_for
from quarterdeck.drivers.claude.install.settings_file import ClaudeSettingsFile, read_backup
from quarterdeck.errors import QuarterdeckError, Refused


class InstallTarget(Struct, frozen=True, kw_only=True):
    """One settings file. A project's is the local one: the token and this machine's paths must not go into its
    repository."""

    project: Path | None
    file: ClaudeSettingsFile

    @property
    def scope(self) -> InstallScope:
        return InstallScope.PROJECT if self.project else InstallScope.USER

    @property
    def cli_scope(self) -> str:
        return "local" if self.project else "user"

    @property
    def name(self) -> str:
        return f"in {self.project}" if self.project else "for every project"


class InstallSite(Struct, frozen=True, kw_only=True):
    """A Quarterdeck home, and Claude Code with its configuration folder; `claude_path` is the program of the
    settings."""

    home: Path
    config_dir: Path
    claude_path: str | None = None

    @property
    def store(self) -> PluginStore:
        return PluginStore(home=self.home, config_dir=self.config_dir)

    def cli(self) -> ClaudeCli | None:
        found = find_claude(self.claude_path)
        return ClaudeCli(found, self.config_dir) if found else None

    def any_cli(self) -> ClaudeCli | None:
        """A CLI if there is one: a wrong path must not prevent an uninstall."""
        with contextlib.suppress(QuarterdeckError):
            return self.cli()
        return None

    def target(self, project: Path | None) -> InstallTarget:
        folder, name = (project / ".claude", "settings.local.json") if project else (self.config_dir, "settings.json")
        return InstallTarget(project=project, file=ClaudeSettingsFile(path=folder / name, backups=self.home / "backup"))

    def targets(self) -> list[InstallTarget]:
        """The user's target and every project's that the registry or the backups know."""
        projects = {entry.get("projectPath") for entry in self.store.registered() if entry.get("scope") == "local"}
        for folder in (self.home / "backup").glob("*"):
            backup = read_backup(folder)
            if backup and backup.path.endswith("/.claude/settings.local.json"):
                projects.add(str(Path(backup.path).parents[1]))
        return [self.target(None), *(self.target(Path(project)) for project in sorted(filter(None, projects)))]

    def transports(self, target: InstallTarget) -> set[Transport]:
        """The transports of a target: none, one, or by mistake several. The gate is none: it observes nothing."""
        settings = target.file.settings()
        listed = any(is_entry_for(entry, target.cli_scope, target.project) for entry in self.store.registered())
        hooks = [hook for hook in read_installed(settings.pop("hooks", None)) if not hook.enforced]
        found = {Transport.PLUGIN} if listed or has_quarterdeck(settings) else set()
        if hooks:
            found.add(Transport.HTTP if any(hook.token for hook in hooks) else Transport.COMMAND)
        return found

    def gates(self, target: InstallTarget) -> list[InstalledHook]:
        """The gate of a target; by mistake several."""
        return [hook for hook in read_installed(target.file.settings().get("hooks")) if hook.enforced]

    def is_connected(self, target: InstallTarget) -> bool:
        return bool(self.transports(target) or self.gates(target))

    def connected(self) -> list[InstallTarget]:
        return [target for target in self.targets() if self.is_connected(target)]

    def disconnect(self, target: InstallTarget, cli: ClaudeCli | None) -> str:
        """Remove Quarterdeck from a target, with or without the CLI; returns a message."""
        found, before = self.transports(target), target.file.text()
        others = [other for other in self.connected() if other != target]
        last = not any(Transport.PLUGIN in self.transports(other) for other in others)
        if Transport.PLUGIN in found:
            self._remove_plugin(target, cli, last=last)
        restored = target.file.restore(before)
        if last:
            self.store.delete()
        done = "is as it was before" if restored else "no longer has Quarterdeck's keys; nothing else changed"
        return f"Disconnected Claude Code {target.name}: {target.file.path} {done}."

    def _remove_plugin(self, target: InstallTarget, cli: ClaudeCli | None, *, last: bool) -> None:
        """Uninstall with the CLI, then edit everything that it left out of its files."""
        cwd = target.project or self.home
        if cli:
            with contextlib.suppress(Refused):
                cli.run(cwd, "plugin", "uninstall", "--scope", target.cli_scope, PLUGIN_ID)
            with contextlib.suppress(Refused):
                _ = last and cli.run(cwd, "plugin", "marketplace", "remove", MARKETPLACE)
        self.store.forget(target.cli_scope, target.project, last=last)
