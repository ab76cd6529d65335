"""The REST API under /api/v1: what is known, and how a person decides."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
import structlog
from litestar import Litestar, Request, Response, Router, get, post
from litestar.datastructures import State as AppState
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Struct

from quarterdeck import __version__
from quarterdeck.core.commands import Reply
from quarterdeck.core.decisions import DEFAULT_DENY, MESSAGE_LIMIT, Allow, Answer, Block, Decision, Deny, NoOpinion
from quarterdeck.core.payload import safe_id
from quarterdeck.errors import BadInput
from quarterdeck.serve.desk import Desk
from quarterdeck.serve.views import decision_view, event_view, project_id_of, request_view, session_view
from quarterdeck.store.reader import FeedQuery
from quarterdeck.wire import read_json

Limit = Annotated[int, QueryParameter(name="limit", ge=1, le=1000)]
Position = Annotated[int | None, QueryParameter(ge=0, le=2**63 - 1)]
JSON = "application/json"

logger = structlog.get_logger("api")


class ApiError(Exception):
    """An answer in the one error shape."""

    def __init__(self, code: int, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.body = {"error": {"kind": kind, "message": message, **more}}


class DecisionBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person decides about the request whose digest they saw."""

    decision: Literal["allow", "deny", "answer", "block", "pass"]
    digest: str
    updated_input: dict[str, Any] | None = None
    answers: dict[str, Any] | None = None
    message: str | None = None
    interrupt: bool = False
    note: str | None = None


class NamedDecision(DecisionBody, kw_only=True, forbid_unknown_fields=True):
    request_id: str


class Decisions(Struct, kw_only=True, forbid_unknown_fields=True):
    """Many decisions, each with its own id and digest, and each read by itself."""

    decisions: list[dict[str, Any]]


@get("/healthz", sync_to_thread=False)
def healthz(state: AppState) -> dict[str, str]:
    """Whether the daemon takes events."""
    return {"status": "read_only" if state.desk.trouble else "ok"}


@get("/sessions", sync_to_thread=False)
def list_sessions(
    state: AppState,
    project_id: FromQuery[str | None] = None,
    agent_state: Annotated[str | None, QueryParameter(name="state")] = None,
    after: FromQuery[str | None] = None,
    limit: Limit = 200,
) -> dict[str, Any]:
    """Every session, the live ones first, each kind newest first."""
    desk: Desk = state.desk
    found = [
        s
        for s in desk.sessions()
        if (project_id is None or project_id_of(s.context.cwd) == project_id)
        and (agent_state is None or s.agent_state == agent_state)
    ]
    start = next((n + 1 for n, s in enumerate(found) if s.session_id == after), None) if after else 0
    if start is None:
        raise ApiError(422, "invalid", f"after: {after} is not in this list; start again", field="after")
    page = found[start : start + limit]
    more = start + limit < len(found)
    return {
        "sessions": [session_view(s, desk.runner_id) for s in page],
        "next": page[-1].session_id if more else None,
    }


@get("/sessions/{session_id:str}", sync_to_thread=False)
def get_session(state: AppState, session_id: FromPath[str]) -> dict[str, Any]:
    """One session."""
    desk: Desk = state.desk
    session = desk.session(session_id)
    if session is None:
        raise ApiError(404, "not_found", f"no such session: {session_id}")
    return session_view(session, desk.runner_id)


@get("/feed")
async def get_feed(
    state: AppState,
    after: Position = None,
    before: Position = None,
    limit: Limit = 200,
    session_id: FromQuery[str | None] = None,
    kind: FromQuery[list[str] | None] = None,
    actor_id: FromQuery[str | None] = None,
    tool: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
) -> dict[str, Any]:
    """A page of what happened, oldest first; `next` continues it."""
    desk: Desk = state.desk
    query = FeedQuery(
        after=after,
        before=before,
        limit=limit,
        session_id=session_id,
        kinds=tuple(kind or ()),
        actor_id=actor_id,
        tool=tool,
        search=q,
    )
    page = await desk.feed(query)
    last = page.events[-1].seq_no if page.events and page.more else None
    return {"events": [event_view(e) for e in page.events], "next": last}


@get("/requests")
async def list_requests(
    state: AppState,
    status: FromQuery[Literal["pending", "decided", "withdrawn", "expired"] | None] = None,
    after: Position = None,
    limit: Limit = 200,
) -> dict[str, Any]:
    """Requests, oldest first: what waits, or how it ended."""
    desk: Desk = state.desk
    found = await desk.requests(status, after or 0, limit)
    return {
        "requests": [request_view(r, desk.runner_id) for r in found],
        "next": found[-1].seq_no if len(found) == limit else None,
    }


@get("/requests/{request_id:str}")
async def get_request(state: AppState, request_id: FromPath[str]) -> dict[str, Any]:
    """One request."""
    desk: Desk = state.desk
    request = await desk.request(request_id)
    if request is None:
        raise ApiError(404, "not_found", f"no such request: {request_id}; see: qd requests")
    return request_view(request, desk.runner_id)


@post("/requests/{request_id:str}/decision", status_code=200)
async def decide(
    state: AppState, request: Request[Any, Any, Any], request_id: FromPath[str], data: JSONBody[DecisionBody]
) -> dict[str, Any]:
    """Decide a request as it was shown."""
    return await _decide(state.desk, request_id, data, _principal(request))


@post("/requests/decisions", status_code=200)
async def decide_many(state: AppState, request: Request[Any, Any, Any], data: JSONBody[Decisions]) -> dict[str, Any]:
    """Decide many requests, each by its id and digest; each has its own result."""
    results = []
    for one in data.decisions:
        request_id = one.get("request_id")
        try:
            named = _named(one)
            decision = await _decide(state.desk, named.request_id, named, _principal(request))
            results.append({"request_id": request_id, "ok": True, "decision": decision})
        except ApiError as error:
            results.append({"request_id": request_id, "ok": False, **error.body})
    return {"decisions": results, "next": None}


@get("/openapi.json", include_in_schema=False, sync_to_thread=False)
def openapi(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """This API, described."""
    return request.app.openapi_schema.to_schema()


def _named(body: dict[str, Any]) -> NamedDecision:
    try:
        return msgspec.convert(body, NamedDecision)
    except msgspec.ValidationError as error:
        raise ApiError(422, "invalid", str(error), field=_field(str(error))) from None


def _field(message: str) -> str | None:
    """The field a validation message speaks of."""
    found = re.search(r"field `(\w+)`|`\$\.(\w+)", message)
    return (found[1] or found[2]) if found else None


async def strict(request: Request[Any, Any, Any]) -> None:
    """What reaches a handler is JSON within every limit: no key twice, no number or nesting beyond them."""
    if request.method == "POST":
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise ApiError(415, "unsupported_media_type", f"Content-Type: send {JSON}")
        try:
            read_json(await request.body())
        except BadInput as error:
            raise ApiError(413 if error.kind == "too_large" else 400, error.kind, str(error)) from None


def _principal(request: Request[Any, Any, Any]) -> str:
    surface = safe_id(request.headers.get("x-quarterdeck-client"), "")
    return f"owner via {surface}" if surface else "owner"


async def _decide(desk: Desk, request_id: str, body: DecisionBody, by: str) -> dict[str, Any]:
    reply = await desk.decide(request_id, _read_decision(body, by), body.digest, by, body.note)
    if reply.outcome != "applied" or reply.request is None:
        raise _refusal(reply)
    return decision_view(reply.request) or {}


def _read_decision(body: DecisionBody, by: str) -> Decision:
    """Only what fits the word: a field that the decision does not take is an error, never ignored."""
    for field, words in _TAKES.items():
        if getattr(body, field) and body.decision not in words:
            raise ApiError(422, "invalid", f"{field}: goes with {' or '.join(words)}, not {body.decision}", field=field)
    if body.message is not None and len(body.message.encode()) > MESSAGE_LIMIT:
        raise ApiError(422, "invalid", f"message: at most {MESSAGE_LIMIT} bytes", field="message")
    match body.decision:
        case "allow":
            return Allow(updated_input=body.updated_input)
        case "deny":
            return Deny(body.message or DEFAULT_DENY.format(by=by), body.interrupt)
        case "answer":
            return Answer(body.answers or {})
        case "block":
            return Block(body.message or f"{by} asks you to go on.")
        case "pass":
            return NoOpinion(reason=f"passed by {by}")


_TAKES = {
    "updated_input": ("allow",),
    "answers": ("answer",),
    "message": ("deny", "block"),
    "interrupt": ("deny",),
}


def _refusal(reply: Reply) -> ApiError:
    """Why a decision was not applied, with what won."""
    won = decision_view(reply.request) if reply.request else None
    status = reply.request.status if reply.request else None
    match reply.outcome:
        case "not_found":
            return ApiError(404, "not_found", f"no such request: {reply.request_id}; see: qd requests")
        case "digest_mismatch":
            return ApiError(409, "digest_mismatch", "this is not what was shown: read the request again")
        case "invalid":
            return ApiError(422, "invalid", reply.message, field=reply.message.partition(":")[0])
        case "not_recorded":
            return ApiError(503, "not_recorded", reply.message)
        case _:
            source = won["source"] if won else None
            how = f"{reply.outcome.replace('_', ' ')} ({source}, by {won['by']})" if won else reply.outcome
            return ApiError(409, reply.outcome, f"the request is {how}", status=status, source=source, decision=won)


def _on_api_error(request: Request[Any, Any, Any], error: ApiError) -> Response[Any]:
    return Response(error.body, status_code=error.code, media_type=JSON)


def _on_invalid(request: Request[Any, Any, Any], error: ValidationException) -> Response[Any]:
    extra = error.extra if isinstance(error.extra, list) else []
    first: dict[str, Any] = extra[0] if extra and isinstance(extra[0], dict) else {}
    said = str(first.get("message", error.detail))
    field = _field(said) or str(first.get("key", ""))
    message = f"{field}: {said}" if field else said
    body = {"error": {"kind": "invalid", "message": message, "field": field or None}}
    return Response(body, status_code=422, media_type=JSON)


KINDS = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}


def _on_surprise(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Our own mistake: named in the log, not in the answer."""
    logger.exception("a request could not be answered", path=request.url.path)
    return Response(
        {"error": {"kind": "internal", "message": "see the daemon's log"}}, status_code=500, media_type=JSON
    )


def _on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    kind = KINDS.get(error.status_code, "error")
    return Response({"error": {"kind": kind, "message": error.detail}}, status_code=error.status_code, media_type=JSON)


def create_api(desk: Desk) -> Litestar:
    """The ASGI application; whoever mounts it has checked the credential."""
    routes = [list_sessions, get_session, get_feed, list_requests, get_request, decide_many, decide, openapi]
    return Litestar(
        route_handlers=[healthz, Router("/api/v1", route_handlers=routes, before_request=strict)],
        state=AppState({"desk": desk}),
        openapi_config=OpenAPIConfig(
            title="Quarterdeck", version=__version__, path="/api/v1/schema", render_plugins=[JsonRenderPlugin()]
        ),
        exception_handlers={
            ApiError: _on_api_error,
            ValidationException: _on_invalid,
            HTTPException: _on_http_error,
            Exception: _on_surprise,
        },
        logging_config=None,
    )
