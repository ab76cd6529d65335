"""Every command of `qd hub`, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quarterdeck.cli.common import command
from quarterdeck.cli.hub import hub_machines, hub_server, membership, outgoing_preview
from quarterdeck.cli.hub.hub_group import app, hub

__all__ = ["app"]

COMMANDS: tuple[Callable[..., Any], ...] = (
    *(membership.join, membership.status, outgoing_preview.preview, membership.leave),
    *(hub_server.serve, hub_machines.enroll, hub_machines.runners, hub_machines.expel),
)
for function in COMMANDS:
    command(hub)(function)
