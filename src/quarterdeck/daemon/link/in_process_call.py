"""One call of the API without a connection: the same routes, checks and errors as over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from quarterdeck.api.http.asgi import App, Message
from quarterdeck.api.http.credentials import Principal
from quarterdeck.api.live.socket_commands import ROUTES
from quarterdeck.api.operations import OPERATIONS
from quarterdeck.wire import write_json

UNPREFIXED = ("/healthz", "/metrics")


class ApiAnswer(msgspec.Struct, frozen=True):
    """The answer of REST: the status code and the JSON."""

    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status < 400


async def call_api(api: App, name: str, args: Mapping[str, Any], principal: Principal) -> ApiAnswer:
    """Call an operation by its name, with the arguments of a command: those of the path, the query and the body."""
    operation = OPERATIONS[name]
    path, rest = _path(operation.path, args)
    body_fields = _body_fields(name)
    body = {key: value for key, value in rest.items() if key in body_fields}
    query = {key: _query_value(value) for key, value in rest.items() if key not in body_fields and value is not None}
    content = write_json(body) if body_fields and operation.method != "GET" else b""
    prefix = "" if operation.path in UNPREFIXED else "/api/v1"
    headers = [(b"host", b"localhost"), (b"accept", b"application/json")]
    if content:
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": operation.method,
        "scheme": "http",
        "path": prefix + path,
        "raw_path": (prefix + path).encode(),
        "query_string": urlencode(query, doseq=True).encode(),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        "state": {},
        "extensions": {},
        "qd_principal": principal,
    }
    return await _run(api, scope, content)


def _path(template: str, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    rest = dict(args)
    for key in list(rest):
        if f"{{{key}}}" in template:
            template = template.replace(f"{{{key}}}", quote(str(rest.pop(key)), safe=""))
    return template, rest


def _body_fields(name: str) -> frozenset[str]:
    kind = ROUTES[name].body if name in ROUTES else None
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind)) if kind else frozenset()


def _query_value(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_query_value(one) for one in value] if isinstance(value, list) else value


async def _run(api: App, scope: dict[str, Any], content: bytes) -> ApiAnswer:
    status, parts = 500, list[bytes]()
    requests = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive() -> Message:
        return requests.pop() if requests else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await api(scope, receive, send)
    body = b"".join(parts) or b"null"
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except msgspec.DecodeError:
        body = write_json(body.decode(errors="replace"))  # a page of text, such as the numbers for Prometheus
    return ApiAnswer(status, body)
