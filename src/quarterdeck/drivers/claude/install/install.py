"""`qd install` and `qd uninstall`: connects Claude Code to this home, and disconnects it."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import (
    MAX_WAIT_SECONDS,
    PLUGIN_ID,
    events,
    gate_groups,
    hook_groups,
    is_newer,
    marketplace_entry,
    plugin_files,
    version_of,
)
from quarterdeck.agents.claude.hooks import HOOKS, SUPPORTED
from quarterdeck.agents.claude.settings_edit import (
    add_hooks,
    enable_plugin,
    obstacles,
    read_settings,
    remove_quarterdeck,
)
from quarterdeck.drivers.base import (
    InstallOptions,
    InstallReport,
    InstallScope,
    UninstallOptions,
    UninstallReport,
)
from quarterdeck.drivers.claude.cli import ClaudeCli
from quarterdeck.drivers.claude.install.json_diff import JsonChange, diff_of
from quarterdeck.drivers.claude.install.plugin_store import install_with_cli, is_entry_for, plugin_problems
from quarterdeck.drivers.claude.install.settings_file import named_errors
from quarterdeck.drivers.claude.install.targets import InstallSite, InstallTarget
from quarterdeck.drivers.removed_hooks import keep_removed, mark_connected, mark_disconnected
from quarterdeck.errors import BadInput, ConfigError, QuarterdeckError, Refused
from quarterdeck.system.private_files import write_private

REMOVED = (
    "The hook token was replaced: hooks that running sessions still have do nothing; /reload-plugins in a session "
    "removes them."
)
ENFORCED = "No tool runs while Quarterdeck cannot be reached: the gate is in {file}; qd install removes it."


class InstallPlan(Struct, frozen=True, kw_only=True):
    """The steps of an install: the plugin's files, the settings, and the `stale` targets to disconnect first."""

    target: InstallTarget
    version: str
    files: dict[str, str]
    settings: str
    stale: list[InstallTarget]
    settings_changes: list[JsonChange]
    plugin_changes: list[JsonChange]
    by_cli: bool


def install(site: InstallSite, options: InstallOptions) -> InstallReport:
    """Connect Claude Code or update the connection. Changes nothing if it is up to date."""
    target = site.target(_project(options.scope, options.project))
    cli = site.cli()
    _check_options(options, site, target, cli)
    plan = _plan(options, site, target, _version(options, cli))
    warnings = _warnings(options, plan)
    if not plan.settings_changes and not plan.plugin_changes and not plan.by_cli:
        line = f"Claude Code is already connected {target.name} ({options.transport}); nothing was changed."
        return InstallReport(changed=False, lines=(line,), warnings=warnings)
    if options.dry_run:
        runs = ("The claude program would be run to install the plugin.",) if plan.by_cli else ()
        diff = _diff_fields(plan.settings_changes, plan.plugin_changes)
        return InstallReport(changed=True, lines=runs, warnings=warnings, **diff)
    for touched in (target, *plan.stale):
        touched.file.check_writable()
    with named_errors():
        site.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        gone = [site.disconnect(other, cli) for other in plan.stale]
        mark_connected(site.home)
        if options.transport is Transport.PLUGIN and cli:
            warnings += _connect_plugin(options, site, cli, plan)
        else:
            _connect_settings(options, site, plan)
    return InstallReport(changed=True, lines=(*gone, *_report_lines(options, plan)), warnings=warnings)


def _project(scope: InstallScope | None, project: Path | None) -> Path | None:
    if scope is not InstallScope.PROJECT:
        return None
    if project is None or not project.is_dir():
        raise QuarterdeckError(f"--project: {project or 'nothing'} is not a folder; name the project's folder")
    return project.resolve()


def _version(options: InstallOptions, cli: ClaudeCli | None) -> str:
    """The version of Claude Code. A broken program only prevents an install as a plugin."""
    try:
        return cli.version() if cli else ""
    except Refused:
        if options.transport is Transport.PLUGIN:
            raise
        return ""


def _check_options(options: InstallOptions, site: InstallSite, target: InstallTarget, cli: ClaudeCli | None) -> None:
    """Refuse everything that is known to fail before anything is changed."""
    if not 0 < options.endpoint.wait_seconds <= MAX_WAIT_SECONDS:
        raise ConfigError(
            f"decide.wait_seconds must be above 0 and at most {MAX_WAIT_SECONDS} (with a longer hook "
            f"time-out Claude Code runs the tool without waiting), is {options.endpoint.wait_seconds:g}"
        )
    if target.project and site.is_connected(site.target(None)):
        raise QuarterdeckError("Claude Code is connected for every project already; run qd uninstall first")
    if options.transport is not Transport.PLUGIN:
        return
    if cli is None:
        raise QuarterdeckError("no claude program was found; set claude.path, or use --transport http")
    if site.store.is_foreign():
        raise QuarterdeckError("Claude Code has another marketplace named quarterdeck; use --transport http")


def _plan(options: InstallOptions, site: InstallSite, target: InstallTarget, version: str) -> InstallPlan:
    by_plugin = options.transport is Transport.PLUGIN
    files = plugin_files(options.endpoint, version) if by_plugin else {}
    stale = [other for other in site.connected() if _is_stale(site, other, target, options.transport)]
    settings = _settings(options, site, target, version)
    edit = JsonChange(path=target.file.path, before=target.file.text(), after=settings)
    settings_changes = [*(_removal(other) for other in stale if other != target), edit]
    return InstallPlan(
        target=target,
        version=version,
        files=files,
        settings=settings,
        stale=stale,
        settings_changes=[change for change in settings_changes if change.differs],
        plugin_changes=_folder_changes(site, files),
        by_cli=by_plugin and not _has_plugin(site, target),
    )


def _has_plugin(site: InstallSite, target: InstallTarget) -> bool:
    """True if Claude Code needs nothing more to load the plugin."""
    entries = site.store.registered()
    listed = any(is_entry_for(entry, target.cli_scope, target.project) for entry in entries)
    text = target.file.text()
    is_enabled = read_settings(_with_plugin(site, text)) == read_settings(text)
    return site.store.is_known() and listed and is_enabled


def _is_stale(site: InstallSite, other: InstallTarget, target: InstallTarget, transport: Transport) -> bool:
    """True if a target must be disconnected first. Each has one transport, and the user's settings cover every project:
    no request must come twice."""
    if other == target:
        return site.transports(other) != {transport}
    return target.project is None


def _settings(options: InstallOptions, site: InstallSite, target: InstallTarget, version: str) -> str:
    """The settings after the install; the CLI writes the plugin's part of them. The gate is there with every
    transport."""
    text = remove_quarterdeck(target.file.text())
    try:
        if options.transport is Transport.PLUGIN:
            text = _with_plugin(site, text)
        else:
            text = add_hooks(text, hook_groups(options.endpoint, options.transport, version))
        return add_hooks(text, gate_groups(options.endpoint, version)) if options.enforce else text
    except BadInput as error:
        raise QuarterdeckError(f"{target.file.path}: {error}; fix the file, then run this again") from None


def _with_plugin(site: InstallSite, text: str) -> str:
    return enable_plugin(text, marketplace_entry(str(site.store.folder)))


def _removal(target: InstallTarget) -> JsonChange:
    file = target.file
    return JsonChange(path=file.path, before=file.text(), after=file.text_after_removal())


def _folder_changes(site: InstallSite, files: dict[str, str]) -> list[JsonChange]:
    before = site.store.files()
    names = sorted({*before, *files})
    changes = (
        JsonChange(path=site.store.folder / name, before=before.get(name, ""), after=files.get(name, ""))
        for name in names
    )
    return [change for change in changes if change.differs]


def _diff_fields(settings: list[JsonChange], plugin: list[JsonChange]) -> dict[str, Any]:
    """The fields of a dry run's report about the changes."""
    return {
        "diff": diff_of([*plugin, *settings]),
        "settings_diff": diff_of(settings),
        "plugin_file_count": len(plugin),
    }


def _connect_plugin(options: InstallOptions, site: InstallSite, cli: ClaudeCli, plan: InstallPlan) -> tuple[str, ...]:
    """Write the folder, let the CLI install it and make its copy private, then write the gate into the settings;
    returns the problems that the CLI reports."""
    target, cwd = plan.target, plan.target.project or site.home
    site.store.write(plan.files)
    if plan.by_cli:
        target.file.back_up()
        try:
            install_with_cli(cli, site.store, target.cli_scope, cwd)
        except Refused:
            site.disconnect(target, cli)
            raise
        target.file.remember_others()
    site.store.refresh_copy(plan.files)
    _write_settings(options, site, plan, target.file.mode())
    return tuple(plugin_problems(cli, target.cli_scope, cwd))


def _connect_settings(options: InstallOptions, site: InstallSite, plan: InstallPlan) -> None:
    """Edit the settings; a file that holds the token becomes readable by its owner only."""
    file = plan.target.file
    file.back_up()
    _write_settings(options, site, plan, file.mode() & 0o700 if options.transport is Transport.HTTP else file.mode())
    file.remember_others()


def _write_settings(options: InstallOptions, site: InstallSite, plan: InstallPlan, mode: int) -> None:
    file = plan.target.file
    text = _settings(options, site, plan.target, plan.version)
    if read_settings(text) != file.settings():
        file.write(text, mode)


def _warnings(options: InstallOptions, plan: InstallPlan) -> tuple[str, ...]:
    file = plan.target.file.path
    found = [
        f"{file}: {obstacle}" for obstacle in obstacles(read_settings(plan.settings), f"{options.endpoint.url}/hook")
    ]
    if () < version_of(plan.version) < version_of(SUPPORTED[0]):
        found.append(f"Claude Code {plan.version} is older than {SUPPORTED[0]}, the oldest one tested; update it.")
    if plan.target.project and options.transport is Transport.HTTP:
        found.append(f"{file} holds the hook token: keep it out of version control.")
    return tuple(found)


def _report_lines(options: InstallOptions, plan: InstallPlan) -> tuple[str, ...]:
    claude = f"Claude Code {plan.version}".strip()
    left_out = [name for name, hook in HOOKS.items() if is_newer(hook) and name not in events(plan.version)]
    if options.transport is Transport.PLUGIN:
        how = f"through its plugin {PLUGIN_ID}"
        reach = "New sessions report; a running one does after /reload-plugins."
    else:
        how = f"by {options.transport} hooks in {plan.target.file.path}"
        reach = "Running sessions report within seconds, new ones at once."
    lines = [f"Connected {claude} {plan.target.name} {how}.", reach]
    if options.enforce:
        lines.append(ENFORCED.format(file=plan.target.file.path))
    if left_out:
        names = ", ".join(left_out)
        lines.append(f"Left out because they are too new for it: {names}; run qd install again when it is updated.")
    if options.transport is Transport.HTTP:
        lines.append(f"{plan.target.file.path} holds the hook token, so only you can read it.")
    return tuple(lines)


def uninstall(site: InstallSite, options: UninstallOptions) -> UninstallReport:
    """Remove Quarterdeck from Claude Code. With the last target gone, the hook token is replaced."""
    connected = site.connected()
    chosen = _chosen(options, site, connected)
    is_last = all(target in chosen for target in connected)
    if not chosen and not (is_last and site.store.leftovers()):
        return UninstallReport(changed=False, lines=("Claude Code is not connected; nothing was changed.",))
    if options.dry_run:
        plugin = _folder_changes(site, {}) if is_last else []
        return UninstallReport(changed=True, **_diff_fields([_removal(target) for target in chosen], plugin))
    for target in chosen:
        target.file.check_writable()
    cli = site.any_cli()
    with named_errors():
        lines = [site.disconnect(target, cli) for target in chosen]
        if not is_last:
            return UninstallReport(changed=True, lines=(*lines, "The hook token stays: other projects use it."))
        site.store.delete()
        _rotate(site.home)
    lines.append(REMOVED)
    return UninstallReport(changed=True, lines=tuple(lines), token_rotated=True)


def _chosen(options: UninstallOptions, site: InstallSite, connected: list[InstallTarget]) -> list[InstallTarget]:
    if options.scope is None:
        return connected
    target = site.target(
        options.project.resolve() if options.project and options.scope is InstallScope.PROJECT else None
    )
    return [target] if site.is_connected(target) else []


def _rotate(home: Path) -> None:
    """Replace the hook token, keep the digest of the old one, and turn hooks without a token away: running sessions may
    still call."""
    if home.is_dir():
        file = home / "hook-token"
        if file.is_file():
            keep_removed(home, file.read_text(encoding="utf-8").strip(), time.time())
        write_private(file, secrets.token_urlsafe(32), durable=True)
        mark_disconnected(home)
