"""The text above the question whether to trust a folder; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.surfaces.text.project_config_text import config_lines

Json = dict[str, Any]
STYLES = {"head": "strong", "trouble": "warn", "words": "dim"}


def trust_lines(config: Json) -> Iterator[StyledLine]:
    """The project config of a folder, and what trusting it means."""
    yield line((config["path"], "strong"), (" is not trusted yet. Sessions in it would load:", ""))
    for part, text in config_lines(config):
        mark = {"item": "  · ", "trouble": "! "}.get(part, "")
        yield line((f"{mark}{text}", STYLES.get(part, "")), hang=4)
    yield line(("Once you trust it, you can start sessions in it, and its own rules take effect.", "dim"))
