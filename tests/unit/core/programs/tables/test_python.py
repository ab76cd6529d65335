"""Python's tools by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_pytest_covers_what_it_is_for() -> None:
    assert covers_all(
        "pytest:*", "pytest -q", "pytest --co", "pytest -p no:x tests/a.py::b", "pytest --cov=src --cov-report=term"
    )
    assert covers_none(
        "pytest:*",
        "pytest -p x",
        "pytest -W error::x.Y",
        "pytest @x",
        "pytest /x",
        "pytest ../x",
        "pytest --basetemp=src",
    )


def test_python_m_pytest_covers_what_it_is_for() -> None:
    assert covers_all("python -m pytest:*", "python -m pytest -x")
    assert covers_none("python -m pytest:*", "python -m pytest -px")


def test_pip_install_r_requirements_txt_covers_what_it_is_for() -> None:
    assert covers_all("pip install -r requirements.txt:*", "pip install -r requirements.txt -q")
    assert covers_none("pip install -r requirements.txt:*", "pip install -r requirements.txt x")


def test_uv_run_covers_what_it_is_for() -> None:
    assert covers_all("uv run:*", "uv run pytest -q")
    assert covers_none("uv run:*", "uv run ./x", "uv run curl http://x", "uv run pytest -p x")
