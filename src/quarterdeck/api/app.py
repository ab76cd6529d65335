"""The REST API under /api/v1: every route, the scope it needs, and its description."""

from __future__ import annotations

import re
from typing import Any

from litestar import Litestar, MediaType, Request, Response, Router, get
from litestar.connection import ASGIConnection
from litestar.datastructures import State as AppState
from litestar.handlers import BaseRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.routes import HTTPRoute

from quarterdeck import __version__
from quarterdeck.api.backend import Desk
from quarterdeck.api.http.agent_block import Agents, no_agents
from quarterdeck.api.http.asgi import PAGE_POLICY
from quarterdeck.api.http.credentials import SCOPES, Access, Pace
from quarterdeck.api.http.errors import HANDLERS, ApiError, strict
from quarterdeck.api.http.guard import Routes
from quarterdeck.api.http.principal import principal_of
from quarterdeck.api.openapi import described, page
from quarterdeck.api.routes.audit import list_audit
from quarterdeck.api.routes.decisions import DECIDING_ROUTES
from quarterdeck.api.routes.queries import READING_ROUTES, healthz
from quarterdeck.api.routes.rules import RULE_ROUTES
from quarterdeck.api.routes.sessions import SESSION_ROUTES
from quarterdeck.api.routes.stats import get_metrics, get_stats
from quarterdeck.api.routes.tokens import TOKEN_ROUTES
from quarterdeck.api.workspace.mcp import MCP_ROUTES
from quarterdeck.api.workspace.plugins import PLUGIN_ROUTES
from quarterdeck.api.workspace.project_config import BRINGING_ROUTES
from quarterdeck.api.workspace.projects import PROJECT_ROUTES
from quarterdeck.api.workspace.worktrees import WORKTREE_ROUTES


@get("/openapi.json", opt={"scope": "observe"}, include_in_schema=False, sync_to_thread=False)
def openapi(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """This API, described."""
    return schema_of(request.app)


@get("/docs", opt={"scope": "observe"}, include_in_schema=False, sync_to_thread=False, media_type=MediaType.HTML)
def docs(request: Request[Any, Any, Any]) -> Response[str]:
    """This API, described for people."""
    policy = {"content-security-policy": PAGE_POLICY[1].decode()}
    return Response(page(schema_of(request.app)), media_type=MediaType.HTML, headers=policy)


def schema_of(app: Litestar) -> dict[str, Any]:
    """The OpenAPI document."""
    scopes = {
        (route.path_format, str(method)): str(handler.opt["scope"])
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods
        if "scope" in handler.opt
    }
    return described(app.openapi_schema.to_schema(), scopes)


def scoped(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """The guard has looked at the path; this looks at the route it led to. Only OPTIONS, which tells the methods of a
    path, is not ours and names no scope."""
    scope = handler.opt.get("scope", "observe")
    if not principal_of(connection).may(scope):
        raise ApiError(403, "forbidden", f"this token lacks the scope {scope}", scope=scope)


def create_api(desk: Desk, access: Access, pace: Pace, agents: Agents) -> Litestar:
    """The ASGI application; whoever mounts it has checked credential and scope."""
    routes = [
        *READING_ROUTES,
        *SESSION_ROUTES,
        *WORKTREE_ROUTES,
        *DECIDING_ROUTES,
        *RULE_ROUTES,
        *BRINGING_ROUTES,
        *PROJECT_ROUTES,
        *PLUGIN_ROUTES,
        *MCP_ROUTES,
        *TOKEN_ROUTES,
        list_audit,
        get_stats,
        openapi,
        docs,
    ]
    app = Litestar(
        route_handlers=[
            healthz,
            Router("/", route_handlers=[get_metrics], guards=[scoped], before_request=strict),
            Router("/api/v1", route_handlers=routes, guards=[scoped, no_agents], before_request=strict),
        ],
        state=AppState({"desk": desk, "access": access, "pace": pace, "agents": agents}),
        openapi_config=OpenAPIConfig(
            title="Quarterdeck",
            version=__version__,
            path="/api/v1/schema",
            use_handler_docstrings=True,
            render_plugins=[JsonRenderPlugin()],
        ),
        exception_handlers=HANDLERS,
        logging_config=None,
    )
    app.state.routes = routes_of(app)
    return app


def routes_of(app: Litestar) -> Routes:
    """The scope of every route; one that declares none keeps the daemon from starting."""
    table: list[tuple[re.Pattern[str], dict[str, str]]] = []
    for route in sorted(app.routes, key=lambda r: r.path.count("{")):
        if route.path.startswith("/api/v1/schema"):
            continue
        if not isinstance(route, HTTPRoute):
            raise RuntimeError(f"{route.path} declares no scope: only HTTP routes do")
        methods = {}
        for handler in route.route_handlers:
            for method in handler.http_methods - {"OPTIONS"}:
                scope = handler.opt.get("scope")
                if scope not in (*SCOPES, "none"):
                    raise RuntimeError(f"{method} {route.path} declares no scope")
                methods[str(method)] = scope
        table.append((re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(route.path))), methods))
    return Routes(tuple(table))
