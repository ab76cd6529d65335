"""Errors of the API, all in one shape, and the checks on every request body and query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_type_hints
from urllib.parse import parse_qsl

import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from quarterdeck.api.http.guard import Routes
from quarterdeck.api.http.validation_words import field_problem, plain_type
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.errors import BadInput, QuarterdeckError, TooSlow
from quarterdeck.wire import read_json

JSON = "application/json"
NO_CURSOR = "is no cursor of this machine; pass the next of a list back unchanged"
REPEATABLE = frozenset({"kind", "level"})
NUMBERS = frozenset({"after", "before", "limit", "since", "until"})
KINDS = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}
STATUS = {
    "not_found": 404,
    "invalid": 422,
    "untrusted_project": 403,
    "too_many_sessions": 429,
    "not_recorded": 503,
    "failed": 502,
}
"""The HTTP status for each outcome of a command that was not applied; any other outcome is a 409."""

logger = structlog.get_logger("api")


class ApiError(Exception):
    """An error response: `code` is the HTTP status, `kind` the machine-readable reason."""

    def __init__(self, code: int, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.body = {"error": {"kind": kind, "message": message, **more}}


def invalid(field: str, problem: str) -> ApiError:
    """The error for a wrong field."""
    return ApiError(422, "invalid", f"{field}: {problem}", field=field)


def not_found(what: str, name: str, see: str) -> ApiError:
    """The error for an unknown id; `see` is the command that lists the known ones."""
    return ApiError(404, "not_found", f"no such {what}: {name}; see: {see}")


def applied(reply: CommandReply, see: str = "") -> CommandReply:
    """The reply of a command that was applied; ApiError for any other. `see` is the command that lists what exists."""
    if reply.outcome != "applied":
        raise refusal(reply, see)
    return reply


def refusal(reply: CommandReply, see: str = "") -> ApiError:
    """The error for a command that was not applied."""
    message = f"{reply.message}; see: {see}" if see and reply.outcome == "not_found" else reply.message
    more = {"field": reply.message.partition(":")[0]} if reply.outcome == "invalid" else {}
    if reply.rule is not None:
        more["rule_id"] = reply.rule.rule_id
    return ApiError(STATUS.get(reply.outcome, 409), reply.outcome, message, **more)


@contextmanager
def refused_as(kind: str) -> Iterator[None]:
    """Return an error of an agent or another program word for word."""
    try:
        yield
    except QuarterdeckError as error:
        raise ApiError(409, kind, str(error)) from None


async def strict(request: Request[Any, Any, Any]) -> None:
    """Reject repeated query parameters, null numbers, and bodies that are not JSON within every limit."""
    query = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    names = Counter(name for name, _ in query)
    nulls = [name for name, value in query if value.lower() == "null" and name in NUMBERS]
    if nulls:
        raise ApiError(422, "invalid", f"{nulls[0]}: leave it out instead of null", field=nulls[0])
    repeated = [name for name, times in names.items() if times > 1 and name not in REPEATABLE]
    if repeated:
        raise ApiError(422, "invalid", f"{repeated[0]}: may appear only once", field=repeated[0])
    if request.method == "POST" and ("content-type" in request.headers or await request.body()):
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise ApiError(415, "unsupported_media_type", f"Content-Type: send {JSON}")
        try:
            read_json(await request.body())
        except BadInput as error:
            raise ApiError(413 if error.kind == "too_large" else 400, error.kind, str(error)) from None


def on_api_error(request: Request[Any, Any, Any], error: ApiError) -> Response[Any]:
    return Response(error.body, status_code=error.code, media_type=JSON)


def on_invalid(request: Request[Any, Any, Any], error: ValidationException) -> Response[Any]:
    extra = error.extra if isinstance(error.extra, list) else []
    first: dict[str, Any] = extra[0] if extra and isinstance(extra[0], dict) else {}
    hints = getattr(request.route_handler, "fn").__annotations__  # noqa: B009 Litestar names no type for it
    body = plain_type(hints.get("data"))
    known = {**hints, **(get_type_hints(body) if body else {})}
    words, key = str(first.get("message", error.detail)), str(first.get("key", ""))
    problem = field_problem(words, known, "" if key == "data" and words.startswith("Object ") else key)
    is_cursor = request.method == "GET" and problem.field in ("after", "before")
    message = f"{problem.field}: {NO_CURSOR}" if is_cursor else str(problem)
    content = {"error": {"kind": "invalid", "message": message, "field": problem.field}}
    return Response(content, status_code=422, media_type=JSON)


def on_slow_query(request: Request[Any, Any, Any], error: TooSlow) -> Response[Any]:
    return Response({"error": {"kind": "too_slow", "message": str(error)}}, status_code=503, media_type=JSON)


def on_surprise(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Answer a bug: the details go to the log, not to the caller."""
    logger.exception("a request could not be answered", path=request.url.path)
    return Response(
        {"error": {"kind": "internal", "message": "internal error; see the daemon's log"}},
        status_code=500,
        media_type=JSON,
    )


def on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    kind = KINDS.get(error.status_code, "error")
    body = {"error": {"kind": kind, "message": error.detail}}
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = allowed_here(request)
    return Response(body, status_code=error.status_code, media_type=JSON, headers=headers)


def allowed_here(request: Request[Any, Any, Any]) -> str:
    """The methods of a path, for the Allow header."""
    routes: Routes = request.app.state.routes
    return ", ".join(sorted(routes.methods_of(request.scope["path"])))


HANDLERS: dict[Any, Any] = {
    ApiError: on_api_error,
    ValidationException: on_invalid,
    HTTPException: on_http_error,
    TooSlow: on_slow_query,
    Exception: on_surprise,
}
