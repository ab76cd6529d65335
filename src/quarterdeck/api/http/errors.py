"""How the API says no: one shape, whatever went wrong."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from urllib.parse import parse_qsl

import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from quarterdeck.api.http.guard import Routes
from quarterdeck.errors import BadInput
from quarterdeck.wire import read_json

JSON = "application/json"
REPEATABLE = frozenset({"kind"})
NUMBERS = frozenset({"after", "before", "limit", "since", "until"})
KINDS = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}

logger = structlog.get_logger("api")


class ApiError(Exception):
    """An answer in the one error shape."""

    def __init__(self, code: int, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.body = {"error": {"kind": kind, "message": message, **more}}


async def strict(request: Request[Any, Any, Any]) -> None:
    """What reaches a handler says each thing once, and is JSON within every limit."""
    given = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    names = Counter(name for name, _ in given)
    nulls = [name for name, value in given if value.lower() == "null" and name in NUMBERS]
    if nulls:
        raise ApiError(422, "invalid", f"{nulls[0]}: leave it out instead of null", field=nulls[0])
    twice = [name for name, times in names.items() if times > 1 and name not in REPEATABLE]
    if twice:
        raise ApiError(422, "invalid", f"{twice[0]}: given more than once", field=twice[0])
    if request.method == "POST" and ("content-type" in request.headers or await request.body()):
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise ApiError(415, "unsupported_media_type", f"Content-Type: send {JSON}")
        try:
            read_json(await request.body())
        except BadInput as error:
            raise ApiError(413 if error.kind == "too_large" else 400, error.kind, str(error)) from None


def field_in(message: str) -> str | None:
    """The field a validation message speaks of."""
    found = re.search(r"field `(\w+)`|`\$\.(\w+)", message)
    return (found[1] or found[2]) if found else None


def on_api_error(request: Request[Any, Any, Any], error: ApiError) -> Response[Any]:
    return Response(error.body, status_code=error.code, media_type=JSON)


def on_invalid(request: Request[Any, Any, Any], error: ValidationException) -> Response[Any]:
    extra = error.extra if isinstance(error.extra, list) else []
    first: dict[str, Any] = extra[0] if extra and isinstance(extra[0], dict) else {}
    said = str(first.get("message", error.detail))
    field = field_in(said) or str(first.get("key", ""))
    message = f"{field}: {said}" if field else said
    body = {"error": {"kind": "invalid", "message": message, "field": field or None}}
    return Response(body, status_code=422, media_type=JSON)


def on_surprise(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Our own mistake: named in the log, not in the answer."""
    logger.exception("a request could not be answered", path=request.url.path)
    return Response(
        {"error": {"kind": "internal", "message": "see the daemon's log"}}, status_code=500, media_type=JSON
    )


def on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    kind = KINDS.get(error.status_code, "error")
    body = {"error": {"kind": kind, "message": error.detail}}
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = allowed_here(request)
    return Response(body, status_code=error.status_code, media_type=JSON, headers=headers)


def allowed_here(request: Request[Any, Any, Any]) -> str:
    """The methods a path answers to."""
    routes: Routes = request.app.state.routes
    return ", ".join(sorted(routes.methods_of(request.scope["path"])))


HANDLERS: dict[Any, Any] = {
    ApiError: on_api_error,
    ValidationException: on_invalid,
    HTTPException: on_http_error,
    Exception: on_surprise,
}
