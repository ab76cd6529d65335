"""Routes of Claude Code's plugins and of the marketplaces they come from."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import ExtensionBackend, HealthBackend, ProjectBackend
from quarterdeck.api.http.endpoint import ApiEndpoint, endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid, refused_as
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.views.extension_changes import ExtensionResult, apply_change
from quarterdeck.core.model.event_data.admin_data import PluginChangeData
from quarterdeck.core.workspace.extensions import redact_output
from quarterdeck.views.projection import struct_of
from quarterdeck.views.workspace.plugin_view import (
    MarketplaceList,
    MarketplaceView,
    OfferList,
    OfferView,
    PluginList,
    PluginView,
)

REFUSED = "claude_refused"
WORD = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
PluginName = Annotated[str, Meta(pattern=rf"^{WORD}(@{WORD})?\Z", max_length=257)]
MarketName = Annotated[str, Meta(pattern=rf"^{WORD}\Z", max_length=128)]
Place = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Source = Annotated[str, Meta(min_length=1, max_length=2048, pattern=r"^[A-Za-z0-9/~.][^\0\s]*\Z")]
InScope = Literal["user", "project", "local"]


class PluginBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A plugin like demo@market, and its scope: user; or with `project` project (for everybody in it) or local (for
    you in it)."""

    name: PluginName
    scope: InScope = "user"
    project: Place | None = None


class MarketplaceBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """The source of a marketplace: a folder, an address, or owner/repository."""

    source: Source


class MarketplaceName(Struct, kw_only=True, forbid_unknown_fields=True):
    """A marketplace, or all of them without a name."""

    name: MarketName | None = None


@endpoint("list_plugins")
async def list_plugins(extensions: ExtensionBackend) -> PluginList:
    """List the installed plugins."""
    with refused_as(REFUSED):
        found = await extensions.agent.plugins()
    return PluginList(plugins=[struct_of(PluginView, one, **_parts(one.plugin_id)) for one in found])


@endpoint("list_offers")
async def list_offers(extensions: ExtensionBackend) -> OfferList:
    """List the plugins of your marketplaces that are not installed."""
    with refused_as(REFUSED):
        found = await extensions.agent.offers()
    return OfferList(available=[struct_of(OfferView, one, **_parts(one.plugin_id)) for one in found])


@endpoint("list_marketplaces")
async def list_marketplaces(extensions: ExtensionBackend) -> MarketplaceList:
    """List the marketplaces that plugins are installed from."""
    with refused_as(REFUSED):
        found = await extensions.agent.marketplaces()
    return MarketplaceList(marketplaces=[struct_of(MarketplaceView, one) for one in found])


@endpoint("add_marketplace")
async def add_marketplace(
    extensions: ExtensionBackend, health: HealthBackend, caller: Caller, *, data: JSONBody[MarketplaceBody]
) -> ExtensionResult:
    """Add a marketplace. An address with a password is refused: Claude Code would store it in a readable file."""
    if "://" in data.source and "@" in data.source.partition("://")[2].partition("/")[0]:
        raise invalid("source", "leave the password out of the address; store it in git's credential helper instead")
    return await _change_marketplace(extensions, health, caller, "add", data.source)


@endpoint("update_marketplaces")
async def update_marketplaces(
    extensions: ExtensionBackend, health: HealthBackend, caller: Caller, *, data: JSONBody[MarketplaceName]
) -> ExtensionResult:
    """Fetch a marketplace again, or all of them."""
    return await _change_marketplace(extensions, health, caller, "update", data.name)


@endpoint("remove_marketplace")
async def remove_marketplace(
    extensions: ExtensionBackend, health: HealthBackend, caller: Caller, *, name: FromPath[MarketName]
) -> ExtensionResult:
    """Remove a marketplace and the plugins installed from it."""
    return await _change_marketplace(extensions, health, caller, "remove", name)


async def _change_marketplace(
    extensions: ExtensionBackend, health: HealthBackend, caller: Caller, action: str, name: str | None
) -> ExtensionResult:
    label = redact_output(name, ()) if name else "all"
    change = PluginChangeData(
        action=f"{action}_marketplace", name=label, scope="user", by=caller.name, marketplace=label
    )
    return await apply_change(extensions, health, change, lambda agent: agent.change_marketplace(action, name))


def _change_plugin(action: str, sentence: str) -> ApiEndpoint:
    """The endpoint that runs one of Claude Code's plugin commands."""

    async def change(
        extensions: ExtensionBackend,
        health: HealthBackend,
        projects: ProjectBackend,
        caller: Caller,
        *,
        data: JSONBody[PluginBody],
    ) -> ExtensionResult:
        project = await project_of(projects, data.scope, data.project)
        marketplace = _parts(data.name)["marketplace"]
        change = struct_of(
            PluginChangeData, data, action=action, by=caller.name, marketplace=marketplace, project=project
        )
        return await apply_change(
            extensions, health, change, lambda agent: agent.change_plugin(action, data.name, data.scope, project)
        )

    change.__doc__ = sentence
    return endpoint(f"{action}_plugin", operation_id=f"{action}_plugin")(change)


install_plugin = _change_plugin("install", "Install a plugin from a marketplace.")
enable_plugin = _change_plugin("enable", "Enable a plugin.")
disable_plugin = _change_plugin("disable", "Disable a plugin.")
update_plugin = _change_plugin("update", "Update a plugin; new sessions use it.")
uninstall_plugin = _change_plugin("uninstall", "Uninstall a plugin.")


async def project_of(projects: ProjectBackend, scope: str, project: str | None) -> str | None:
    """The real path of the folder to run Claude Code in. It reads the folder's settings, so it must be trusted."""
    if scope == "user" and project is not None:
        raise invalid("project", "not used with the scope user")
    if scope == "user":
        return None
    if project is None:
        raise invalid("project", f"required for the scope {scope}; send the folder's path")
    return await trusted_folder(projects, project)


async def trusted_folder(projects: ProjectBackend, project: str) -> str:
    """The real path of a trusted folder; ApiError for any other."""
    real = await projects.trusted_folder(project)
    if real is None:
        message = f"{project} is not trusted; review its settings, then: qd projects trust {project}"
        raise ApiError(403, "untrusted_project", message)
    return real


def _parts(plugin_id: str) -> dict[str, str | None]:
    """The name of a plugin and its marketplace."""
    name, _, marketplace = plugin_id.partition("@")
    return {"name": name, "marketplace": marketplace or None}
