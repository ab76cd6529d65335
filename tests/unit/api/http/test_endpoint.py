"""Endpoints: one function for a REST route and a command."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from litestar import Litestar, Response
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from litestar.testing import TestClient
from msgspec import Struct

from quarterdeck.api.http.endpoint import endpoint, endpoints_in
from quarterdeck.api.http.principal import Caller


class Wish(Struct, kw_only=True, forbid_unknown_fields=True):
    mode: str = "sdk"


class Parts(Struct):
    """A backend with one part."""

    sessions: str = "the sessions"
    runner_id: str = "otter"


@endpoint("fork_session")
async def fork(sessions: str, caller: Caller, *, session_id: FromPath[str], data: JSONBody[Wish | None] = None) -> Any:
    """Say what came in."""
    return Response([sessions, caller.name, session_id, (data or Wish()).mode])


def called(path: str, **body: Any) -> tuple[int, Any]:
    app = Litestar(
        [fork.route()], state=State({"backend": Parts(), "credentials": None, "rate_limit": None, "clients": None})
    )
    with TestClient(app) as client:
        answer = client.post(path, headers={"X-Quarterdeck-Client": "cli"}, **body)
        return answer.status_code, answer.json()


def test_a_route_passes_on_the_parts_of_the_backend_the_caller_and_what_the_client_sends() -> None:
    assert called("/sessions/s1/fork", json={"mode": "pty"}) == (202, ["the sessions", " via cli", "s1", "pty"])
    assert called("/sessions/s1/fork") == (202, ["the sessions", " via cli", "s1", "sdk"])


def test_a_route_has_the_scope_and_title_of_its_operation() -> None:
    route = fork.route()
    assert (route.opt["scope"], route.summary, route.fn.__doc__) == ("control", "Fork a session", "Say what came in.")


async def test_a_command_calls_the_same_function_with_all_arguments_in_one() -> None:
    caller: Any = type("Owner", (), {"name": "owner"})
    read = fork.read_arguments({"session_id": "s1", "mode": "tmux"})
    assert await fork.command(Parts(), {"caller": caller}, read) == ["the sessions", "owner", "s1", "tmux"]


def test_the_endpoints_of_a_module_are_found_by_the_names_of_their_operations() -> None:
    module = ModuleType("routes")
    module.__dict__.update(fork=fork, other=1)
    assert endpoints_in(module) == {"fork_session": fork}


def test_an_endpoint_of_no_operation_is_refused() -> None:
    with pytest.raises(KeyError):
        endpoint("dance")(fork)  # type: ignore[arg-type]
