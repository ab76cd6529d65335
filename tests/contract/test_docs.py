"""The documents say what is so: generated blocks are current, and tables, links and commands are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from quarterdeck.api.app import create_api
from quarterdeck.cli.app import GROUPS, cli_for
from quarterdeck.cli.quick.command_index import FILE as INDEX
from quarterdeck.cli.quick.command_index import read_index
from quarterdeck.config.settings import KEYS
from tests.conftest import known_laws
from tests.support import tree
from tools.docs.command_index import commands_json
from tools.docs.man_page import MAN, man_page
from tools.docs.pages import DOCS, PAGES, page_text, with_block

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROSE = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *DOCS.rglob("*.md")]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_generated_blocks_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text() == page_text(name), "run: make docs"


def test_the_index_of_the_commands_is_up_to_date() -> None:
    assert INDEX.read_text() == commands_json(), "run: make docs"


def test_the_manual_page_is_up_to_date_and_describes_every_command() -> None:
    page = MAN.read_text()
    assert page == man_page(), "run: make docs"
    for path in read_index().commands:
        assert f".SS qd {path} ".replace("-", "\\-") in page.replace("\n", " \n"), path


def test_a_block_is_written_again_without_a_change() -> None:
    page = "a\n\n<!-- keys: written by `make docs` -->\n<!-- end of keys -->\n\nb\n"
    once = with_block(page, "keys", "| x |\n")
    assert "| x |" in once
    assert with_block(once, "keys", "| x |\n") == once


def test_a_page_without_its_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="put one pair of markers"):
        with_block("a page", "keys", "a table")


def test_the_page_of_commands_names_every_command_and_no_other() -> None:
    group = typer.main.get_command(cli_for(["--help"]))
    page = (DOCS / "cli.md").read_text()
    assert set(re.findall(r"^### qd ([a-z-]+)$", page, re.MULTILINE)) == set(getattr(group, "commands"))  # noqa: B009


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_a_page_names_only_commands_that_exist(path: Path) -> None:
    commands = {name for names in GROUPS.values() for name in names} | {"hook"}
    text = path.read_text().partition("<!-- commands: written by `make docs` -->")[0]
    assert set(re.findall(r"(?:`|^|\$ )qd ([a-z][a-z-]+)", text, re.MULTILINE)) <= commands


@pytest.mark.parametrize("module", GROUPS)
def test_a_command_is_found_in_its_own_group(module: str) -> None:
    for name in GROUPS[module]:
        group = typer.main.get_command(cli_for([name]))
        assert set(getattr(group, "commands")) == set(GROUPS[module])  # noqa: B009


def test_the_page_of_settings_names_every_setting_once() -> None:
    page = (DOCS / "settings.md").read_text()
    assert re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", page, re.MULTILINE) == list(KEYS)


def test_the_api_page_names_every_route() -> None:
    app = create_api(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None))
    page = (DOCS / "api.md").read_text()
    for route in [route for route in app.routes if not route.path.startswith("/api/v1/schema")]:
        path = re.sub(r"\{(\w+?)(:\w+)?\}", "{id}", route.path)
        assert path.removeprefix("/api/v1") in page, path


def test_links_between_documents_lead_somewhere() -> None:
    for page in PROSE:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text()):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _anchors(linked), f"{page.name}: {target}#{anchor}"


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_modules_that_a_page_names_exist(path: Path) -> None:
    places = (ROOT, ROOT / "src" / "quarterdeck")
    for module in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", path.read_text()):
        assert any((place / module).exists() for place in places), module


def _anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_a_page_is_written_in_plain_words(path: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]+`", "", path.read_text(), flags=re.DOTALL)
    assert list(tree.banned_prose({path.name: prose})) == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 120


def test_no_lock_file_names_an_address() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert "://" not in lock.read_text()
        assert "--hash=sha256:" in lock.read_text()


def test_the_laws_are_all_found() -> None:
    laws = known_laws()
    assert len(laws) == len(set(laws))
    assert {law[0]: sum(1 for other in laws if other[0] == law[0]) for law in laws} == {
        "D": 19,
        "E": 15,
        "H": 16,
        "A": 15,
        "I": 10,
        "R": 8,
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
    """The command itself, if it is a group, and every group below it."""
    below = [group for one in getattr(command, "commands", {}).values() for group in _groups(one)]
    return [command, *below] if hasattr(command, "commands") else []
