"""The rows that an export takes, and tables that no spreadsheet runs."""

from __future__ import annotations

from quarterdeck.cli.output.export_formats import ExportFilter, csv_lines
from quarterdeck.store.dump import StoredRow
from quarterdeck.wire import write_json
from tests.support.scene import Scene


def rows() -> list[StoredRow]:
    scene = Scene().receives("SessionStart", source="startup").receives("Stop")
    scene.receives("SessionStart", session="s2", source="startup", cwd="/w/other").receives(
        "Stop", session="s2", cwd="/w/other"
    )
    return [StoredRow(e.seq_no, write_json(e), b"") for e in scene.events]


def sessions_of(export: ExportFilter) -> set[bytes]:
    return {b"s2" if b'"session_id":"s2"' in (row.body or b"") else b"s1" for row in export.of(rows())}


def test_a_project_is_chosen_by_its_name_or_its_folder() -> None:
    assert sessions_of(ExportFilter(project="other")) == {b"s2"}
    assert sessions_of(ExportFilter(project="/w/app")) == {b"s1"}
    assert sessions_of(ExportFilter(project="nothing")) == set()
    assert sessions_of(ExportFilter()) == {b"s1", b"s2"}


def test_times_bound_an_export_and_a_damaged_row_passes() -> None:
    late = list(ExportFilter(since=1003.0).of(rows()))
    early = list(ExportFilter(until=1002.5).of(rows()))
    assert len(late) + len(early) == len(rows())
    assert late
    assert early
    assert list(ExportFilter(since=9e9).of([StoredRow(1, b"{", b""), StoredRow(2, None, b"")])) != []


def test_no_cell_is_a_formula() -> None:
    assert list(csv_lines(("a",), [("=1+1",), (5,)])) == ['"a"\n', '"\'=1+1"\n', '"5"\n']
