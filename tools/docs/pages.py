"""Pages with generated blocks: the prose is written by hand, what stands between two markers is made from the code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.docs.commands import command_sections, command_table
from tools.docs.confusion import risk_table, rule_table
from tools.docs.events import event_table, hook_table
from tools.docs.keys import key_tables, plain_table, text_command_table
from tools.docs.operations import operation_table
from tools.docs.settings import setting_tables
from tools.docs.tree import tree_block

DOCS = Path(__file__).parents[2] / "docs"

PAGES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "api.md": {"operations": operation_table},
    "architecture.md": {"tree": tree_block},
    "cli.md": {"commands": command_table, "options": command_sections},
    "feed.md": {"events": event_table},
    "hooks.md": {"hooks": hook_table},
    "risk.md": {"confusion": risk_table},
    "rules.md": {"confusion": rule_table},
    "settings.md": {"settings": setting_tables},
    "tui.md": {"keys": key_tables, "commands": text_command_table, "plain": plain_table},
}
"""Each page, and what makes each of its blocks."""


def page_text(name: str) -> str:
    """The page as it should be: its own prose, and every block made again."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for block, make in PAGES[name].items():
        text = with_block(text, block, make())
    return text


def with_block(text: str, block: str, body: str) -> str:
    """The text with this body between the two markers of a block."""
    start, end = f"<!-- {block}: written by `make docs` -->", f"<!-- end of {block} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"put one pair of markers on the page: {start} and {end}")
    return pattern.sub(lambda _: f"{start}\n\n{body.strip()}\n\n{end}", text)
