"""The documents say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from quarterdeck.api.app import create_api
from quarterdeck.cli.app import GROUPS, cli_for
from quarterdeck.config import Config
from tests.conftest import known_laws
from tests.support.docs import DOCS, PAGES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_made_from_tables_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run: make docs"


def test_the_readme_names_every_command_and_no_other() -> None:
    group = typer.main.get_command(cli_for(["--help"]))
    table = README.partition("## Commands")[2].partition("## Settings")[0]
    assert set(re.findall(r"`qd ([a-z-]+)", table)) == set(getattr(group, "commands"))  # noqa: B009


@pytest.mark.parametrize("module", GROUPS)
def test_a_command_is_found_in_its_own_group(module: str) -> None:
    for name in GROUPS[module]:
        group = typer.main.get_command(cli_for([name]))
        assert set(getattr(group, "commands")) == set(GROUPS[module])  # noqa: B009


def test_the_readme_names_every_setting_and_its_default() -> None:
    table = README.partition("## Settings")[2].partition("## Removing it")[0]
    keys = {
        f"{section}.{key}"
        for section, field in Config.model_fields.items()
        for key in getattr(field.annotation, "model_fields", {})
    }
    assert set(re.findall(r"`([a-z]+\.[a-z_]+)`", table)) == keys | {"config.yaml"}


def test_the_api_page_names_every_route() -> None:
    app = create_api(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None))
    page = (DOCS / "api.md").read_text()
    for route in [route for route in app.routes if not route.path.startswith("/api/v1/schema")]:
        path = re.sub(r"\{(\w+?)(:\w+)?\}", "{id}", route.path)
        assert path.removeprefix("/api/v1") in page, path


def test_links_between_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_lock_file_names_an_address() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert "://" not in lock.read_text()
        assert "--hash=sha256:" in lock.read_text()


def test_the_laws_are_all_found() -> None:
    laws = known_laws()
    assert len(laws) == len(set(laws))
    assert {law[0]: sum(1 for other in laws if other[0] == law[0]) for law in laws} == {
        "D": 18,
        "E": 14,
        "H": 16,
        "A": 15,
        "I": 10,
        "R": 7,
        "S": 11,
    }


def test_the_readme_shows_the_two_commands() -> None:
    assert "make run" in README
    assert "make test" in README


def test_no_summary_of_a_command_is_cut_at_eighty_columns() -> None:
    for group in _groups(typer.main.get_command(cli_for(["--help"]))):
        room = 80 - 6 - max(map(len, group.commands))
        cut = [name for name, command in group.commands.items() if command.get_short_help_str(room).endswith("...")]
        assert cut == [], group.name


def _groups(command: Any) -> list[Any]:
    """It and every group below it."""
    below = [group for one in getattr(command, "commands", {}).values() for group in _groups(one)]
    return [command, *below] if hasattr(command, "commands") else []
