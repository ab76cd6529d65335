"""Commands and queries: granted, current, at most once, and answered without what is not shared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.api.http.asgi import Receive, Scope, Send
from quarterdeck.daemon.link.command_ledger import CommandLedger
from quarterdeck.daemon.link.in_process_call import ApiAnswer
from quarterdeck.daemon.link.remote_calls import RemoteCalls
from quarterdeck.link.messages import RemoteCommand, RemoteQuery
from tests.support.share_policies import policy


class CountingApp:
    """Counts its calls, and answers when it may."""

    def __init__(self) -> None:
        self.callers: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.callers.append(scope["qd_principal"].name)
        await self.may_answer.wait()
        body = {"call": len(self.callers), "tool_input": {"command": "PASSWORD=hunter2-x"}}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def no_typing(name: str, args: Any) -> ApiAnswer:
    return ApiAnswer(409, b"null")


class Setting:
    """Calls with an app and a ledger."""

    def __init__(self, path: Path, thread: ThreadPoolExecutor) -> None:
        self.app, self.ledger = CountingApp(), CommandLedger(path / "link.db")
        self.calls = RemoteCalls(self.app, self.ledger, ["observe", "approve"], policy, thread, no_typing)

    async def command(self, session: str = "open", **more: Any) -> Any:
        given = {"id": "c1", "expires_at": 10.0, "epoch": 1, "actor": "Ada", "scope": "observe approve", **more}
        args = {"request_id": f"of-{session}", "decision": more.pop("decision", "deny"), "digest": "d"}
        given.pop("decision", None)
        result = await self.calls.command(RemoteCommand(name="decide", args=args, **given), epoch=1, hub_time=5.0)
        return result.status, json.loads(bytes(result.body))

    async def query(self, name: str, deadline: float = 5.0, **args: Any) -> Any:
        query = RemoteQuery(id="q", name=name, actor="Ada", scope="observe", args=args, deadline=deadline)
        result = await self.calls.query(query)
        return result.status, json.loads(bytes(result.body))


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
async def setting(tmp_path: Path, thread: ThreadPoolExecutor) -> Setting:
    return Setting(tmp_path, thread)


@pytest.mark.law("H8")
async def test_a_command_that_comes_twice_runs_once(setting: Setting) -> None:
    setting.app.may_answer.clear()
    both = asyncio.gather(setting.command(), setting.command())
    while not setting.app.callers:
        await asyncio.sleep(0)
    setting.app.may_answer.set()
    first, second = await both
    assert first == second == await setting.command(epoch=99, expires_at=0.0)
    assert setting.app.callers == ["Ada through the hub"]


@pytest.mark.law("H8")
async def test_a_command_that_was_interrupted_is_not_run_again(setting: Setting) -> None:
    setting.ledger.begin("c1", 1.0)
    status, body = await setting.command()
    assert (status, body["error"]["kind"]) == (500, "interrupted")
    assert setting.app.callers == []


@pytest.mark.law("H9")
@pytest.mark.parametrize(("more", "kind"), [({"epoch": 2}, "fenced"), ({"expires_at": 5.0}, "expired")])
async def test_a_fenced_or_late_command_is_refused(setting: Setting, more: dict[str, Any], kind: str) -> None:
    status, body = await setting.command(**more)
    assert (status, body["error"]["kind"]) == (409, kind)
    assert (await setting.command())[0] == 200


@pytest.mark.law("H10")
async def test_both_sides_must_grant(setting: Setting) -> None:
    assert (await setting.command(scope="observe"))[1]["error"]["kind"] == "forbidden"
    assert (await setting.query("get_screen", session_id="open"))[1]["error"]["kind"] == "not_granted"
    assert (await setting.query("list_tokens"))[1]["error"]["kind"] == "not_granted"
    assert setting.app.callers == []


async def test_answers_have_no_secrets_and_no_more_than_their_level(setting: Setting) -> None:
    named = "get_request"
    assert (await setting.query(named, request_id="of-open"))[1]["tool_input"] == {"command": "PASSWORD=⟨redacted⟩"}
    assert (await setting.query(named, request_id="of-titles"))[1]["tool_input"] == {}
    assert (await setting.query(named, request_id="of-closed"))[1]["error"]["kind"] == "not_shared"
    assert (await setting.query("list_requests"))[1]["error"]["kind"] == "not_shared"


async def test_an_allow_needs_that_its_request_can_be_seen(setting: Setting) -> None:
    assert (await setting.command("titles", id="c2", decision="allow"))[1]["error"]["kind"] == "not_shared"
    assert (await setting.command("titles", id="c3", decision="deny"))[0] == 200


async def test_a_query_has_a_deadline(setting: Setting) -> None:
    setting.app.may_answer.clear()
    status, body = await setting.query("get_session", deadline=0.0, session_id="open")
    assert (status, body["error"]["kind"]) == (503, "too_slow")
