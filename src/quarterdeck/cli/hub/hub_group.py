"""The group `qd hub`."""

from __future__ import annotations

from quarterdeck.cli.common import group

app = group("Many machines on one desk.")
hub = group("Join a hub, or run one: many machines on one desk.", name="hub")
app.add_typer(hub)
