"""The REST API under /api/v1: every route, the scope it needs, and its description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from litestar import Litestar, MediaType, Request, Response, Router, get
from litestar.connection import ASGIConnection
from litestar.datastructures import State as AppState
from litestar.handlers import BaseRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.routes import HTTPRoute

from quarterdeck import __version__
from quarterdeck.api.http.agent_block import AgentGuard, no_agents
from quarterdeck.api.http.asgi import PAGE_POLICY
from quarterdeck.api.http.credentials import SCOPES, Credentials, RateLimit
from quarterdeck.api.http.endpoint import ApiEndpoint
from quarterdeck.api.http.error_responses import HANDLERS, strict
from quarterdeck.api.http.guard import Routes
from quarterdeck.api.http.principal import caller_of
from quarterdeck.api.live.clients import Clients
from quarterdeck.api.live.socket_commands import ROUTES
from quarterdeck.api.live.ws_messages import message_schema
from quarterdeck.api.openapi import described, page

OUTSIDE = ("healthz", "get_metrics")
"""Operations that are not below /api/v1."""
PAIRING = "pair_device"
"""The operation below /api/v1 that needs no credential: its caller has none yet."""


@get("/openapi.json", opt={"scope": "observe"}, include_in_schema=False, sync_to_thread=False)
def openapi(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The OpenAPI description of this API."""
    return schema_of(request.app)


@get("/socket.json", opt={"scope": "observe"}, include_in_schema=False, sync_to_thread=False)
def socket() -> dict[str, Any]:
    """The JSON Schema of every message of the WebSocket."""
    return message_schema()


@get("/docs", opt={"scope": "observe"}, include_in_schema=False, sync_to_thread=False, media_type=MediaType.HTML)
def docs(request: Request[Any, Any, Any]) -> Response[str]:
    """The API reference as an HTML page."""
    policy = {"content-security-policy": PAGE_POLICY[1].decode()}
    return Response(page(schema_of(request.app)), media_type=MediaType.HTML, headers=policy)


def schema_of(app: Litestar) -> dict[str, Any]:
    """The OpenAPI document."""
    return described(app.openapi_schema.to_schema(), app.state.endpoints)


def scoped(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Check the scope of the matched route. The guard has checked the path already; two checks that agree leave no gap
    where they parse a path differently. Only Litestar's own OPTIONS handlers name no scope."""
    caller_of(connection).require(handler.opt.get("scope", "observe"))


def create_api(
    backend: Any,
    credentials: Credentials,
    rate_limit: RateLimit,
    agents: AgentGuard,
    clients: Clients,
    routes: Mapping[str, ApiEndpoint] = ROUTES,
) -> Litestar:
    """Build the ASGI application of these routes. It relies on the guard in front of it for the credential; the backend
    has the parts that the routes need."""
    below = [one.route() for name, one in routes.items() if name not in (*OUTSIDE, PAIRING)]
    healthz, metrics = (routes[name].route() for name in OUTSIDE)
    app = Litestar(
        route_handlers=[
            healthz,
            Router("/", route_handlers=[metrics], guards=[scoped], before_request=strict),
            Router("/api/v1", route_handlers=[routes[PAIRING].route()], guards=[no_agents], before_request=strict),
            Router(
                "/api/v1",
                route_handlers=[*below, openapi, socket, docs],
                guards=[scoped, no_agents],
                before_request=strict,
            ),
        ],
        state=AppState(
            {
                "backend": backend,
                "credentials": credentials,
                "rate_limit": rate_limit,
                "agents": agents,
                "clients": clients,
            }
        ),
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
    app.state.endpoints = tuple(routes.values())
    return app


def routes_of(app: Litestar) -> Routes:
    """The scope of every route. The daemon refuses to start when a route declares none."""
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
