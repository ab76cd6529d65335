"""Endpoints of the hub: like those of a daemon, with the machine that `runner_id` names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from litestar import Response

from quarterdeck.api.http.endpoint import RUNNER, ApiEndpoint
from quarterdeck.hub.hub_backend import HubBackend


class HubEndpoint(ApiEndpoint):
    """An operation that the hub carries out itself. A function that needs `runner` gets the machine that is named, or
    None for all."""

    async def serve(
        self, backend: HubBackend, given: Mapping[str, Any], runner_id: str | None, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer a call of REST."""
        machine = backend.machine_or_all(runner_id)
        return await self.call(backend, {**given, "runner": machine}, arguments)

    async def command(self, backend: HubBackend, given: Mapping[str, Any], arguments: Any) -> Any:
        """Carry out a command of the WebSocket."""
        machine = backend.machine_or_all(getattr(arguments, RUNNER, None))
        result = await self.call(backend, {**given, "runner": machine}, self.values(arguments))
        return result.content if isinstance(result, Response) else result


def hub_endpoint(name: str, **options: Any) -> Callable[[Callable[..., Awaitable[Any]]], HubEndpoint]:
    """Make a function the endpoint of an operation at the hub."""
    return lambda run: HubEndpoint(name, run, options)
