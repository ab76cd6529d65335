"""Every command of `qd hub`: importing this module adds them to the group."""

from __future__ import annotations

from quarterdeck.cli.hub import hub_machines, hub_server, membership, outgoing_preview
from quarterdeck.cli.hub.hub_group import app

__all__ = ["app", "hub_machines", "hub_server", "membership", "outgoing_preview"]
