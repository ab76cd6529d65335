"""The audit as every surface sees it."""

from __future__ import annotations

from quarterdeck.core.model.decisions import Allow
from quarterdeck.core.text.audit.audit_row import audit_row
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.audit_view import AuditView
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back


def test_an_entry_shows_every_field_of_its_row() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("make"))
    scene.decides("r1", Allow(), by="ann via tui")
    [event] = [event for event in scene.events if event.kind == "permission.decision"]
    row = audit_row(event, b"\x01" * 32)
    view = struct_of(AuditView, row, agent="claude")
    assert (view.who, view.surface, view.source) == ("ann", "tui", "user")
    assert set(AuditView.__struct_fields__) == {*row.__struct_fields__, "agent", "runner_id"}
    assert is_read_back(view)
