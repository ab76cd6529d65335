"""Requests for surfaces: waiting ones from the state, the others from the store."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from quarterdeck.core.model.state import Request, State
from quarterdeck.daemon.backend.requests import DaemonRequests


def request(seq_no: int, status: str = "pending") -> Request:
    return Request(
        request_id=f"h-{seq_no}",
        kind="permission",
        session_id="s1",
        run_id="s1:R1",
        event_id=f"s1:R1:E{seq_no}",
        seq_no=seq_no,
        hook_name="PermissionRequest",
        tool_name="Bash",
        tool_input={},
        digest="d",
        opened_at=1.0,
        held=True,
        waiter="h-1",
        status=status,
    )


class Store:
    """A store that keeps what it is asked for."""

    def __init__(self) -> None:
        self.statuses: list[tuple[str, ...]] = []

    def requests(self, statuses: tuple[str, ...], *, after: int, limit: int) -> list[Request]:
        self.statuses.append(statuses)
        return []

    def request(self, request_id: str) -> Request | None:
        return None


def backend(store: Store, *live: Request) -> DaemonRequests:
    state = replace(State(runner_id="otter"), requests={one.request_id: one for one in live})
    loop: Any = type("StillLoop", (), {"state": state})
    return DaemonRequests(loop, cast(Any, store), cast(Any, None))


async def test_waiting_requests_come_from_the_state_oldest_first_and_page_by_page() -> None:
    requests = backend(Store(), request(3), request(1), request(2, "decided"), request(4))
    assert [one.seq_no for one in requests.pending()] == [1, 3, 4]
    assert [one.seq_no for one in await requests.page("pending", 1, 1)] == [3]


@pytest.mark.parametrize(
    ("status", "statuses"),
    [
        (None, ("pending", "decided", "withdrawn", "expired")),
        ("decided", ("decided", "withdrawn", "expired")),
        ("expired", ("expired",)),
    ],
)
async def test_other_requests_come_from_the_store(status: str | None, statuses: tuple[str, ...]) -> None:
    store = Store()
    assert await backend(store).page(status, 0, 10) == []
    assert store.statuses == [statuses]


async def test_a_request_that_left_the_state_is_looked_up_in_the_store() -> None:
    requests = backend(Store(), request(1))
    assert [await requests.get("h-1"), await requests.get("h-9")] == [request(1), None]
