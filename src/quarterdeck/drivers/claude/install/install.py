"""Connects Claude Code to this home, and disconnects it: what `qd install` and `qd uninstall` do."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.agents.claude.hook_setup import (
    MAX_WAIT_SECONDS,
    PLUGIN_ID,
    Endpoint,
    Transport,
    events,
    hook_groups,
    is_newer,
    marketplace_entry,
    plugin_files,
    version_of,
)
from quarterdeck.agents.claude.hooks import HOOKS, SUPPORTED
from quarterdeck.agents.claude.settings_edit import add_hooks, enable_plugin, obstacles, read_settings, remove_ours
from quarterdeck.drivers.claude.cli import ClaudeCli
from quarterdeck.drivers.claude.install.json_diff import Change, diff_of
from quarterdeck.drivers.claude.install.plugin_store import add_by_cli, is_entry, problems
from quarterdeck.drivers.claude.install.settings_file import named_errors, write_file
from quarterdeck.drivers.claude.install.status import Connection, ConnectState, state
from quarterdeck.drivers.claude.install.targets import Place, Scope, Site
from quarterdeck.errors import BadInput, ConfigError, QuarterdeckError, Refused

__all__ = [
    "ConnectState",
    "Connection",
    "Endpoint",
    "InstallOptions",
    "InstallReport",
    "Scope",
    "Transport",
    "UninstallOptions",
    "UninstallReport",
    "install",
    "state",
    "uninstall",
]


ENFORCED = "Rules are enforced: no tool runs while Quarterdeck cannot be asked; qd install without --enforce ends that."


class InstallOptions(Struct, frozen=True, kw_only=True):
    home: Path
    config_dir: Path
    endpoint: Endpoint
    transport: Transport = Transport.PLUGIN
    scope: Scope = Scope.USER
    project: Path | None = None
    claude_path: str | None = None
    enforce: bool = False
    dry_run: bool = False


class InstallReport(Struct, frozen=True, kw_only=True):
    """`changed` is also true of a dry run that would change something; only a dry run has a `diff`: of all files, those
    that are the person's own last. `theirs` is the part about these, `ours` how many others there are."""

    changed: bool
    diff: str = ""
    theirs: str = ""
    ours: int = 0
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class UninstallOptions(Struct, frozen=True, kw_only=True):
    """Without a scope everything that is connected goes."""

    home: Path
    config_dir: Path
    scope: Scope | None = None
    project: Path | None = None
    claude_path: str | None = None
    dry_run: bool = False


class UninstallReport(InstallReport, frozen=True, kw_only=True):
    token_rotated: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """What an install comes to: the plugin's files, the settings, and the places to disconnect first."""

    place: Place
    version: str
    files: dict[str, str]
    settings: str
    stale: list[Place]
    theirs: list[Change]
    ours: list[Change]
    by_cli: bool


def install(options: InstallOptions) -> InstallReport:
    """Connect Claude Code, or bring the connection up to date; when it is, nothing is touched."""
    site = Site(home=options.home.absolute(), config_dir=options.config_dir.absolute())
    place = site.place(_project(options.scope, options.project))
    cli = site.cli(options.claude_path)
    _refuse(options, site, place, cli)
    plan = _plan(options, site, place, _version(options, cli))
    warnings = _warnings(options, plan)
    if not plan.theirs and not plan.ours and not plan.by_cli:
        said = f"Claude Code is already connected {place.name} ({options.transport}); nothing was changed."
        return InstallReport(changed=False, lines=(said,), warnings=warnings)
    if options.dry_run:
        runs = ("The claude program would be run to install the plugin.",) if plan.by_cli else ()
        return InstallReport(changed=True, lines=runs, warnings=warnings, **_shown(plan.theirs, plan.ours))
    for touched in (place, *plan.stale):
        touched.file.check_writable()
    with named_errors():
        site.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        gone = [site.disconnect(other, cli) for other in plan.stale]
        if options.transport is Transport.PLUGIN and cli:
            warnings += _connect_plugin(site, cli, plan)
        else:
            _connect_settings(options, site, plan)
    return InstallReport(changed=True, lines=(*gone, *_said(options, plan)), warnings=warnings)


def _project(scope: Scope | None, project: Path | None) -> Path | None:
    if scope is not Scope.PROJECT:
        return None
    if project is None or not project.is_dir():
        raise QuarterdeckError(f"--project: {project or 'nothing'} is not a folder; name the project's folder")
    return project.resolve()


def _version(options: InstallOptions, cli: ClaudeCli | None) -> str:
    """Which Claude Code it is; a broken one is in the way of the plugin only."""
    try:
        return cli.version() if cli else ""
    except Refused:
        if options.transport is Transport.PLUGIN:
            raise
        return ""


def _refuse(options: InstallOptions, site: Site, place: Place, cli: ClaudeCli | None) -> None:
    """Everything that can be known to be wrong before anything is changed."""
    if not 0 < options.endpoint.wait_seconds <= MAX_WAIT_SECONDS:
        raise ConfigError(
            f"decide.wait_seconds must be above 0 and at most {MAX_WAIT_SECONDS} (Claude Code lets a tool run "
            f"when a hook's time-out is longer), is {options.endpoint.wait_seconds:g}"
        )
    if place.project and site.transports(site.place(None)):
        raise QuarterdeckError("Claude Code is connected for every project already; run qd uninstall first")
    if options.transport is not Transport.PLUGIN:
        return
    if cli is None:
        raise QuarterdeckError("no claude program was found; set claude.path, or use --transport http")
    if site.store.is_foreign():
        raise QuarterdeckError("Claude Code has another marketplace named quarterdeck; use --transport http")


def _plan(options: InstallOptions, site: Site, place: Place, version: str) -> Plan:
    by_plugin = options.transport is Transport.PLUGIN
    files = plugin_files(options.endpoint, version, enforce=options.enforce) if by_plugin else {}
    stale = [other for other in site.connected() if _is_stale(site, other, place, options.transport)]
    settings = _settings(options, site, place, version)
    edit = Change(path=place.file.path, before=place.file.text(), after=settings)
    theirs = [*(_without_ours(other) for other in stale if other != place), edit]
    return Plan(
        place=place,
        version=version,
        files=files,
        settings=settings,
        stale=stale,
        theirs=[change for change in theirs if change.is_one],
        ours=_folder_changes(site, files),
        by_cli=by_plugin and (edit.is_one or not _is_registered(site, place)),
    )


def _is_registered(site: Site, place: Place) -> bool:
    entries = site.store.registered()
    return site.store.is_known() and any(is_entry(entry, place.cli_scope, place.project) for entry in entries)


def _is_stale(site: Site, other: Place, place: Place, transport: Transport) -> bool:
    """One place is connected one way, and the user's place stands for all others: no request comes twice."""
    if other == place:
        return site.transports(other) != {transport}
    return place.project is None


def _settings(options: InstallOptions, site: Site, place: Place, version: str) -> str:
    """The settings after the install; the CLI writes the plugin's part of them."""
    text = remove_ours(place.file.text())
    if options.transport is Transport.PLUGIN:
        return enable_plugin(text, marketplace_entry(str(site.store.folder)))
    try:
        groups = hook_groups(options.endpoint, options.transport, version, enforce=options.enforce)
        return add_hooks(text, groups)
    except BadInput as error:
        raise QuarterdeckError(f"{place.file.path}: {error}; mend the file, then run this again") from None


def _without_ours(place: Place) -> Change:
    text = place.file.text()
    return Change(path=place.file.path, before=text, after=remove_ours(text))


def _folder_changes(site: Site, files: dict[str, str]) -> list[Change]:
    before = site.store.files()
    names = sorted({*before, *files})
    changes = (
        Change(path=site.store.folder / name, before=before.get(name, ""), after=files.get(name, "")) for name in names
    )
    return [change for change in changes if change.is_one]


def _shown(theirs: list[Change], ours: list[Change]) -> dict[str, Any]:
    """What a dry run tells of the changes."""
    return {"diff": diff_of([*ours, *theirs]), "theirs": diff_of(theirs), "ours": len(ours)}


def _connect_plugin(site: Site, cli: ClaudeCli, plan: Plan) -> tuple[str, ...]:
    """Write the folder, have the CLI install it, close its copy to others; says what the CLI finds wrong."""
    place, cwd = plan.place, plan.place.project or site.home
    site.store.write(plan.files)
    if plan.by_cli:
        place.file.back_up()
        try:
            add_by_cli(cli, site.store, place.cli_scope, cwd)
        except Refused:
            site.disconnect(place, cli)
            raise
        place.file.settle()
    site.store.refresh_copy(plan.files)
    return tuple(problems(cli, place.cli_scope, cwd))


def _connect_settings(options: InstallOptions, site: Site, plan: Plan) -> None:
    """Edit the settings; a file that holds the token is for its owner alone."""
    file = plan.place.file
    file.back_up()
    mode = file.mode() & 0o700 if options.transport is Transport.HTTP else file.mode()
    file.write(_settings(options, site, plan.place, plan.version), mode)
    file.settle()


def _warnings(options: InstallOptions, plan: Plan) -> tuple[str, ...]:
    file = plan.place.file.path
    found = [f"{file}: {said}" for said in obstacles(read_settings(plan.settings), f"{options.endpoint.url}/hook")]
    if () < version_of(plan.version) < version_of(SUPPORTED[0]):
        found.append(f"Claude Code {plan.version} is older than {SUPPORTED[0]}, the oldest one tested; update it.")
    if plan.place.project and options.transport is Transport.HTTP:
        found.append(f"{file} holds the hook token: keep it out of version control.")
    return tuple(found)


def _said(options: InstallOptions, plan: Plan) -> tuple[str, ...]:
    claude = f"Claude Code {plan.version}".strip()
    left_out = [name for name, hook in HOOKS.items() if is_newer(hook) and name not in events(plan.version)]
    if options.transport is Transport.PLUGIN:
        how = f"through its plugin {PLUGIN_ID}"
        reach = "New sessions report; a running one does after /reload-plugins."
    else:
        how = f"by {options.transport} hooks in {plan.place.file.path}"
        reach = "Running sessions report within seconds, new ones at once."
    said = [f"Connected {claude} {plan.place.name} {how}.", reach]
    if options.enforce:
        said.append(ENFORCED)
    if left_out:
        said.append(f"Left out as too new for it: {', '.join(left_out)}; run qd install again when it is updated.")
    if options.transport is Transport.HTTP:
        said.append(f"{plan.place.file.path} holds the hook token, so only you can read it.")
    return tuple(said)


def uninstall(options: UninstallOptions) -> UninstallReport:
    """Take everything of ours out of Claude Code; with the last place gone, the hook token is a new one."""
    site = Site(home=options.home.absolute(), config_dir=options.config_dir.absolute())
    connected = site.connected()
    chosen = _chosen(options, site, connected)
    is_last = all(place in chosen for place in connected)
    if not chosen and not (is_last and site.store.remains()):
        return UninstallReport(changed=False, lines=("Claude Code is not connected; nothing was changed.",))
    if options.dry_run:
        ours = _folder_changes(site, {}) if is_last else []
        return UninstallReport(changed=True, **_shown([_without_ours(place) for place in chosen], ours))
    for place in chosen:
        place.file.check_writable()
    cli = site.any_cli(options.claude_path)
    with named_errors():
        said = [site.disconnect(place, cli) for place in chosen]
        if not is_last:
            return UninstallReport(changed=True, lines=(*said, "The hook token stays: other projects use it."))
        site.store.delete()
        _rotate(site.home)
    said.append("The hook token is a new one: what a running session keeps of our hooks does nothing.")
    return UninstallReport(changed=True, lines=tuple(said), token_rotated=True)


def _chosen(options: UninstallOptions, site: Site, connected: list[Place]) -> list[Place]:
    if options.scope is None:
        return connected
    place = site.place(options.project.resolve() if options.project and options.scope is Scope.PROJECT else None)
    return [place] if site.transports(place) else []


def _rotate(home: Path) -> None:
    if home.is_dir():
        write_file(home / "hook-token", secrets.token_urlsafe(32).encode())
