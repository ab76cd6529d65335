"""One call of the API without a connection: flat arguments become a path, a query and a body."""

from __future__ import annotations

import json
from typing import Any

from quarterdeck.api.http.asgi import Message, Receive, Scope, Send
from quarterdeck.api.http.credentials import Principal
from quarterdeck.daemon.link.in_process_call import call_api

ADA = Principal(name="Ada", kind="hub", scopes=frozenset({"observe"}), secret="x")


class EchoApp:
    """Answers with the call as it came."""

    def __init__(self, body: bytes | None = None, status: int = 200) -> None:
        self._body, self._status = body, status
        self.scope: Scope = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        message: Message = await receive()
        call = {"path": scope["path"], "query": scope["query_string"].decode(), "body": message["body"].decode()}
        body = json.dumps(call).encode() if self._body is None else self._body
        await send({"type": "http.response.start", "status": self._status, "headers": []})
        await send({"type": "http.response.body", "body": body})


async def call(name: str, args: dict[str, Any]) -> Any:
    app = EchoApp()
    answer = await call_api(app, name, args, ADA)
    assert answer.ok
    return json.loads(answer.body)


async def test_arguments_go_where_rest_has_them() -> None:
    assert await call("get_session", {"session_id": "s1"}) == {"path": "/api/v1/sessions/s1", "query": "", "body": ""}
    feed = await call("get_feed", {"limit": 5, "kind": ["a", "b"], "q": None})
    assert feed["query"] == "limit=5&kind=a&kind=b"
    decide = await call("decide", {"request_id": "r1", "decision": "deny", "digest": "d", "message": "no"})
    assert decide["path"] == "/api/v1/requests/r1/decision"
    assert json.loads(decide["body"]) == {"decision": "deny", "digest": "d", "message": "no"}


async def test_an_id_cannot_leave_its_place_in_the_path() -> None:
    assert (await call("get_session", {"session_id": "../tokens?x"}))["path"] == "/api/v1/sessions/..%2Ftokens%3Fx"


async def test_the_caller_is_the_person_and_no_process() -> None:
    app = EchoApp()
    await call_api(app, "list_sessions", {}, ADA)
    assert app.scope["qd_principal"] is ADA
    assert app.scope["client"] is None


async def test_an_error_and_a_text_are_answers() -> None:
    assert not (await call_api(EchoApp(b'{"error":{}}', 404), "list_sessions", {}, ADA)).ok
    assert (await call_api(EchoApp(b"a 1\n"), "get_metrics", {}, ADA)).body == b'"a 1\\n"'
    assert (await call_api(EchoApp(b"", 204), "list_sessions", {}, ADA)).body == b"null"
