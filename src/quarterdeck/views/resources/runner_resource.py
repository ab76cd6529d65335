"""The machine of each resource: every one names it."""

from __future__ import annotations

from msgspec import Struct


class Resource(Struct, kw_only=True):
    """A resource of one machine. The endpoint sets `runner_id`, so that no view has to be given it."""

    runner_id: str = ""
