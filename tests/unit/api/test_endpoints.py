"""Every operation is served, by REST, by the WebSocket, or by both."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec
from litestar.routes import HTTPRoute

from quarterdeck.api.app import create_api
from quarterdeck.api.live.socket_commands import COMMANDS, ROUTES
from quarterdeck.api.operations import OPERATIONS


def test_every_operation_has_its_route_with_its_scope() -> None:
    app = create_api(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None))
    served = {
        (str(method), re.sub(":str", "", route.path).removeprefix("/api/v1"), str(handler.opt["scope"]))
        for route in app.routes
        if isinstance(route, HTTPRoute) and not route.path.startswith("/api/v1/schema")
        for handler in route.route_handlers
        for method in handler.http_methods - {"OPTIONS"}
    }
    documents = {("GET", path, "observe") for path in ("/openapi.json", "/socket.json", "/docs")}
    assert served - documents == {(row.method, row.path, row.scope) for row in OPERATIONS.values() if row.path}


def test_every_operation_has_its_endpoint_and_its_command() -> None:
    assert ROUTES.keys() == {name for name, row in OPERATIONS.items() if row.path}
    assert COMMANDS.keys() == {name for name, row in OPERATIONS.items() if row.is_command}


def test_a_command_takes_the_ids_of_its_path_and_the_fields_of_its_body() -> None:
    for name, endpoint in COMMANDS.items():
        fields = {field.encode_name for field in msgspec.structs.fields(endpoint.arguments)}
        ids = set(re.findall(r"{(\w+)}", OPERATIONS[name].path))
        body = set(endpoint.body.__struct_encode_fields__ if endpoint.body else ())
        assert fields >= ids | body, name
