"""The daemon itself as every surface sees it."""

from __future__ import annotations

from quarterdeck.views.health import HealthCheck
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.daemon_view import FindingView, SettingView
from tests.support.views import as_json


def test_a_finding_has_its_level() -> None:
    checks = [HealthCheck("disk", False, "it is full", "delete something"), HealthCheck("a", True, "b", "c")]
    assert [struct_of(FindingView, check).level for check in checks] == ["problem", "advice"]


def test_a_setting_names_where_it_comes_from() -> None:
    view = SettingView(key="port", value=4180, source="file", origin="config.yaml", line=3)
    assert as_json(view)["from"] == "config.yaml"
    assert "origin" not in as_json(view)
