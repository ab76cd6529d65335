from __future__ import annotations

import pytest

from quarterdeck.core.programs.grammar import NAMED, OUTSIDE, PROGRAM, SECRET, WRITE
from quarterdeck.core.programs.project_paths import is_inside, passed_on, report, run, written


@pytest.mark.parametrize("path", ["a", "./a", "a/b.txt", "/p/a", "a/*"])
def test_a_path_in_the_project(path: str) -> None:
    assert is_inside(path, "/p")
    assert written(path, "/p") == WRITE
    assert run(path, "/p") == 0


@pytest.mark.parametrize("path", ["/x", "~/x", "../x", "a/../../x", "/px", "$x", "h:x", "a/.*", ""])
def test_a_path_elsewhere(path: str) -> None:
    assert not is_inside(path, "/p")
    assert written(path, "/p") == OUTSIDE
    assert run(path, "/p") == PROGRAM


@pytest.mark.parametrize("path", [".git/hooks/x", "a/.env", ".bashrc"])
def test_a_hidden_file_is_never_an_output(path: str) -> None:
    assert written(path, "/p") == OUTSIDE


def test_nothing_is_certain_where_the_line_changes_its_folder() -> None:
    assert written("a", None) == OUTSIDE
    assert run("a", None) == PROGRAM
    assert written("/dev/null", None) == 0


@pytest.mark.parametrize(
    "path", ["build/x.xml", "reports/junit.xml", "coverage.out", "junit.xml", "plan.tfplan", "a/results.json"]
)
def test_a_report_in_a_usual_place_overwrites_nothing(path: str) -> None:
    assert report(path, "/p") == 0


@pytest.mark.parametrize("path", ["src/app.py", "package.json", "conftest.py", "requirements.txt", "Makefile"])
def test_a_report_over_a_source_does(path: str) -> None:
    assert report(path, "/p") == WRITE | NAMED


def test_a_report_elsewhere_is_an_output_elsewhere() -> None:
    assert report("/x/build/junit.xml", "/p") == report("build/.x/junit.xml", "/p") == OUTSIDE | NAMED


def test_the_text_of_a_hidden_file_is_not_passed_on() -> None:
    assert passed_on("notes.md", "/p") == passed_on("-", "/p") == 0
    assert passed_on(".env", "/p") == passed_on("/etc/passwd", "/p") == SECRET
