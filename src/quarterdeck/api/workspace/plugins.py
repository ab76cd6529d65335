"""Routes of Claude Code's plugins and of the marketplaces they come from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar import Request, delete, get, post
from litestar.datastructures import State as AppState
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.api.workspace.extension_changes import Changed, changed
from quarterdeck.core.model.event_data import PluginChangeData
from quarterdeck.core.workspace.extensions import Marketplace, Plugin, told_without
from quarterdeck.errors import QuarterdeckError

OBSERVE, CONTROL = {"scope": "observe"}, {"scope": "control"}
WORD = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
PluginName = Annotated[str, Meta(pattern=rf"^{WORD}(@{WORD})?\Z", max_length=257)]
MarketName = Annotated[str, Meta(pattern=rf"^{WORD}\Z", max_length=128)]
Place = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Source = Annotated[str, Meta(min_length=1, max_length=2048, pattern=r"^[A-Za-z0-9/~.][^\0\s]*\Z")]
InScope = Literal["user", "project", "local"]


class PluginBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A plugin, like demo@market, and whose it is: the user's, or with `project` that project's or yours in it."""

    name: PluginName
    scope: InScope = "user"
    project: Place | None = None


class MarketplaceBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A folder, an address, or owner/repository."""

    source: Source


class MarketplaceName(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which marketplace; all without a name."""

    name: MarketName | None = None


class PluginView(Struct, kw_only=True):
    """An installed plugin. `capabilities` says what it brings: agents, commands, hooks, skills, mcp, lsp."""

    plugin_id: str
    name: str
    marketplace: str | None
    version: str | None
    enabled: bool
    scope: str
    project: str | None
    capabilities: list[str]
    errors: list[str]


class OfferView(Struct, kw_only=True):
    """A plugin that a marketplace has."""

    plugin_id: str
    name: str
    marketplace: str | None
    description: str
    version: str | None


class Plugins(Struct, kw_only=True):
    plugins: list[PluginView]
    next: None = None


class Offers(Struct, kw_only=True):
    available: list[OfferView]
    next: None = None


class Marketplaces(Struct, kw_only=True):
    marketplaces: list[Marketplace]
    next: None = None


@get("/plugins", opt=OBSERVE)
async def list_plugins(state: AppState) -> Plugins:
    """The installed plugins."""
    desk: Desk = state.desk
    with refusals():
        return Plugins(plugins=[plugin_view(one) for one in await desk.extensions.plugins()])


@get("/plugins/available", opt=OBSERVE)
async def list_offers(state: AppState) -> Offers:
    """The plugins of the marketplaces that are not installed."""
    desk: Desk = state.desk
    with refusals():
        found = await desk.extensions.offers()
    return Offers(
        available=[
            OfferView(
                plugin_id=one.plugin_id,
                name=one.plugin_id.partition("@")[0],
                marketplace=one.plugin_id.partition("@")[2] or None,
                description=one.description,
                version=one.version,
            )
            for one in found
        ]
    )


@get("/plugins/marketplaces", opt=OBSERVE)
async def list_marketplaces(state: AppState) -> Marketplaces:
    """Where plugins come from."""
    desk: Desk = state.desk
    with refusals():
        return Marketplaces(marketplaces=await desk.extensions.marketplaces())


@post("/plugins/marketplaces", opt=CONTROL)
async def add_marketplace(state: AppState, request: Request[Any, Any, Any], data: JSONBody[MarketplaceBody]) -> Changed:
    """Add a marketplace. An address that holds a password is refused: it would be kept in a readable file."""
    if "://" in data.source and "@" in data.source.partition("://")[2].partition("/")[0]:
        words = "source: leave the password out of the address, and give it to git's credential helper"
        raise ApiError(422, "invalid", words, field="source")
    return await _marketplace(state.desk, "add", data.source, by(request))


@post("/plugins/marketplaces/update", status_code=200, opt=CONTROL)
async def update_marketplaces(
    state: AppState, request: Request[Any, Any, Any], data: JSONBody[MarketplaceName]
) -> Changed:
    """Fetch a marketplace again, or all of them."""
    return await _marketplace(state.desk, "update", data.name, by(request))


@delete("/plugins/marketplaces/{name:str}", status_code=200, opt=CONTROL)
async def remove_marketplace(state: AppState, request: Request[Any, Any, Any], name: FromPath[MarketName]) -> Changed:
    """Remove a marketplace, and what was installed from it."""
    return await _marketplace(state.desk, "remove", name, by(request))


async def _marketplace(desk: Desk, action: str, name: str | None, who: str) -> Changed:
    told = told_without(name, ()) if name else "all"
    change = PluginChangeData(action=f"{action}_marketplace", name=told, scope="user", by=who, marketplace=told)
    return await changed(desk, change, lambda: desk.extensions.change_marketplace(action, name))


def _action(word: str, sentence: str) -> HTTPRouteHandler:
    """A route that has Claude Code do something to one plugin."""

    @post(f"/plugins/{word}", status_code=200, opt=CONTROL, name=f"{word}_plugin", operation_id=f"{word}_plugin")
    async def act(state: AppState, request: Request[Any, Any, Any], data: JSONBody[PluginBody]) -> Changed:
        desk: Desk = state.desk
        project = await project_of(desk, data.scope, data.project)
        change = PluginChangeData(
            action=word,
            name=data.name,
            scope=data.scope,
            by=by(request),
            marketplace=data.name.partition("@")[2] or None,
            project=project,
        )
        return await changed(desk, change, lambda: desk.extensions.change_plugin(word, data.name, data.scope, project))

    act.fn.__doc__ = sentence
    return act


async def project_of(desk: Desk, scope: str, project: str | None) -> str | None:
    """The real folder to do it in. Claude Code reads what is there, so it must be trusted."""
    if scope == "user":
        if project is not None:
            raise ApiError(422, "invalid", "project: leave it out with the scope user", field="project")
        return None
    if project is None:
        raise ApiError(422, "invalid", f"project: name the folder, for the scope {scope}", field="project")
    return await trusted_folder(desk, project)


async def trusted_folder(desk: Desk, project: str) -> str:
    """The real path of a folder that is trusted."""
    real = await desk.trusted_folder(project)
    if real is None:
        words = f"{project} is not trusted; look at what is in it, then: qd projects trust {project}"
        raise ApiError(403, "untrusted_project", words)
    return real


class refusals:  # noqa: N801 reads as a word in a with statement
    """What Claude Code refused is told in its own words."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, QuarterdeckError):
            raise ApiError(409, "claude_refused", str(error)) from None


def plugin_view(plugin: Plugin) -> PluginView:
    """A plugin as the API shows it."""
    name, _, marketplace = plugin.plugin_id.partition("@")
    return PluginView(
        plugin_id=plugin.plugin_id,
        name=name,
        marketplace=marketplace or None,
        version=plugin.version,
        enabled=plugin.enabled,
        scope=plugin.scope,
        project=plugin.project,
        capabilities=list(plugin.capabilities),
        errors=list(plugin.errors),
    )


PLUGIN_ROUTES = [
    list_plugins,
    list_offers,
    list_marketplaces,
    add_marketplace,
    update_marketplaces,
    remove_marketplace,
    _action("install", "Install a plugin of a marketplace."),
    _action("enable", "Enable a plugin."),
    _action("disable", "Disable a plugin."),
    _action("update", "Update a plugin; new sessions have it."),
    _action("uninstall", "Uninstall a plugin."),
]
