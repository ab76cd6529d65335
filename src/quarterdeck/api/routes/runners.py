"""`GET /runners`: the machines that are served, on a daemon only its own."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.api.backend import RunnerBackend, RunnerEntry
from quarterdeck.api.http.endpoint import endpoint


class RunnerList(Struct, kw_only=True):
    runners: list[RunnerEntry]
    next: int | None = None


@endpoint("list_runners")
async def list_runners(runners: RunnerBackend) -> RunnerList:
    """List the machines, each with its name and whether it can be reached."""
    return RunnerList(runners=runners.all())
